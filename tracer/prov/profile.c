/*
 * The profile provider: profile-N and tick-N.
 *
 * tick-N fires in the context of the tracer.  profile-N samples: in each
 * period, every traced thread that uses a processor, or would use one if it had
 * not just hit a tracepoint, is stopped briefly, and the probe fires in its
 * context with arg1 its program counter.  oncpu.c finds those threads, one
 * processor after the other if possible.  If a thread turns out to have been
 * waiting for a processor, the probe does not fire (was_waiting()).
 *
 * Where the kernel may record samples, nobody is stopped (profile_records.c), but
 * for threads of which it cannot.
 */
#include "tracer/prov/profile.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/clock.h"
#include "dlang/base/glob.h"
#include "inject/resume.h"
#include "tracer/fire/oncpu.h"
#include "tracer/fire/records.h"
#include "tracer/base/probe.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/procfs.h"
#include "tracer/base/provider.h"
#include "tracer/fire/fire.h"
#include "tracer/base/state.h"

/* The structure in probe->data. */
struct profile {
	uint64_t period; /* ns */
	bool tick;
	uint64_t due; /* time of the next sample */
	bool looked;  /* oncpu_look() was called for it */
	enum sampled by;
	uint32_t wish; /* if the kernel records samples */
	bool rest;     /* threads are stopped of which it does not */
};

#define MIN_PERIOD 200000ULL /* DTrace refuses anything below 200 us */

static const struct {
	const char *suffix;
	uint64_t ns; /* 0: times per second */
} units[] = {
	/* clang-format off */
	{ "", 0 }, { "hz", 0 },
	{ "ns", 1 }, { "nsec", 1 },
	{ "us", 1000 }, { "usec", 1000 },
	{ "ms", 1000000 }, { "msec", 1000000 },
	{ "s", NS_PER_S }, { "sec", NS_PER_S },
	{ "m", 60 * NS_PER_S }, { "min", 60 * NS_PER_S },
	{ "h", 3600 * NS_PER_S }, { "hour", 3600 * NS_PER_S },
	{ "d", 86400 * NS_PER_S }, { "day", 86400 * NS_PER_S },
	/* clang-format on */
};

/* The period of "profile-97" or "tick-10ms" in ns; 0 if the name is invalid. */
static uint64_t
parse(const char *name, bool *tick)
{
	const char *p;
	char *end;

	if (strncmp(name, "tick-", 5) == 0)
		p = name + 5;
	else if (strncmp(name, "profile-", 8) == 0)
		p = name + 8;
	else
		return 0;
	*tick = *name == 't';
	if (!isdigit((unsigned char)*p))
		return 0;
	errno = 0;
	uint64_t n = strtoull(p, &end, 10), period = 0;
	if (errno != 0 || n == 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcasecmp(end, units[i].suffix) != 0)
			continue;
		if (units[i].ns == 0)
			period = NS_PER_S / n;
		else if (__builtin_mul_overflow(n, units[i].ns, &period))
			period = 0;
	}
	return period >= MIN_PERIOD ? period : 0;
}

static void
publish(struct state *st, const char *name)
{
	bool tick, fresh;
	uint64_t period = parse(name, &tick);

	if (period == 0)
		return;
	struct probe *p = probe_add(
	    &st->probes, &prov_profile, "profile", "", "", name, &fresh);
	if (!fresh)
		return;
	struct profile *pr = mem_zalloc(sizeof(*pr));
	*pr = (struct profile){ .period = period, .tick = tick };
	p->data = pr;
}

/* A sample is of every traced thread, a tick of none. */
static bool
aside(const struct probe *p)
{
	const struct profile *pr = p->data;

	return pr->tick;
}

static void
init(struct state *st)
{
	static const char *const names[] = { "profile-97", "profile-199",
		"profile-499", "profile-997", "profile-1999", "profile-4001",
		"profile-4999", "tick-1", "tick-10", "tick-100", "tick-500",
		"tick-1000", "tick-5000" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		publish(st, names[i]);
}

/* A probe with any other rate is created when it is named exactly. */
static int
provide(struct state *st, const struct probe_desc *pd, const struct span *at,
    struct diags *d)
{
	if (pd->id != 0 || *pd->mod != '\0' || *pd->func != '\0' ||
	    glob_is(pd->name))
		return 0;
	if (*pd->prov == '\0' || glob_match(pd->prov, "profile"))
		publish(st, pd->name);
	return 0;
}

/* ---- firing ---- */

/* In no traced process the process is the tracer, as `pid' says, and this is
 * where it is. */
static uint64_t
own_pc(void)
{
	return (uintptr_t)__builtin_return_address(0);
}

static void
fire_tick(struct state *st, void *arg, uint64_t late)
{
	uint64_t words[3] = { 0, own_pc(), 0 };

	fire_probe(st, arg, NULL, words, 3);
}

/* A firing that is due at the next stop of a thread. */
struct sample {
	struct sample *next;
	struct probe *probe;
	uint64_t due; /* when it was requested */
	bool asked;   /* it ran at that time, or waited for a processor, as
		       * sched and late (see oncpu.h) tell */
	uint64_t late;
	struct procfs_sched sched;
};

/* For each thread: the firings that are due when it stops. */
struct samples {
	struct sample *first;
};

static void
samples_end(void *part)
{
	struct sample *s = ((struct samples *)part)->first, *next;

	for (; s != NULL; s = next) {
		next = s->next;
		mem_free(s);
	}
}

static const struct part samples_part = { .size = sizeof(struct samples),
	.end = samples_end };

bool
profile_waits(const struct thread *th)
{
	const struct samples *ss = part_had(&th->parts, &samples_part);

	return ss != NULL && ss->first != NULL;
}

/* Append a firing, but only one for each probe: a thread that does not stop for
 * a long time has one firing due, not a thousand. */
static void
sample_add(struct thread *th, struct probe *probe, uint64_t now, uint64_t late)
{
	struct samples *ss = part_of(&th->parts, &samples_part);
	struct sample **at = &ss->first;

	for (; *at != NULL; at = &(*at)->next)
		if ((*at)->probe == probe)
			return;
	*at = mem_zalloc(sizeof(**at));
	**at = (struct sample){ .probe = probe, .due = now, .late = late };
	oncpu_owes(th, true);
	(*at)->asked =
	    thread_runs(th) && procfs_sched(th->tid, &(*at)->sched) == 0;
}

/*
 * Did the thread only wait for a processor when it was asked to stop?  The
 * kernel shows running and waiting threads in the same way.  A waiting thread
 * is no sample: a thread that must yield does so at its next system call.  A
 * thread that waits because the tracer took its processor counts as running.
 */
static bool
was_waiting(const struct thread *th, const struct sample *s)
{
	struct procfs_sched now;

	if (!s->asked || procfs_sched(th->tid, &now) < 0 ||
	    now.turns == s->sched.turns)
		return false;
	return now.waited - s->sched.waited > timer_now() - s->due + s->late;
}

static void
sample(struct state *st, struct probe *probe)
{
	uint64_t now = timer_now();
	const struct profile *pr = probe->data;
	oncpu_threads found = { 0 };

	oncpu_find(st, &found);
	vec_foreach(f, &found) {
		struct thread *th = f->thread;
		if (pr->rest && records_has(st, th, pr->wish))
			continue;
		if (thread_runs(th) && th->stop.asked != ASK_EVENT)
			thread_ask(th);
		sample_add(th, probe, now, f->late);
	}
	vec_fini(&found);
}

/* Alternates between a look at the threads and a sample; each sets the timer
 * for the other. */
static void
turn(struct state *st, void *arg, uint64_t late)
{
	struct probe *probe = arg;
	struct profile *pr = probe->data;
	uint64_t now = timer_now();

	/* Without a target the probe fires like tick, as on an idle
	 * processor. */
	if (!st->named.any && super_next(st->super, NULL) == NULL) {
		uint64_t words[3] = { 0, own_pc(), late };
		fire_probe(st, probe, NULL, words, 3);
		return;
	}
	if (!pr->looked) {
		oncpu_look(st, pr->period);
		pr->due = MAX(pr->due, timer_now() + ONCPU_LEAD);
		timer_set_next(&st->timers, turn, arg, pr->due);
	} else {
		uint64_t step = pr->period / st->oncpu->turns;
		sample(st, probe);
		/* A sample that was missed by more than a period is dropped. */
		pr->due += step;
		if (pr->due < now)
			pr->due = now + step;
		timer_set_next(&st->timers, turn, arg, pr->due - ONCPU_LEAD);
	}
	pr->looked = !pr->looked;
}

/* Take the first firing that is due.  False if there is none. */
static bool
sample_take(struct thread *th, struct sample *out)
{
	struct samples *ss = part_had(&th->parts, &samples_part);
	struct sample *s = ss != NULL ? ss->first : NULL;

	if (s == NULL)
		return false;
	*out = *s;
	ss->first = s->next;
	mem_free(s);
	oncpu_owes(th, ss->first != NULL);
	return true;
}

void
profile_stopped(struct state *st, struct thread *th)
{
	struct sample s;

	while (sample_take(th, &s)) {
		struct uregs *regs = thread_regs(th);
		if (regs == NULL || was_waiting(th, &s))
			continue;
		uint64_t pc = resume_thread_pc(
		    th->proc->space->tab, regs->r[UREG_PC], regs->r[UREG_SP]);
		uint64_t words[3] = { 0, pc, timer_now() - s.due };
		fire_probe(st, s.probe, th, words, 3);
	}
}

void
profile_thread_end(struct thread *th)
{
	struct sample s;

	while (sample_take(th, &s))
		;
}

/* How long the samples of a thread that stays in the kernel may be late. */
#define RECKON_NS (50 * NS_PER_MS)

static void
reckon(struct state *st, void *arg, uint64_t late)
{
	struct probe *p = arg;
	struct profile *pr = p->data;

	profile_reckon(st, p);
	if (pr->rest || records_without(st, pr->wish) == 0)
		return;
	pr->rest = true;
	timer_add(&st->timers, pr->period, turn, p);
}

static void
enable(struct state *st, struct probe *p)
{
	struct profile *pr = p->data;
	bool any = st->named.any || super_next(st->super, NULL) != NULL;

	if (!pr->tick && any)
		pr->by = profile_records(st, p, pr->period, &pr->wish);
	if (pr->by == SAMPLED_USER)
		timer_add(&st->timers, RECKON_NS, reckon, p);
	if (pr->by == SAMPLED_BY_STOPS)
		timer_add(
		    &st->timers, pr->period, pr->tick ? fire_tick : turn, p);
}

static void
disable(struct state *st, struct probe *p)
{
	const struct profile *pr = p->data;

	if (pr->by != SAMPLED_BY_STOPS)
		records_end(st, pr->wish);
	if (pr->by == SAMPLED_USER)
		timer_set_period(&st->timers, reckon, p, 0);
	if (pr->by == SAMPLED_BY_STOPS || pr->rest)
		timer_set_period(
		    &st->timers, pr->tick ? fire_tick : turn, p, 0);
}

static void
destroy(struct probe *p)
{
	mem_free(p->data);
}

const struct provider prov_profile = {
	.name = "profile",
	.stability = STABILITY("Evolving", "Common"),
	.init = init,
	.provide = provide,
	.follows = true,
	.aside = aside,
	.enable = enable,
	.disable = disable,
	.destroy = destroy,
};
