/*
 * Structures that stringof() and copyin() take; see view.h.
 */
#include "dlang/cc/view.h"

#include "dlang/base/base.h"

/* The names that compilers give to the members. */
static const struct {
	const char *address, *length;
} names[] = {
	{ "str", "len" },         /* Go's string */
	{ "array", "len" },       /* Go's slices */
	{ "__data", "__length" }, /* the same, of GCC's compiler of Go */
	{ "__values", "__count" },
	{ "data_ptr", "length" }, /* Rust's &str, &[T] */
};

bool
view_of(const struct type *type, struct view *out)
{
	struct type *t = type_resolve((struct type *)(uintptr_t)type);

	if (t == NULL || t->kind != TYPE_STRUCT)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		*out = (struct view){ 0 };
		const struct type_member *a = type_member(t, names[i].address,
					     &out->address),
					 *n = type_member(
					     t, names[i].length, &out->length);
		if (a == NULL || n == NULL)
			continue;
		const struct type *at = type_resolve(a->type),
				  *len = type_resolve(n->type);
		if (at == NULL || at->kind != TYPE_POINTER || len == NULL ||
		    len->kind != TYPE_INT || len->size != 8)
			continue;
		out->unit = type_resolve(at->base)->size;
		return true;
	}
	return false;
}

bool
view_is_text(const struct type *t)
{
	struct view v;

	return view_of(t, &v) && v.unit == 1;
}
