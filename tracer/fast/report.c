/*
 * Counts hits by jump and by trap, and the reasons why sites have no jump; see
 * fast.h.
 */
#include <stdlib.h>
#include <string.h>

#include "dlang/base/str.h"
#include "tracer/base/state.h"
#include "tracer/fast/fast_impl.h"

void
report_end(struct fast *f)
{
	vec_foreach(n, &f->notes)
		mem_free(n->why);
	vec_fini(&f->notes);
}

void
fast_trapped(struct state *st)
{
	if (st->fast != NULL)
		st->fast->traps++;
}

void
fast_note(struct state *st, const char *why)
{
	struct fast *f = st->fast;

	if (f == NULL)
		return;
	if (why == NULL) {
		f->jumps++;
		return;
	}
	vec_foreach(n, &f->notes)
		if (strcmp(n->why, why) == 0) {
			n->n++;
			return;
		}
	*vec_push(&f->notes) = (struct note){ mem_printf("%s", why), 1 };
}

static int
by_number(const void *a, const void *b)
{
	uint64_t x = ((const struct note *)a)->n;
	uint64_t y = ((const struct note *)b)->n;

	return x > y ? -1 : x < y;
}

void
fast_report(const struct state *st, struct str *text)
{
	struct fast *f = st->fast;

	if (f == NULL)
		return;
	str_printf(text, "%llu hits by jump, %llu by trap\n",
	    (unsigned long long)lanes_hits(st), (unsigned long long)f->traps);
	str_printf(text, "%llu places by jump\n", (unsigned long long)f->jumps);
	if (f->notes.len > 1)
		qsort(f->notes.at, f->notes.len, sizeof(f->notes.at[0]),
		    by_number);
	vec_foreach(n, &f->notes)
		str_printf(text, "%llu by trap: %s\n", (unsigned long long)n->n,
		    n->why);
}
