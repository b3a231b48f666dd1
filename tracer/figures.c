/*
 * Figures of a run; see figures.h.
 */
#include "tracer/figures.h"

#include <string.h>

#include "dlang/base/str.h"
#include "tracer/base/state.h"
#include "tracer/drive/lacks.h"
#include "tracer/fast/fast.h"
#include "tracer/fire/records.h"
#include "tracer/prov/profile.h"
#include "tracer/ptrace/proc.h"

/* What a client of the traced program may have waited at once. */
static void
tell_longest_stop(struct state *st)
{
	uint64_t us = super_longest_stop(st->super) / 1000;

	if (us != 0)
		state_message(st, "longest stop: %lu.%03lu ms",
		    (unsigned long)(us / 1000), (unsigned long)(us % 1000));
}

void
figures_tell(struct state *st)
{
	struct str text = { 0 };
	char *rest, *line;

	tell_longest_stop(st);
	fast_report(st, &text);
	records_report(st, &text);
	profile_report(st, &text);
	char *all = str_take(&text);
	for (line = strtok_r(all, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		state_message(st, "%s", line);
	mem_free(all);
	lacks_tell(st);
}
