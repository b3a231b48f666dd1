/*
 * Parts; see part.h.  There are a few of them at most: a list is looked through
 * as fast as anything else.
 */
#include "tracer/base/part.h"

#include <string.h>

void *
part_had(const struct parts *ps, const struct part *part)
{
	vec_foreach(p, &ps->list)
		if (p->part == part)
			return p->at;
	return NULL;
}

void *
part_of(struct parts *ps, const struct part *part)
{
	void *at = part_had(ps, part);

	if (at != NULL)
		return at;
	at = mem_zalloc(part->size);
	typeof(ps->list.at) p = vec_push(&ps->list);
	p->part = part;
	p->at = at;
	return at;
}

void
parts_inherit(struct parts *ps, const struct parts *from)
{
	vec_foreach(p, &from->list)
		if (p->part->inherited)
			memcpy(part_of(ps, p->part), p->at, p->part->size);
}

void
parts_end(struct parts *ps)
{
	vec_foreach(p, &ps->list) {
		if (p->part->end != NULL)
			p->part->end(p->at);
		mem_free(p->at);
	}
	vec_fini(&ps->list);
}
