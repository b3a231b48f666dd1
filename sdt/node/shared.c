/*
 * Providers that threads share; see shared.h.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sdt/node/shared.h"

struct probe {
	dtrap_probe *probe;
	char *name;
	unsigned nargs;
	enum dtrap_arg types[DTRAP_PROBE_ARGS];
};

/* A provider of the library.  Before the first load one thread alone knows it. */
struct object {
	dtrap_provider *native;
	char *name;
	struct probe *probes;
	unsigned nprobes;
	unsigned users; /* providers that point to it */
	unsigned loads; /* those that have loaded it */
	struct object *next;
};

struct provider {
	struct object *object;
	bool shared; /* the object is in the list */
	bool loaded;
};

/* Of all objects that were loaded once. */
static struct object *objects;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void
object_free(struct object *o)
{
	dtrap_provider_destroy(o->native);
	for (unsigned i = 0; i < o->nprobes; i++)
		free(o->probes[i].name);
	free(o->probes);
	free(o->name);
	free(o);
}

static bool
same(const struct object *a, const struct object *b)
{
	if (strcmp(a->name, b->name) != 0 || a->nprobes != b->nprobes)
		return false;
	for (unsigned i = 0; i < a->nprobes; i++) {
		const struct probe *p = &a->probes[i], *q = &b->probes[i];
		if (strcmp(p->name, q->name) != 0 || p->nargs != q->nargs ||
		    memcmp(p->types, q->types, sizeof(p->types)) != 0)
			return false;
	}
	return true;
}

int
provider_new(const char *name, struct provider **out)
{
	struct provider *p = calloc(1, sizeof(*p));
	struct object *o = calloc(1, sizeof(*o));
	int error = -ENOMEM;

	if (p != NULL && o != NULL && (o->name = strdup(name)) != NULL)
		error = dtrap_provider_create(name, &o->native);
	if (error == 0) {
		o->users = 1;
		p->object = o;
		*out = p;
		return 0;
	}
	if (o != NULL)
		object_free(o);
	free(p);
	return error;
}

int
provider_add(struct provider *p, const char *name, unsigned nargs,
    const enum dtrap_arg *types, unsigned *out)
{
	struct object *o = p->object;
	dtrap_probe *probe;

	if (p->shared)
		return -EBUSY;
	struct probe *probes =
	    realloc(o->probes, (o->nprobes + 1) * sizeof(*probes));
	if (probes == NULL)
		return -ENOMEM;
	o->probes = probes;
	int error =
	    dtrap_provider_probe(o->native, NULL, name, nargs, types, &probe);
	char *copy = error == 0 ? strdup(name) : NULL;
	if (copy == NULL)
		return error != 0 ? error : -ENOMEM;
	struct probe *added = &probes[o->nprobes];
	*added = (struct probe){ .probe = probe, .name = copy, .nargs = nargs };
	if (nargs > 0)
		memcpy(added->types, types, nargs * sizeof(*types));
	*out = o->nprobes++;
	return 0;
}

/* Put the object into the list, or take the one of another thread.  With the lock. */
static void
share(struct provider *p)
{
	struct object *o = objects;

	while (o != NULL && !same(o, p->object))
		o = o->next;
	if (o != NULL) {
		object_free(p->object);
		p->object = o;
		o->users++;
	} else {
		p->object->next = objects;
		objects = p->object;
	}
	p->shared = true;
}

int
provider_load(struct provider *p)
{
	int error = 0;

	if (p->loaded)
		return -EBUSY;
	pthread_mutex_lock(&lock);
	if (!p->shared)
		share(p);
	if (p->object->loads == 0)
		error = dtrap_provider_load(p->object->native);
	if (error == 0) {
		p->object->loads++;
		p->loaded = true;
	}
	pthread_mutex_unlock(&lock);
	return error;
}

void
provider_unload(struct provider *p)
{
	if (!p->loaded)
		return;
	pthread_mutex_lock(&lock);
	p->loaded = false;
	if (--p->object->loads == 0)
		dtrap_provider_unload(p->object->native);
	pthread_mutex_unlock(&lock);
}

void
provider_free(struct provider *p)
{
	struct object *o = p->object;

	provider_unload(p);
	pthread_mutex_lock(&lock);
	bool last = --o->users == 0;
	if (last && p->shared) {
		struct object **at = &objects;
		while (*at != o)
			at = &(*at)->next;
		*at = o->next;
	}
	pthread_mutex_unlock(&lock);
	if (last)
		object_free(o);
	free(p);
}

/* Who has not loaded it has no probe, whatever others have. */
dtrap_probe *
provider_probe(const struct provider *p, unsigned number)
{
	return p->loaded ? p->object->probes[number].probe : NULL;
}
