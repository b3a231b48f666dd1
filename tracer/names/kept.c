/*
 * Parts of objects; see kept.h.
 */
#include "tracer/names/kept.h"

#include "dlang/base/hash.h"
#include "symbols/object.h"
#include "tracer/base/state.h"

struct kept {
	struct object *object; /* held */
	struct parts parts;
};

struct all_kept {
	struct hash objects; /* struct kept */
};

static void
all_end(void *part)
{
	struct all_kept *all = part;

	hash_foreach(e, &all->objects) {
		struct kept *k = e->value;
		parts_end(&k->parts);
		object_put(k->object);
		mem_free(k);
	}
	hash_fini(&all->objects);
}

static const struct part kept_part = { .size = sizeof(struct all_kept),
	.end = all_end };

struct parts *
object_parts(struct state *st, struct object *o)
{
	struct all_kept *all = part_of(&st->parts, &kept_part);
	struct kept *k = hash_get(&all->objects, (uintptr_t)o);

	if (k == NULL) {
		k = mem_zalloc(sizeof(*k));
		k->object = object_get(o);
		hash_set(&all->objects, (uintptr_t)o, k);
	}
	return &k->parts;
}
