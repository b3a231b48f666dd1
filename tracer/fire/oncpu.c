/*
 * Which threads run on processors; see oncpu.h.
 *
 * To stop a thread that runs on another processor, the kernel sets a flag and
 * sends an interrupt. Until the interrupt arrives (a microsecond on hardware,
 * tens of them in a virtual machine), the thread continues, and it stops at the
 * end of a system call if it makes one. This biases samples: a thread that
 * spent 2 % of its time in getppid() was found there in 85 of 100 samples. An
 * interrupt of the processor's own timer has no such delay: it finds the thread
 * where it is, and the tracer, which it wakes on that processor, runs next. The
 * thread has then been preempted and is stopped before it continues, wherever
 * it is.
 *
 * Of several threads on that processor, only one has run since the tracer
 * looked, because the tracer itself had the processor then: the thread whose
 * processor time has grown.  It may have lost the processor to another program
 * before the tracer came, and does so at the end of a system call if that program
 * was woken from elsewhere, for the reason above.  Then it has waited longer than
 * since the tracer came, which shows when it stops (was_waiting() in profile.c).
 *
 * A thread that did not run when the tracer looked, and now runs on another
 * processor, is stopped from the tracer's processor, at every `turns'th sample.
 * One that ran then and has moved is left to the next sample. All threads are
 * stopped at once if the tracer may not run on their processors, if there are
 * more than MANY processors to visit, or if the kernel keeps no processor
 * times.
 */
#include "tracer/fire/oncpu.h"

#include "dlang/base/clock.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/procfs.h"
#include "tracer/ptrace/processor.h"
#include "tracer/base/state.h"

/* A visit takes two context switches and a migration. */
#define MANY 8

/* The shortest sampling period in which a visit is possible: the look, the
 * migration and the stop. */
#define PERIOD_MIN (2 * ONCPU_LEAD)

/* What is kept for each thread. */
struct turn {
	uint64_t looked, ran; /* which look found it running last, and how long
			       * it had run by then, ns */
	bool owes;
};

static const struct part turn_part = { .size = sizeof(struct turn) };

static struct turn *
turn_of(struct thread *th)
{
	return part_of(&th->parts, &turn_part);
}

void
oncpu_owes(struct thread *th, bool owes)
{
	turn_of(th)->owes = owes;
}

/*
 * The processor that a thread uses, or -1. A thread that waits at a tracepoint
 * counts as using one; it is sampled when its hit is handled. So does a thread
 * that was asked to stop, since it was running then.
 */
static int
where(const struct thread *th)
{
	char state;
	int cpu;
	const struct turn *t = part_had(&th->parts, &turn_part);
	bool would = (t != NULL && t->owes) ||
	    (thread_stopped(th) && th->stop.kind == EV_TRAP);

	if (!would && !thread_runs(th))
		return -1;
	if (procfs_where(th->tid, &state, &cpu) != 0)
		return -1;
	return would || state == 'R' ? cpu : -1;
}

/* Call fn for each thread that uses a processor. */
static void
each(struct state *st, void (*fn)(struct oncpu *, struct thread *, int, void *),
    void *arg)
{
	struct proc *p = NULL;

	while ((p = super_next(st->super, p)) != NULL)
		vec_foreach(th, &p->threads) {
			int cpu = where(*th);
			if (cpu >= 0 && cpu < CPU_SETSIZE)
				fn(st->oncpu, *th, cpu, arg);
		}
}

static void
mark(struct oncpu *o, struct thread *th, int cpu, void *arg)
{
	CPU_SET((unsigned)cpu, &o->busy);
	turn_of(th)->looked = o->looks;
	turn_of(th)->ran = UINT64_MAX;
}

/* Record the processor time so far of each thread on the processor whose turn
 * it is. */
static void
note(struct oncpu *o, struct thread *th, int cpu, void *arg)
{
	struct procfs_sched s;
	bool *kept = arg;

	if (cpu != o->cpu)
		return;
	if (procfs_sched(th->tid, &s) != 0) {
		*kept = false;
		return;
	}
	turn_of(th)->looked = o->looks;
	turn_of(th)->ran = s.ran;
}

static int
next_of(const cpu_set_t *set, int cpu)
{
	do
		cpu = (cpu + 1) % CPU_SETSIZE;
	while (!CPU_ISSET((unsigned)cpu, set));
	return cpu;
}

/* Move the tracer to the next processor. False if that is not possible. */
static bool
visit(struct state *st, uint64_t period)
{
	struct oncpu *o = st->oncpu;
	int busy = CPU_COUNT(&o->busy);
	bool kept = true;

	if (busy == 0 || busy > MANY || period / (unsigned)busy < PERIOD_MIN ||
	    !processor_may_visit(st->processor, &o->busy))
		return false;
	o->cpu = next_of(&o->busy, o->cpu);
	o->turns = (unsigned)busy;
	if (!processor_visit(st->processor, o->cpu))
		return false;
	each(st, note, &kept);
	return kept;
}

/* The tracer's time on processors, ns.  Since the look it had the processor for
 * so long before it slept and after it woke: an upper bound for the latter. */
static uint64_t
own_time(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void
oncpu_look(struct state *st, uint64_t period)
{
	struct oncpu *o = st->oncpu;

	if (o->waiting++ > 0)
		return;
	o->looks++;
	CPU_ZERO(&o->busy);
	each(st, mark, NULL);
	if (visit(st, period)) {
		processor_hurry(st->processor, true);
		o->used = own_time();
		return;
	}
	processor_hurry(st->processor, false);
	o->cpu = -1;
	o->turns = 1;
}

struct search {
	oncpu_threads *out;
	oncpu_threads fresh; /* run on this processor now, and did not at the
			      * look */
	struct thread
	    *ran; /* the one of the others that has run longest since */
	uint64_t longest;
};

static void
add(oncpu_threads *to, struct thread *th, uint64_t late)
{
	*vec_push(to) = (struct oncpu_thread){ .thread = th, .late = late };
}

/* Sort the thread into the search, if it runs on the processor whose turn it
 * is. */
static void
judge(struct oncpu *o, struct thread *th, struct search *s)
{
	const struct turn *t = turn_of(th);
	struct procfs_sched now;

	if (thread_stopped(th)) {
		add(s->out, th, 0);
	} else if (t->looked != o->looks || t->ran == UINT64_MAX) {
		add(&s->fresh, th, ONCPU_LATE);
	} else if (procfs_sched(th->tid, &now) == 0 &&
	    now.ran - t->ran > s->longest) {
		s->longest = now.ran - t->ran;
		s->ran = th;
	}
}

static void
find(struct oncpu *o, struct thread *th, int cpu, void *arg)
{
	struct search *s = arg;

	if (cpu == o->cpu)
		judge(o, th, s);
	else if (o->cpu < 0 ||
	    (turn_of(th)->looked != o->looks && o->looks % o->turns == 0))
		add(s->out, th, ONCPU_LATE);
}

void
oncpu_find(struct state *st, oncpu_threads *out)
{
	struct search s = { .out = out };
	uint64_t late = own_time() - st->oncpu->used;

	each(st, find, &s);
	/* A new thread may have preempted the other one, or wait for the
	 * processor: sample it too. */
	if (s.ran != NULL)
		add(out, s.ran, late);
	else
		vec_foreach(f, &s.fresh)
			add(out, f->thread, f->late);
	vec_fini(&s.fresh);
	if (--st->oncpu->waiting == 0)
		processor_calm(st->processor);
}
