/*
 * profile-N by records of the kernel: nobody is stopped for a sample.
 *
 * A clock of each processor records the registers of user code, and a copy of the
 * stack if a clause wants it, of whatever runs there; samples of threads that are
 * traced fire.  A thread in the kernel is sampled as well, where it will return to.
 * That takes CAP_PERFMON.
 *
 * The other way, by stops, is used
 *
 *   - for all other users: their clocks do not count in the kernel, so the shares
 *     would be those of user code alone;
 *   - if clauses need what is not in a record: memory, variables of the thread,
 *     stacks of languages;
 *   - beside probes in functions: a thread that runs their clauses is on a stack of
 *     dtrap's, and one that waits at a breakpoint has no processor.
 */
#include <errno.h>

#include "dlang/dif.h"
#include "inject/resume.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/records.h"
#include "tracer/prov/profile.h"
#include "tracer/ptrace/proc.h"

/* What clauses may need, as long as the thread goes on. */
#define NEEDS_MAY                                                            \
	(NEED_ARG | NEED_TIME | NEED_ID | NEED_PROC | NEED_COMM | NEED_CPU | \
	    NEED_TEXT | NEED_GLOBAL | NEED_ARRAY | NEED_SPEC | NEED_STACK |  \
	    NEED_EXIT)

/* Bytes of a stack: some hundred frames of C. */
#define STACK_BYTES 16384

/* Part of the run: why probes sample by stops. */
struct ways {
	VEC(struct {
		const struct probe *probe;
		const char *why;
	})
	stops;
};

static void
ways_end(void *part)
{
	vec_fini(&((struct ways *)part)->stops);
}

static const struct part ways_part = { .size = sizeof(struct ways),
	.end = ways_end };

static bool
is_beside_places(const struct state *st)
{
	vec_foreach(p, &st->probes.list)
		if ((*p)->image_ref != 0 && (*p)->provider->sites != NULL)
			return true;
	return false;
}

/* Why the probe must sample by stops; NULL: it need not. */
static const char *
must_stop(const struct state *st, const struct probe *p)
{
	if (options_sampling(&st->opts) == SAMPLING_STOPS)
		return "as option sampling says";
	if (is_beside_places(st))
		return "other probes are in functions";
	if ((records_needs(st, p) & ~NEEDS_MAY) != 0)
		return "its clauses need the thread stopped";
	return NULL;
}

static const char *
refused(int error)
{
	return error == -EACCES || error == -EPERM ?
	    "the kernel records its own time only with CAP_PERFMON" :
	    perfevents_why(error);
}

static void
on_sample(
    struct state *st, struct thread *th, const struct perf_record *r, void *arg)
{
	struct tptable *tab = th->proc->space->tab;
	uint64_t pc = r->regs.r[UREG_PC];

	if (r->has_regs && tab != NULL)
		pc = resume_text_pc(tab, pc);
	uint64_t words[3] = { 0, r->has_regs ? pc : 0, 0 };
	fire_seen(st, arg, th, words, 3, r);
}

bool
profile_records(
    struct state *st, struct probe *p, uint64_t period, uint32_t *wish)
{
	const struct perf_wish w = {
		.source = PERF_CLOCK,
		.period = period,
		.stack_max =
		    (records_needs(st, p) & NEED_STACK) != 0 ? STACK_BYTES : 0,
	};
	const char *why = must_stop(st, p);
	int error = why == NULL ?
	    records_want(st, &w, RECORDS_ALL, on_sample, p, wish) :
	    0;

	if (why == NULL && error == 0)
		return true;
	struct ways *ways = part_of(&st->parts, &ways_part);
	typeof(ways->stops.at) s = vec_push(&ways->stops);
	s->probe = p;
	s->why = why != NULL ? why : refused(error);
	return false;
}

void
profile_report(const struct state *st, struct str *text)
{
	const struct ways *ways = part_had(&st->parts, &ways_part);

	if (ways == NULL)
		return;
	vec_foreach(s, &ways->stops)
		str_printf(text, "%s has stopped threads for its samples: %s\n",
		    s->probe->name, s->why);
}
