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
fast_rested(struct state *st)
{
	if (st->fast != NULL)
		st->fast->rests++;
}

void
fast_note(struct state *st, const char *why, uint64_t trapped)
{
	struct fast *f = st->fast;

	if (f == NULL)
		return;
	if (why == NULL) {
		f->jumps++;
		f->jumps_trapped += trapped;
		return;
	}
	vec_foreach(n, &f->notes)
		if (strcmp(n->why, why) == 0) {
			n->n++;
			n->trapped += trapped;
			return;
		}
	*vec_push(&f->notes) =
	    (struct note){ mem_printf("%s", why), 1, trapped };
}

static int
by_hits(const void *va, const void *vb)
{
	const struct note *a = va, *b = vb;

	if (a->trapped != b->trapped)
		return a->trapped > b->trapped ? -1 : 1;
	return a->n > b->n ? -1 : a->n < b->n;
}

void
fast_report(const struct state *st, struct str *text)
{
	struct fast *f = st->fast;

	if (f == NULL || (f->traps == 0 && f->jumps == 0 && f->notes.len == 0))
		return;
	str_printf(text, "%llu hits by jump, %llu by trap\n",
	    (unsigned long long)lanes_hits(st), (unsigned long long)f->traps);
	if (f->rests != 0)
		str_printf(text,
		    "%llu traps within hits by jump, for actions\n",
		    (unsigned long long)f->rests);
	str_printf(text,
	    "%llu places by jump, where %llu hits were by trap all the same\n",
	    (unsigned long long)f->jumps, (unsigned long long)f->jumps_trapped);
	if (f->notes.len > 1)
		qsort(
		    f->notes.at, f->notes.len, sizeof(f->notes.at[0]), by_hits);
	vec_foreach(n, &f->notes)
		str_printf(text, "%llu places by trap, with %llu hits: %s\n",
		    (unsigned long long)n->n, (unsigned long long)n->trapped,
		    n->why);
}
