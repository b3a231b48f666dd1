/*
 * Programs; see prog.h.  Everything of a program is in its arena.
 */
#include "dlang/prog.h"

#include "dlang/base/mem.h"

void
prog_destroy(struct prog *p)
{
	if (p == NULL)
		return;
	mem_free(p->clauses);
	arena_fini(&p->arena);
	mem_free(p);
}
