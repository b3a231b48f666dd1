/*
 * Firing; see fire.h.
 */
#include "tracer/fire/fire.h"

#include <string.h>

#include "dlang/vm/agg.h"
#include "dlang/vm/buf.h"
#include "dlang/vm/ecb.h"
#include "dlang/vm/store.h"
#include "tracer/consume/consume.h"
#include "tracer/fast/fast.h"
#include "tracer/fire/deadman.h"
#include "tracer/fire/eval.h"
#include "tracer/ptrace/perfevent.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/processor.h"
#include "tracer/base/state.h"
#include "tracer/fire/stores.h"

void
fire_set_activity(struct state *st, enum activity a)
{
	store_hdr(&st->stores->store_mem)->activity = a;
	fast_set_activity(st, a);
}

/* ---- firing ---- */

void
fire_drain(struct state *st)
{
	if (!st->draining && st->stores->store_mem.base != NULL)
		fire_set_activity(st, ACTIVITY_DRAINING);
	st->draining = true;
}

bool
fire_wants_cpu(const struct state *st, struct thread *th)
{
	int64_t only = option_get(&st->opts, OPT_CPU);

	return only < 0 || th == NULL || thread_cpu(th) == only;
}

static bool
wants_place(
    const struct state *st, struct thread *th, const struct occasion *about)
{
	if (about->seen == NULL)
		return fire_wants_cpu(st, th);
	int64_t only = option_get(&st->opts, OPT_CPU);
	return only < 0 || (int64_t)about->seen->cpu == only;
}

bool
fire_wants_proc(const struct state *st, const struct proc *p)
{
	return st->follow || p->role.family == p->pid;
}

static void
fire_in(struct state *st, struct probe *p, struct thread *th,
    const uint64_t *words, unsigned nwords, struct occasion about)
{
	struct firing f;

	if (p->image_ref == 0 || !wants_place(st, th, &about))
		return;
	/* No thread waits while a record fires. */
	if (about.seen == NULL)
		deadman_fired(st, p);
	eval_begin(&f, st, th, about);
	memset(st->env.hit, 0, sizeof(st->env.hit));
	if (nwords > 0)
		memcpy(
		    st->env.hit, words, MIN(nwords, VM_ARGS) * sizeof(*words));
	ecb_fire_probe(&st->env, p->image_ref);
	eval_end(&f);
	fire_after(st);
}

void
fire_probe(struct state *st, struct probe *p, struct thread *th,
    const uint64_t *words, unsigned nwords)
{
	fire_in(st, p, th, words, nwords, (struct occasion){ 0 });
}

void
fire_event(struct state *st, struct probe *p, struct thread *th,
    const uint64_t *words, unsigned nwords, struct occasion about)
{
	if (!fire_wants_proc(st, th->proc))
		return;
	fire_in(st, p, th, words, nwords, about);
	processor_hit(st->processor, th, st->env.timestamp);
}

void
fire_seen(struct state *st, struct probe *p, struct thread *th,
    const uint64_t *words, unsigned nwords, const struct perf_record *seen)
{
	fire_in(st, p, th, words, nwords, (struct occasion){ .seen = seen });
}

/* A buffer is read when it is more than half full (in 256ths), so that the next
 * records have room. */
#define FILL_LIMIT 128

static void
consume_if_full(struct state *st)
{
	const struct lane_view *at = &st->env.at;

	if (at->lane == NULL || st->output.error != 0)
		return;
	/* The policy fill keeps the first records, ring the last ones. Both
	 * buffers are read at the end. */
	if (option_get(&st->opts, OPT_BUFPOLICY) == POLICY_SWITCH &&
	    buf_fill(at) > FILL_LIMIT)
		fire_consume(st);
	if (agg_fill(at) > CONSUME_AGGS_AT)
		consume_aggs(st->consume);
}

void
fire_after(struct state *st)
{
	const struct lane_view *at = &st->env.at;

	/* If a trace ends before it began, processes still hit probes while
	 * they are detached: these do not fire. */
	if (at->lane == NULL)
		return;
	/* With bufpolicy=fill nothing can be recorded once the buffer is
	 * full. */
	if (at->store->exit_called || at->lane->full)
		fire_drain(st);
	consume_if_full(st);
}

void
fire_consume(struct state *st)
{
	if (st->output.error != 0)
		return;
	/* Print with the priority that dtrap was started with; programs that
	 * system() starts inherit it. */
	processor_restore(st->processor);
	consume_aggs_due(st->consume);
	int error = consume_records(st->consume);
	processor_again(st->processor);
	if (error != 0) {
		st->output.error = -error;
		fire_drain(st);
	}
}
