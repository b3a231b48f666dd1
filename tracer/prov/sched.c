/*
 * The sched provider: when traced threads get a processor and lose it.
 *
 *	on-cpu		the thread has got a processor
 *	preempt		it is about to lose it, although it could go on
 *	off-cpu		it is about to lose it
 *
 * The kernel records the switches of each thread (tracer/fire/records.h); no
 * thread is stopped for them.  It does so for the threads of every user, but does
 * not say which thread is next on the processor, so the arguments of off-cpu are
 * of no thread.  The stack at a switch is recorded too if the kernel may do that
 * (CAP_PERFMON); otherwise that of a thread that sleeps is read while it does.
 */
#include "dlang/dif.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/records.h"
#include "tracer/fire/stack.h"

#define MODULE "vmlinux"

enum { ON_CPU, PREEMPT, OFF_CPU, PROBES };

static const char *const names[PROBES] = {
	[ON_CPU] = "on-cpu",
	[PREEMPT] = "preempt",
	[OFF_CPU] = "off-cpu",
};

/* Part of the run: the probes that are enabled. */
struct sched {
	struct probe *probes[PROBES];
	bool wanted;
	bool keeps;  /* a clause of on-cpu wants a stack */
	bool leaves; /* stacks are recorded */
};

static struct sched *
sched_of(struct state *st)
{
	static const struct part part = { .size = sizeof(struct sched) };

	return part_of(&st->parts, &part);
}

static void
init(struct state *st)
{
	bool fresh;

	for (size_t i = 0; i < PROBES; i++)
		probe_add(&st->probes, &prov_sched, "sched", MODULE, "",
		    names[i], &fresh)
		    ->data = (void *)(uintptr_t)i;
}

static void
fire(struct state *st, unsigned which, struct thread *th,
    const struct perf_record *r)
{
	struct probe *p = sched_of(st)->probes[which];
	uint64_t next = 0; /* the thread that is next: not known */

	if (p != NULL)
		fire_seen(st, p, th, &next, which == OFF_CPU, r);
}

static void
on_switch(
    struct state *st, struct thread *th, const struct perf_record *r, void *arg)
{
	if (!r->out) {
		fire(st, ON_CPU, th, r);
		return;
	}
	if (sched_of(st)->keeps || sched_of(st)->leaves)
		stack_keep(st, th, r);
	if (r->preempted)
		fire(st, PREEMPT, th, r);
	fire(st, OFF_CPU, th, r);
}

static void
on_leave(
    struct state *st, struct thread *th, const struct perf_record *r, void *arg)
{
	stack_keep(st, th, r);
}

/* Bytes of a stack at a switch. */
#define STACK_BYTES 8192

static void
record_stacks(struct state *st, struct sched *s)
{
	const struct perf_wish w = { .source = PERF_LEAVES,
		.stack_max = STACK_BYTES };
	uint32_t wish;

	if (s->leaves || perfevents_try(&w) != 0)
		return;
	s->leaves =
	    records_want(st, &w, RECORDS_THREADS, on_leave, NULL, &wish) == 0;
}

static void
enable(struct state *st, struct probe *p)
{
	struct sched *s = sched_of(st);
	const struct perf_wish w = { .source = PERF_SWITCHES };
	uint32_t wish;

	s->probes[(uintptr_t)p->data] = p;
	uint32_t needs = records_needs(st, p);
	/* The lane of a thread that runs cannot be written to. */
	if (needs & NEED_SELF)
		st->lanes_unfit = true;
	if (p == s->probes[ON_CPU] && needs & NEED_STACK)
		s->keeps = true;
	if (needs & NEED_STACK)
		record_stacks(st, s);
	if (s->wanted)
		return;
	s->wanted = true;
	int error =
	    records_want(st, &w, RECORDS_THREADS, on_switch, NULL, &wish);
	if (error != 0)
		state_message(st, "the probes of sched do not fire: %s",
		    perfevents_why(error));
}

static void
disable(struct state *st, struct probe *p)
{
	sched_of(st)->probes[(uintptr_t)p->data] = NULL;
}

static bool
arg(const struct probe *p, unsigned n, struct probe_arg *out)
{
	static const char *const types[] = { "lwpsinfo_t *", "psinfo_t *" };

	if ((uintptr_t)p->data != OFF_CPU || n >= ARRAY_SIZE(types))
		return false;
	*out = (struct probe_arg){ .type = "struct task_struct *",
		.translated = types[n] };
	return true;
}

const struct provider prov_sched = {
	.name = "sched",
	.stability = STABILITY("Evolving", "ISA"),
	.init = init,
	.enable = enable,
	.disable = disable,
	.follows = true,
	.arg = arg,
};
