/*
 * Providers that a program makes; see dtrap-provider.h.
 *
 * A probe has two pointers into the object: to its semaphore and to its code.
 * Without the object the first leads to a counter that is always 0, and the second
 * is NULL.  A provider's lock is for those who change it; who fires takes none.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sdt/image.h"
#include "sdt/mapping.h"
#include "sdt/probes.h"

struct dtrap_provider {
	pthread_mutex_t lock;
	struct probes probes;
	struct mapping mapping;
	char name[DTRAP_NAME_MOST + 1];
};

static const volatile unsigned short never;

/* ---- names ---- */

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_name(const char *s)
{
	size_t n = s != NULL ? strlen(s) : 0;

	if (n == 0 || n > DTRAP_NAME_MOST || !is_letter(*s))
		return false;
	while (is_letter(*s) || is_digit(*s) || *s == '_')
		s++;
	return *s == '\0';
}

static bool
is_provider_name(const char *s)
{
	return is_name(s) && !is_digit(s[strlen(s) - 1]);
}

/* UTF-8 counts as printable. */
static bool
is_function_name(const char *s)
{
	size_t n = strlen(s);

	if (n == 0 || n > DTRAP_FUNC_MOST)
		return false;
	for (; *s != '\0'; s++)
		if ((unsigned char)*s <= ' ' || *s == 0x7f || *s == ':' ||
		    *s == '`')
			return false;
	return true;
}

/* ---- probes ---- */

static void
probe_free(struct probe *p)
{
	if (p == NULL)
		return;
	free(p->function);
	free(p->name);
	free(p);
}

static struct probe *
probe_new(const char *function, const char *name, unsigned nargs,
    const enum dtrap_arg *types)
{
	struct probe *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->visible.semaphore = &never;
	p->function = strdup(function);
	p->name = strdup(name);
	p->nargs = nargs;
	if (nargs > 0)
		memcpy(p->types, types, nargs * sizeof(*types));
	if (p->function != NULL && p->name != NULL)
		return p;
	probe_free(p);
	return NULL;
}

static int
check_probe(const char *function, const char *name, unsigned nargs,
    const enum dtrap_arg *types)
{
	if (!is_name(name) || !is_function_name(function))
		return -EINVAL;
	if (nargs > DTRAP_PROBE_ARGS)
		return -E2BIG;
	if (nargs > 0 && types == NULL)
		return -EINVAL;
	for (unsigned i = 0; i < nargs; i++)
		if (type_of(types[i]) == NULL)
			return -EINVAL;
	return 0;
}

static bool
has_probe(const struct probes *all, const char *function, const char *name)
{
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->at[i]->name, name) == 0 &&
		    strcmp(all->at[i]->function, function) == 0)
			return true;
	return false;
}

static bool
make_room(struct probes *all)
{
	if (all->count < all->room)
		return true;
	size_t room = all->room == 0 ? 8 : all->room * 2;
	struct probe **at = realloc(all->at, room * sizeof(*at));
	if (at == NULL)
		return false;
	all->at = at;
	all->room = room;
	return true;
}

/* With the lock held. */
static int
add_probe(dtrap_provider *provider, const char *function, const char *name,
    unsigned nargs, const enum dtrap_arg *types, dtrap_probe **out)
{
	struct probes *all = &provider->probes;

	if (provider->mapping.handle != NULL)
		return -EBUSY;
	if (has_probe(all, function, name))
		return -EEXIST;
	struct probe *p =
	    make_room(all) ? probe_new(function, name, nargs, types) : NULL;
	if (p == NULL)
		return -ENOMEM;
	all->at[all->count++] = p;
	*out = &p->visible;
	return 0;
}

int
dtrap_provider_probe(dtrap_provider *provider, const char *function,
    const char *name, unsigned nargs, const enum dtrap_arg *types,
    dtrap_probe **out)
{
	if (out == NULL)
		return -EINVAL;
	*out = NULL;
	if (function == NULL)
		function = name;
	int error = provider == NULL || name == NULL ?
	    -EINVAL :
	    check_probe(function, name, nargs, types);
	if (error != 0)
		return error;
	pthread_mutex_lock(&provider->lock);
	error = add_probe(provider, function, name, nargs, types, out);
	pthread_mutex_unlock(&provider->lock);
	return error;
}

void
dtrap_probe_fire(dtrap_probe *probe, const uint64_t *args)
{
	struct probe *p = (struct probe *)probe;
	void (*code)(const uint64_t *) =
	    p != NULL ? __atomic_load_n(&p->code, __ATOMIC_RELAXED) : NULL;

	if (code != NULL)
		code(args);
}

/* ---- providers ---- */

int
dtrap_provider_create(const char *name, dtrap_provider **out)
{
	if (out == NULL)
		return -EINVAL;
	*out = NULL;
	if (!is_provider_name(name))
		return -EINVAL;
	dtrap_provider *p = calloc(1, sizeof(*p));
	if (p == NULL)
		return -ENOMEM;
	pthread_mutex_init(&p->lock, NULL);
	memcpy(p->name, name, strlen(name) + 1);
	p->probes.provider = p->name;
	p->mapping.fd = -1;
	*out = p;
	return 0;
}

/* The pointers of all probes, to the object at `base' or to nothing. */
static void
point(struct probes *all, const struct image *image, uintptr_t base)
{
	for (size_t i = 0; i < all->count; i++) {
		struct probe *p = all->at[i];
		uintptr_t code = 0;
		const volatile unsigned short *semaphore = &never;
		if (image != NULL) {
			code = base + image->text + i * image_code_bytes();
			semaphore = (const volatile unsigned short *)(base +
			    image->semaphores + i * IMAGE_SEMAPHORE);
		}
		__atomic_store_n(&p->code, (void (*)(const uint64_t *))code,
		    __ATOMIC_RELAXED);
		__atomic_store_n(
		    &p->visible.semaphore, semaphore, __ATOMIC_RELAXED);
	}
}

/* With the lock held. */
static int
load(dtrap_provider *p)
{
	struct image image;

	if (p->mapping.handle != NULL)
		return -EBUSY;
	int error = image_make(&p->probes, &image);
	if (error != 0)
		return error;
	error = mapping_load(
	    &p->mapping, p->name, image.bytes.at, image.bytes.len, image.text);
	if (error == 0)
		point(&p->probes, &image, p->mapping.base);
	image_fini(&image);
	return error;
}

int
dtrap_provider_load(dtrap_provider *provider)
{
	if (provider == NULL)
		return -EINVAL;
	pthread_mutex_lock(&provider->lock);
	int error = load(provider);
	pthread_mutex_unlock(&provider->lock);
	return error;
}

int
dtrap_provider_unload(dtrap_provider *provider)
{
	if (provider == NULL)
		return -EINVAL;
	pthread_mutex_lock(&provider->lock);
	point(&provider->probes, NULL, 0);
	mapping_unload(&provider->mapping);
	pthread_mutex_unlock(&provider->lock);
	return 0;
}

void
dtrap_provider_destroy(dtrap_provider *provider)
{
	if (provider == NULL)
		return;
	dtrap_provider_unload(provider);
	for (size_t i = 0; i < provider->probes.count; i++)
		probe_free(provider->probes.at[i]);
	free(provider->probes.at);
	pthread_mutex_destroy(&provider->lock);
	free(provider);
}

/* ---- errors ---- */

const char *
dtrap_provider_strerror(int error)
{
	static const struct {
		int error;
		const char *words;
	} rows[] = {
		{ 0, "no error" },
		{ EINVAL, "bad name or type, or no provider" },
		{ E2BIG, "too many arguments: a probe has at most 12" },
		{ EEXIST,
		    "the provider has a probe of this function and name" },
		{ EBUSY, "the provider is loaded: unload it first" },
		{ ENOMEM, "no memory" },
		{ EPERM,
		    "no executable mapping is allowed: neither a memfd, nor "
		    "a file in XDG_RUNTIME_DIR" },
		{ EMFILE, "the process has no descriptor left" },
		{ ENFILE, "the system has no descriptor left" },
		{ ENOSPC, "no space is left for the object" },
		{ ENOSYS, "no provider can be made on this machine" },
		{ ENOEXEC,
		    "the run-time linker refuses the object: dlerror() "
		    "says why" },
	};
	int code = error < 0 ? -error : error;

	if (code == EACCES)
		code = EPERM;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].error == code)
			return rows[i].words;
	return "unexpected error";
}
