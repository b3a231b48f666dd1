/*
 * Records of the kernel; see records.h.
 *
 * The kernel can wake dtrap for each sample, or not at all for switches.  So a
 * timer makes the loop look, often enough that no ring is full before.
 */
#include "tracer/fire/records.h"

#include <errno.h>
#include <unistd.h>

#include "dlang/base/clock.h"
#include "dlang/cc/cc.h"
#include "dlang/dif.h"
#include "dlang/needs.h"
#include "tracer/base/probe.h"
#include "tracer/base/state.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/moments.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/processor.h"

/* How often the rings are read.  With switches: a thread that waits is looked at
 * while it does, so waits that are a few times longer are all seen. */
#define READ_NS        (10 * NS_PER_MS)
#define READ_SWITCH_NS (2 * NS_PER_MS)
#define READ_LEAST_NS  (NS_PER_MS / 2)

/* Of a sample, without its stack. */
#define SAMPLE_BYTES 256

/* A processor does not count more events in a ns. */
#define EVENTS_A_NS 16

struct wish {
	struct perf_wish wish;
	enum records_of of;
	record_fn fn;
	void *arg;
	bool off;
	unsigned without; /* threads of which nothing is recorded */
	int error;        /* of the first of these */
};

/* Part of the run. */
struct records {
	struct perfevents *pe;
	int error; /* of perfevents_create() */
	VEC(struct wish) list;
	uint64_t every; /* the timer's period, ns */
	bool hears;     /* of threads, and of the time */
	bool begun;     /* perfevents_start() */
	bool reading;
};

static void
records_free(void *part)
{
	struct records *rs = part;

	if (rs->pe != NULL)
		perfevents_destroy(rs->pe);
	vec_fini(&rs->list);
}

static const struct part records_part = { .size = sizeof(struct records),
	.end = records_free };

static struct records *
records_had(const struct state *st)
{
	struct records *rs = part_had(&st->parts, &records_part);

	return rs != NULL && rs->pe != NULL ? rs : NULL;
}

/* ---- threads ---- */

static void
add(struct records *rs, struct wish *w, struct thread *th)
{
	if (w->off || w->of != RECORDS_THREADS || thread_gone(th))
		return;
	int error = perfevents_add(rs->pe, th, &w->wish);
	w->without += error != 0;
	if (error != 0 && w->error == 0)
		w->error = error;
}

static void
add_to_all(struct state *st, struct records *rs, struct wish *w)
{
	struct proc *p = NULL;

	while ((p = super_next(st->super, p)) != NULL)
		vec_foreach(th, &p->threads)
			add(rs, w, *th);
}

static void
on_begin(struct state *st, const struct event *ev, void *arg)
{
	struct records *rs = arg;

	if (!ev->first)
		return;
	vec_foreach(w, &rs->list)
		add(rs, w, ev->thread);
}

/* A thread that is not the first takes the id of the first when it executes a
 * program. */
static void
on_exec(struct state *st, const struct event *ev, void *arg)
{
	struct records *rs = arg;

	perfevents_drop(ev->thread);
	vec_foreach(w, &rs->list)
		add(rs, w, ev->thread);
}

/* ---- wishes ---- */

/* The loop reads the records before it runs timers.  It runs them when it begins:
 * what other processes do before that is of no use. */
static void
on_time(struct state *st, void *arg, uint64_t late)
{
	struct records *rs = arg;

	if (!rs->begun)
		perfevents_start(rs->pe);
	rs->begun = true;
	processor_short(st->processor);
}

/*
 * Samples of processors are large, those of other processes are among them, and who
 * may have them may lock memory: half a second of samples with stacks, or 64 MiB for
 * all processors.
 */
#define RING_ALL_MOST (16 * PERF_RING_SIZE)
#define ALL_MOST      (128 * PERF_RING_SIZE)

static size_t
ring_size(enum records_of of)
{
	size_t size = of == RECORDS_ALL ? RING_ALL_MOST : PERF_RING_SIZE;
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	while (size > PERF_RING_SIZE && size * (size_t)cpus > ALL_MOST)
		size /= 2;
	return size;
}

static int
begin(struct state *st, struct records *rs, enum records_of of)
{
	if (rs->pe != NULL || rs->error != 0)
		return rs->error;
	rs->pe = perfevents_create(ring_size(of), &rs->error);
	if (rs->pe == NULL)
		return rs->error;
	rs->every = READ_NS;
	if (!rs->hears) {
		rs->hears = true;
		moments_subscribe(st, EV_STOP, on_begin, rs);
		moments_subscribe(st, EV_EXEC, on_exec, rs);
		timer_add(&st->timers, READ_NS, on_time, rs);
	}
	timer_set_period(&st->timers, on_time, rs, READ_NS);
	timer_set_next(&st->timers, on_time, rs, 0);
	return 0;
}

/* Nothing is recorded: take no memory and no time for it. */
static void
give_up(struct state *st, struct records *rs)
{
	timer_set_period(&st->timers, on_time, rs, 0);
	perfevents_destroy(rs->pe);
	rs->pe = NULL;
}

/* Read often enough for this, too: samples fill a quarter of a ring at most. */
static void
hurry(struct state *st, struct records *rs, const struct perf_wish *w)
{
	bool sleepers = w->source == PERF_SWITCHES ||
	    w->source == PERF_LEAVES || (w->switches && w->stack_max != 0);
	uint64_t every = sleepers ? READ_SWITCH_NS : READ_NS;

	if (w->period != 0) {
		uint64_t fills = perfevents_size(rs->pe) / 4 *
		    (w->source == PERF_COUNTER &&
				!counter_is_clock(w->counter) ?
			    w->period / EVENTS_A_NS :
			    w->period) /
		    (w->stack_max + SAMPLE_BYTES);
		every = MIN(every, fills);
	}
	every = MAX(every, READ_LEAST_NS);
	if (every >= rs->every)
		return;
	rs->every = every;
	timer_set_period(&st->timers, on_time, rs, every);
}

int
records_want(struct state *st, const struct perf_wish *w, enum records_of of,
    record_fn fn, void *arg, uint32_t *wish)
{
	struct records *rs = part_of(&st->parts, &records_part);
	int error = begin(st, rs, of);
	struct wish new = {
		.wish = *w,
		.of = of,
		.fn = fn,
		.arg = arg,
	};

	if (error != 0)
		return error;
	*wish = new.wish.tag = (uint32_t)rs->list.len;
	if (of == RECORDS_ALL)
		error = perfevents_add_all(rs->pe, &new.wish);
	if (error != 0 && rs->list.len == 0)
		give_up(st, rs);
	if (error != 0)
		return error;
	if (rs->begun)
		perfevents_start(rs->pe);
	hurry(st, rs, w);
	*vec_push(&rs->list) = new;
	add_to_all(st, rs, &rs->list.at[*wish]);
	return 0;
}

bool
records_has(const struct state *st, const struct thread *th, uint32_t wish)
{
	const struct records *rs = records_had(st);

	return rs != NULL &&
	    (rs->list.at[wish].of == RECORDS_ALL || perfevents_has(th, wish));
}

unsigned
records_without(const struct state *st, uint32_t wish)
{
	const struct records *rs = records_had(st);

	return rs != NULL ? rs->list.at[wish].without : 0;
}

void
records_end(struct state *st, uint32_t wish)
{
	struct records *rs = records_had(st);

	if (rs == NULL)
		return;
	rs->list.at[wish].off = true;
	perfevents_close(rs->pe, wish);
}

uint32_t
records_needs(const struct state *st, const struct probe *p)
{
	const struct prog_globals *g = cc_globals(st->compiled.cc);
	uint32_t needs = 0;

	vec_foreach(c, &g->clauses)
		if (probe_matches(p, &(*c)->desc))
			needs |= needs_of_acts(*c) |
			    ((*c)->pred != NULL ? (*c)->pred->needs : 0U);
	return needs;
}

/* ---- records ---- */

static void
tell(void *ctx, const struct perf_record *r)
{
	struct state *st = ctx;
	const struct records *rs = records_had(st);
	struct wish w = rs->list.at[r->tag];
	struct thread *th =
	    r->thread != NULL ? r->thread : super_thread(st->super, r->tid);

	/* A process that shares the memory of a target is traced, and is none. */
	if (th != NULL && th->proc != NULL && fire_wants_proc(st, th->proc))
		w.fn(st, th, r, w.arg);
}

void
records_read(struct state *st)
{
	struct records *rs = records_had(st);

	if (rs == NULL || rs->reading || !perfevents_any(rs->pe))
		return;
	rs->reading = true;
	perfevents_read(rs->pe, tell, st);
	rs->reading = false;
	if (st->env.at.lane != NULL)
		st->env.at.lane->drops[DROP_KERNEL] += perfevents_lost(rs->pe);
}

void
records_read_last(struct state *st)
{
	struct records *rs = records_had(st);

	records_read(st);
	if (rs != NULL && st->env.at.lane != NULL)
		st->env.at.lane->drops[DROP_KERNEL] +=
		    perfevents_lost_last(rs->pe);
}

bool
records_ran_since(
    const struct state *st, const struct thread *th, uint64_t time)
{
	const struct records *rs = records_had(st);

	return rs == NULL || perfevents_ran_since(rs->pe, th, time);
}

void
records_report(const struct state *st, struct str *text)
{
	const struct records *rs = records_had(st);

	if (rs == NULL)
		return;
	vec_foreach(w, &rs->list)
		if (w->without != 0)
			str_printf(text,
			    "%u threads without records of the kernel: %s\n",
			    w->without, perfevents_why(w->error));
}
