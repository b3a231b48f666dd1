/*
 * profile-N by records of the kernel: nobody is stopped for a sample.
 *
 * With CAP_PERFMON a clock of each processor records the registers of user code, and a
 * copy of the stack if a clause wants it, of whatever runs there; samples of threads
 * that are traced fire.  A thread in the kernel is sampled as well, where it will
 * return to.
 *
 * Other users have a clock of each thread on each processor, which is silent while the
 * thread is in the kernel.  How many samples were missed there is reckoned from the
 * times at which the thread has had the processor (meter.h).  Such a sample has the
 * stack at the system call if the thread then sleeps there, and [kernel] otherwise.
 *
 * The other way, by stops, is used
 *
 *   - if clauses need what is not in a record: memory, variables of the thread,
 *     stacks of languages;
 *   - beside probes in functions: a thread that runs their clauses is on a stack of
 *     dtrap's, and one that waits at a breakpoint has no processor;
 *   - for threads of which the kernel cannot record, or does not for this user.
 */
#include <errno.h>

#include "dlang/dif.h"
#include "inject/resume.h"
#include "symbols/langname.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/records.h"
#include "tracer/fire/stack.h"
#include "tracer/prov/meter.h"
#include "tracer/prov/profile.h"
#include "tracer/ptrace/proc.h"

/* What clauses may need, as long as the thread goes on. */
#define NEEDS_MAY                                                            \
	(NEED_ARG | NEED_TIME | NEED_ID | NEED_PROC | NEED_COMM | NEED_CPU | \
	    NEED_TEXT | NEED_GLOBAL | NEED_ARRAY | NEED_SPEC | NEED_STACK |  \
	    NEED_EXIT)

/* Bytes of a stack: some hundred frames of C. */
#define STACK_BYTES 16384

/* A probe, and how it samples. */
struct way {
	struct probe *probe;
	const char *why; /* it stops threads; NULL: it does not */
	/* SAMPLED_USER: */
	bool reckons;
	uint64_t period;
	uint32_t wish;
	uint64_t user, kernel, unseen; /* samples; unseen: of those in the
					* kernel, without a stack */
};

/* Part of the run. */
struct ways {
	VEC(struct way *) list;
};

static void
ways_end(void *part)
{
	struct ways *ways = part;

	vec_foreach(w, &ways->list)
		mem_free(*w);
	vec_fini(&ways->list);
}

static const struct part ways_part = { .size = sizeof(struct ways),
	.end = ways_end };

/* Part of a thread: the meters of each probe on each processor that it has used. */
struct meters {
	VEC(struct {
		const struct way *way;
		uint32_t cpu;
		struct meter m;
	})
	list;
};

static void
meters_end(void *part)
{
	vec_fini(&((struct meters *)part)->list);
}

static const struct part meters_part = { .size = sizeof(struct meters),
	.end = meters_end };

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

/* ---- samples ---- */

static uint64_t
text_pc(const struct thread *th, uint64_t pc)
{
	struct tptable *tab = th->proc->space->tab;

	return tab != NULL ? resume_text_pc(tab, pc) : pc;
}

static void
on_sample(
    struct state *st, struct thread *th, const struct perf_record *r, void *arg)
{
	const struct way *w = arg;
	uint64_t pc = r->has_regs ? text_pc(th, r->regs.r[UREG_PC]) : 0;
	uint64_t words[3] = { 0, pc, 0 };

	fire_seen(st, w->probe, th, words, 3, r);
}

static struct meter *
meter_of(const struct way *w, struct thread *th, const struct perf_record *r)
{
	struct meters *ms = part_of(&th->parts, &meters_part);
	typeof(ms->list.at) found = NULL;

	vec_foreach(m, &ms->list)
		if (m->way == w && m->cpu == r->cpu)
			found = m;
	if (found == NULL) {
		found = vec_push(&ms->list);
		found->way = w;
		found->cpu = r->cpu;
		found->m.event = 0;
	}
	/* After an exec there are other events. */
	if (found->m.event != r->event)
		found->m = (struct meter){ .event = r->event };
	return &found->m;
}

/* Fire n times for a thread that was in the kernel, by a record at the end of that
 * time. */
static void
fire_missed(struct state *st, struct way *w, struct thread *th,
    const struct perf_record *r, uint32_t n)
{
	struct perf_record missed = *r;
	uint64_t words[3] = { 0 }, pc;

	if (n == 0)
		return;
	missed.source = PERF_CLOCK;
	missed.tag = w->wish;
	missed.reckoned = true;
	missed.has_regs = false;
	missed.stack_len = 0;
	if (r->out)
		stack_keep(st, th, r);
	bool seen =
	    stack_seen(st, th, &missed, &pc, 1) != 0 && langname_of(pc) == NULL;
	words[1] = seen ? pc : 0;
	w->kernel += n;
	w->unseen += seen ? 0 : n;
	while (n-- > 0)
		fire_seen(st, w->probe, th, words, 3, &missed);
}

static void
on_user_record(
    struct state *st, struct thread *th, const struct perf_record *r, void *arg)
{
	struct way *w = arg;
	struct meter *m = meter_of(w, th, r);

	if (r->source == PERF_SWITCHES && !r->out) {
		meter_on(m, r->time);
	} else if (r->source == PERF_SWITCHES) {
		fire_missed(st, w, th, r, meter_off(m, r->time, w->period));
	} else {
		fire_missed(st, w, th, r, meter_sample(m, r->time, w->period));
		w->user++;
		on_sample(st, th, r, arg);
	}
}

static void
reckon(struct state *st, struct way *w, struct thread *th, uint64_t now)
{
	struct meters *ms = part_had(&th->parts, &meters_part);
	struct perf_record r = {
		.pid = th->proc->pid, .tid = th->tid, .thread = th, .time = now
	};

	if (ms == NULL || !fire_wants_proc(st, th->proc))
		return;
	for (size_t i = 0; i < ms->list.len; i++) {
		if (ms->list.at[i].way != w)
			continue;
		uint32_t n = meter_now(&ms->list.at[i].m, now, w->period);
		r.cpu = ms->list.at[i].cpu;
		fire_missed(st, w, th, &r, n);
	}
}

static void
reckon_all(struct state *st, struct way *w)
{
	uint64_t now = timer_now();
	struct proc *p = NULL;

	/* A sample may have been recorded since the records were read. */
	now -= w->period;
	while ((p = super_next(st->super, p)) != NULL)
		vec_foreach(th, &p->threads)
			reckon(st, w, *th, now);
}

static struct way *
way_of(const struct state *st, const struct probe *p)
{
	const struct ways *ways = part_had(&st->parts, &ways_part);

	if (ways != NULL)
		vec_foreach(w, &ways->list)
			if ((*w)->probe == p)
				return *w;
	return NULL;
}

void
profile_reckon(struct state *st, struct probe *p)
{
	reckon_all(st, way_of(st, p));
}

/* This part of the samples without a place is worth a message, in percent. */
#define UNSEEN_LEAST 10

void
profile_last(struct state *st)
{
	const struct ways *ways = part_had(&st->parts, &ways_part);

	if (ways == NULL)
		return;
	vec_foreach(at, &ways->list) {
		struct way *w = *at;
		if (!w->reckons)
			continue;
		reckon_all(st, w);
		uint64_t all = w->user + w->kernel;
		uint64_t part = all != 0 ? 100 * w->unseen / all : 0;
		if (part >= UNSEEN_LEAST)
			state_message(st,
			    "%s: %lu %% of the samples are in the kernel, of "
			    "which only option sampling=stops tells where",
			    w->probe->name, (unsigned long)part);
	}
}

/* ---- which way ---- */

static const char *
refused(int error)
{
	return error == -EACCES || error == -EPERM ?
	    "the kernel records nothing for this user (sysctl "
	    "kernel.perf_event_paranoid)" :
	    perfevents_why(error);
}

enum sampled
profile_records(
    struct state *st, struct probe *p, uint64_t period, uint32_t *wish)
{
	struct ways *ways = part_of(&st->parts, &ways_part);
	struct way *way = mem_zalloc(sizeof(*way));
	struct perf_wish w = {
		.source = PERF_CLOCK,
		.period = period,
		.stack_max =
		    (records_needs(st, p) & NEED_STACK) != 0 ? STACK_BYTES : 0,
	};

	*vec_push(&ways->list) = way;
	way->probe = p;
	way->period = period;
	if ((way->why = must_stop(st, p)) != NULL)
		return SAMPLED_BY_STOPS;
	int error = options_sampling(&st->opts) == SAMPLING_USER ?
	    -EACCES :
	    records_want(st, &w, RECORDS_ALL, on_sample, way, wish);
	if (error == 0)
		return SAMPLED_ALL;
	w.switches = true;
	error =
	    records_want(st, &w, RECORDS_THREADS, on_user_record, way, wish);
	way->reckons = error == 0;
	way->wish = *wish;
	if (error == 0)
		return SAMPLED_USER;
	way->why = refused(error);
	return SAMPLED_BY_STOPS;
}

void
profile_report(const struct state *st, struct str *text)
{
	const struct ways *ways = part_had(&st->parts, &ways_part);

	if (ways == NULL)
		return;
	vec_foreach(at, &ways->list) {
		const struct way *w = *at;
		if (w->why != NULL)
			str_printf(text,
			    "%s has stopped threads for its samples: %s\n",
			    w->probe->name, w->why);
		if (!w->reckons)
			continue;
		str_printf(text,
		    "%s has %lu samples of user code, and %lu that are "
		    "reckoned, in the kernel: no system call is known for %lu\n",
		    w->probe->name, (unsigned long)w->user,
		    (unsigned long)w->kernel, (unsigned long)w->unseen);
	}
}
