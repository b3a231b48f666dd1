/*
 * Functions; see function.h.
 */
#include "tracer/sites/function.h"

#include "symbols/object.h"
#include "tracer/names/bodies.h"

const char *
function_range(
    struct state *st, struct object *o, uint64_t addr, struct body_range *out)
{
	const struct sym *s = object_code_at(o, addr);
	const struct fde *f = object_fde_at(o, addr);
	uint64_t start;

	if (s == NULL || s->size == 0 || (f != NULL && f->signal))
		return "its code is not known";
	if (object_is_piece(o, s->name) || object_is_unnamed(s)) {
		if (bodies_owner(st, o, addr, &start) != 0 ||
		    (s = object_code_at(o, start)) == NULL ||
		    object_is_piece(o, s->name))
			return "it is in a part of an unknown function";
	}
	*out = (struct body_range){ s->addr, s->addr + s->size };
	return NULL;
}
