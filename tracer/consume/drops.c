/*
 * Reports what was lost since the last report. Nothing is lost without a
 * message.
 */

#include "tracer/consume/consume_impl.h"

/* What a message about a drop says; the index is DTrace's number for the kind,
 * and our own kinds follow. */
enum { DROP_AGGMAX = DROP_COUNT, DROP_INVALID };

/* clang-format off */
static const struct drop_row {
	const char *tag;
	const char *one, *many; /* after the number */
	bool by_lane;		/* " on CPU n" follows, or the process */
} drop_rows[] = {
	[DROP_PRINCIPAL] =    { "PRINCIPAL", "drop", "drops", true },
	[DROP_AGG] =	      { "AGGREGATION", "aggregation drop",
				"aggregation drops", true },
	[DROP_DYNAMIC] =      { "DYNAMIC", "dynamic variable drop",
				"dynamic variable drops", false },
	[DROP_DYN_RINSING] =  { "DYNRINSE",
				"dynamic variable drop with non-empty rinsing list",
				"dynamic variable drops with non-empty rinsing list", false },
	[DROP_DYN_DIRTY] =    { "DYNDIRTY",
				"dynamic variable drop with non-empty dirty list",
				"dynamic variable drops with non-empty dirty list", false },
	[DROP_SPEC] =	      { "SPEC", "speculative drop",
				"speculative drops", false },
	[DROP_SPEC_BUSY] =    { "SPECBUSY",
				"failed speculation (available buffer(s) still busy)",
				"failed speculations (available buffer(s) still busy)", false },
	[DROP_SPEC_UNAVAIL] = { "SPECUNAVAIL",
				"failed speculation (no speculative buffer available)",
				"failed speculations (no speculative buffer available)", false },
	[DROP_STKSTR] =	      { "STKSTROVERFLOW",
				"jstack()/ustack() string table overflow",
				"jstack()/ustack() string table overflows", false },
	[DROP_DBLERROR] =     { "DBLERROR", "error in ERROR probe enabling",
				"errors in ERROR probe enabling", false },
	[DROP_KERNEL] =	      { "KERNEL", "drop of a record of the kernel",
				"drops of records of the kernel", false },
	[DROP_NESTED] =	      { "NESTED", "drop of a hit during another hit",
				"drops of hits during other hits", true },
	/* Not of a lane: */
	[DROP_AGGMAX] =	      { "AGGMAX", "aggregation drop beyond aggmax",
				"aggregation drops beyond aggmax", false },
};
/* clang-format on */

static void
drop_tell(struct consume *c, const struct sink_drop *d)
{
	if (c->sink->drop != NULL)
		c->sink->drop(c, d);
	live_drop(c, d);
}

static void
drop_report(struct consume *c, const struct drop_row *row, uint64_t n,
    const struct lanes *l, uint32_t lane)
{
	char tag[64] = "", where[32] = "";

	if (option_get(c->env.opts, OPT_DROPTAGS))
		snprintf(tag, sizeof(tag), "[DTRACEDROP_%s] ", row->tag);
	if (row->by_lane && l != NULL && l->threads)
		snprintf(where, sizeof(where), " in process %u", l->pid);
	else if (row->by_lane)
		snprintf(where, sizeof(where), " on CPU %u", lane);
	char *what = mem_printf("%llu %s%s", (unsigned long long)n,
	    n == 1 ? row->one : row->many, where);
	drop_tell(c,
	    &(struct sink_drop){
		.tag = row->tag,
		.kind = (int)(row - drop_rows),
		.n = n,
		.cpu =
		    row->by_lane && l != NULL && !l->threads ? (int)lane : -1,
		.pid = row->by_lane && l != NULL && l->threads ? l->pid : 0,
		.what = what,
	    });
	if (!c->sink->elsewhere) /* it is said there */
		consume_message(c, "%s%s", tag, what);
	mem_free(what);
}

/* Drops in the tracer's store are reported for each lane, as for a processor;
 * those of a process are added up. */
static void
drops_of(struct consume *c, struct lanes *l, uint64_t *sums)
{
	for (unsigned k = 0; k < DROP_COUNT; k++) {
		uint64_t sum = l->drops[k];
		l->drops[k] = 0;
		for (uint32_t i = 0; i < l->n; i++) {
			uint64_t n = lane_drops(&l->at[i], k);
			if (n != 0 && drop_rows[k].by_lane && !l->threads)
				drop_report(c, &drop_rows[k], n, l, i);
			else
				sum += n;
		}
		if (sum != 0 && drop_rows[k].by_lane)
			drop_report(c, &drop_rows[k], sum, l, 0);
		else
			sums[k] += sum;
	}
}

void
consume_drops(struct consume *c)
{
	uint64_t sums[DROP_COUNT] = { 0 };

	vec_foreach(l, &c->lanes)
		if ((*l)->left == NULL)
			drops_of(c, *l, sums);
	lanes_tidy(c);
	for (unsigned k = 0; k < DROP_COUNT; k++)
		if (sums[k] != 0)
			drop_report(c, &drop_rows[k], sums[k], NULL, 0);
	if (c->aggs.drops != 0) {
		drop_report(c, &drop_rows[DROP_AGGMAX], c->aggs.drops, NULL, 0);
		c->aggs.drops = 0;
	}
	if (c->damaged != 0) {
		char *what =
		    mem_printf("%llu bytes of trace data are invalid: skipped",
			(unsigned long long)c->damaged);
		drop_tell(c,
		    &(struct sink_drop){
			.tag = "INVALID",
			.kind = DROP_INVALID,
			.n = c->damaged,
			.cpu = -1,
			.what = what,
		    });
		consume_message(c, "%s", what);
		mem_free(what);
		c->damaged = 0;
	}
}
