/*
 * V8's built-in code by name, where V8 has mapped it again.
 *
 * The code is in the text of the object, where its symbols name it
 * (Builtins_ArrayMap).  V8 maps that part of the file once more near the code
 * that it compiles, so that calls between them are short, and runs it there.  An
 * address in it is one of the same place in the file:
 *
 *	file	------------ offset ---------------
 *	object	start ...... Builtins_ArrayMap ....
 *	again	             pc
 *
 * Facts: V8 10.2 and 11.3, src/heap/code-range.cc,
 * CodeRange::RemapEmbeddedBuiltins().
 */
#include <stdio.h>
#include <string.h>

#include "symbols/lang/v8_impl.h"
#include "symbols/maps.h"

/* The mapping of the object that holds this place of its file; NULL: there is
 * none. */
static const struct map *
mapped_at(const struct maps *maps, const struct load *l,
    const struct map *again, uint64_t offset)
{
	vec_foreach(m, &maps->list)
		if (m != again && m->inode == again->inode &&
		    m->dev == again->dev && m->start >= l->start &&
		    m->end <= l->end && offset >= m->offset &&
		    offset - m->offset < m->end - m->start)
			return m;
	return NULL;
}

/* The address in the object's file that is mapped at pc, too; 0: none. */
static uint64_t
object_addr(const struct v8 *v, struct lang_walk *w, uint64_t pc)
{
	const struct maps *maps = unwind_maps_of(w->unwinder, pc);
	const struct map *again = maps != NULL ? maps_at(maps, pc) : NULL;
	const struct map *first;

	if (again == NULL || again->inode == 0 || !again->exec)
		return 0;
	uint64_t offset = pc - again->start + again->offset;
	first = mapped_at(maps, v->load, again, offset);
	return first != NULL ?
	    first->start + (offset - first->offset) - v->load->bias :
	    0;
}

bool
v8_blob_name(
    struct v8 *v, struct lang_walk *w, uint64_t pc, char *text, size_t size)
{
	const struct load *l = v->load;

	if (addrspace_load_at(w->as, pc) != NULL)
		return false;
	uint64_t addr = object_addr(v, w, pc);
	const struct sym *s =
	    addr != 0 ? object_func_at(l->object, addr) : NULL;
	if (s == NULL || strncmp(s->name, "Builtins_", 9) != 0)
		return false;
	snprintf(text, size, "%s`%s", l->module, s->name);
	return true;
}
