/*
 * tracer/ptrace/ halt and queue: all threads of a space are stopped before its
 * text is changed, and none is waited for that cannot stop now; what stops
 * meanwhile is reported later, in order.  The kernel is a double, so the files
 * themselves are included below.
 */
#include <check.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/fault.h"
#include "dlang/base/str.h"
#include "inject/tracepoint.h"
#include "t/unit/suite.h"
#include "tracer/ptrace/super.h"

#define THREADS 3
#define TEXT    UINT64_C(0x7000)
#define NEVER   1000000

/* What the kernel knows of a thread. */
static struct {
	unsigned stops_after; /* so many looks, once it is interrupted */
	char state;           /* in /proc */
	uint64_t flags;       /* of the clone() in which it sleeps */
	bool clones;
	bool ghost; /* the tracer is somebody else */
	bool gone;  /* no status of it can be read */
	unsigned interrupts, lost;
} kernel[THREADS];

static struct super tracer;
static struct space space;
static struct proc proc;
static struct thread threads[THREADS];
static unsigned n_stands;
static long slept;            /* ns */
static void (*at_take)(void); /* once, at the next event_take() */
static struct str done;       /* a word for each call */

static unsigned
number(const struct thread *th)
{
	return (unsigned)(th - threads);
}

static int
double_interrupt(struct thread *th)
{
	kernel[number(th)].interrupts++;
	stop_ask(th, false);
	str_printf(&done, "interrupt%u ", number(th));
	return 0;
}

static void
double_take_of(struct thread *th)
{
	unsigned n = number(th);

	ck_assert(thread_runs(th));
	if (kernel[n].stops_after > 0) {
		kernel[n].stops_after--;
		return;
	}
	stop_begin(th);
	stop_is(th, EV_STOP);
}

static bool
double_take(const struct super *su)
{
	ck_assert_ptr_eq(su, &tracer);
	void (*what)(void) = at_take;

	at_take = NULL;
	if (what != NULL)
		what();
	return what != NULL;
}

static int
double_nap(const struct timespec *ts)
{
	ck_assert_int_eq(ts->tv_sec, 0);
	/* A thread that stops is noticed soon. */
	ck_assert_int_le(ts->tv_nsec, 1000000);
	ck_assert_int_gt(ts->tv_nsec, 0);
	slept += ts->tv_nsec;
	ck_assert_int_lt(slept, 3000000000L);
	return 0;
}

static int
double_status(pid_t tid, struct proc_status *st)
{
	if (kernel[tid].gone)
		return -ESRCH;
	st->tracer = kernel[tid].ghost ? 1 : getpid();
	return 0;
}

static int
double_syscall(pid_t tid, int64_t *nr, uint64_t args[6])
{
	*nr = kernel[tid].clones ? 56 : 0;
	args[0] = kernel[tid].flags;
	return 0;
}

static int
double_stat(pid_t tid, unsigned n, uint64_t *value)
{
	ck_assert_uint_eq(n, 39);
	*value = 5;
	return tid == 2 ? -ESRCH : 0;
}

static void
double_lost(struct thread *th)
{
	kernel[number(th)].lost++;
	stop_gone(th);
}

static uint64_t calls_flags; /* as regs_set_syscall() has got them */

/* ---- pending traps ---- */

static struct uregs its_regs;
static bool is_dead;       /* the registers cannot be read */
static uint64_t int3_at;   /* of ours */
static uint64_t code_at;   /* the trap in the code of a site */
static uint64_t recent_at; /* an int3 that was removed */
static unsigned others;    /* stops that come before that for the trap */
static bool pending;
static int run_error, wait_error;

static int
double_wait(const struct thread *th, int *status)
{
	str_add(&done, "wait ");
	*status = 0x57f;
	return wait_error;
}

static void
double_note(pid_t tid, int status)
{
	ck_assert_int_eq(status, 0x57f);
	str_printf(&done, "note%d ", (int)tid);
	if (others == 0)
		pending = false;
	else
		others--;
}

static int
double_run_to_trap(const struct thread *th)
{
	str_printf(&done, "trap%u ", number(th));
	return run_error;
}

static struct tracepoint tracepoint;

#define thread_interrupt(th)           double_interrupt(th)
#define event_take_of(th)              double_take_of(th)
#define event_take(sup)                double_take(sup)
#define event_lost(th)                 double_lost(th)
#define event_wait_thread(th, st)      double_wait(th, st)
#define event_note(sup, tid, st)       double_note(tid, st)
#define nanosleep(ts, rest)            double_nap(ts)
#define procfs_state(tid)              kernel[tid].state
#define procfs_status(tid, st)         double_status(tid, st)
#define procfs_syscall(tid, nr, a)     double_syscall(tid, nr, a)
#define procfs_stat(tid, n, value)     double_stat(tid, n, value)
#define regs_call_clones(nr)           ((nr) == 56)
#define regs_set_syscall(r, at, nr, a) ((void)(r), calls_flags = (a)[0])
#define regs_set_syscall_nr(r, nr)     ((void)0)
#define regs_clone_flags(r, mem)       calls_flags
#define space_stands(sp)               n_stands++
#define thread_run(th)                 str_printf(&done, "run%u ", number(th))
#define thread_regs(th)                (is_dead ? NULL : &its_regs)
#define thread_trap_pending(th)        pending
#define thread_run_to_trap(th)         double_run_to_trap(th)
#define tracepoint_lookup(tab, addr)   ((addr) == int3_at ? &tracepoint : NULL)
#define stubs_trap(tab, addr)          ((addr) == code_at)
#define tracepoint_recent(tab, addr)   ((addr) == recent_at)
#include "tracer/ptrace/halt.c"
#include "tracer/ptrace/queue.c"

static void
setup(void)
{
	space.super = &tracer;
	proc.super = &tracer;
	proc.space = &space;
	*vec_push(&space.procs) = &proc;
	for (unsigned i = 0; i < THREADS; i++) {
		threads[i].tid = (pid_t)i;
		threads[i].proc = &proc;
		threads[i].stop.state = TH_RUNNING;
		kernel[i].state = 'S';
		*vec_push(&proc.threads) = &threads[i];
	}
}

static void
teardown(void)
{
	vec_fini(&space.procs);
	vec_fini(&proc.threads);
	vec_fini(&tracer.queue);
	str_fini(&done);
}

static void
expect(const char *want)
{
	ck_assert_str_eq(str_c(&done), want);
	str_clear(&done);
}

static bool
all_stopped(void)
{
	for (unsigned i = 0; i < THREADS; i++)
		if (!thread_stopped(&threads[i]))
			return false;
	return true;
}

/* ---- stopping ---- */

START_TEST(running_threads_are_stopped)
{
	threads[1].stop.state = TH_STOPPED;
	threads[2].stop.state = TH_LISTENING;
	space_stop(&space);
	ck_assert(all_stopped());
	expect("interrupt0 interrupt2 ");
	ck_assert_uint_eq(n_stands, 2); /* the time of the stop is taken */
	ck_assert_int_eq(slept, 0);
	ck_assert_uint_eq(space.stops, 1);
}
END_TEST

START_TEST(stops_nest)
{
	space_stop(&space);
	expect("interrupt0 interrupt1 interrupt2 ");
	space_stop(&space);
	expect("");
	ck_assert_uint_eq(space.stops, 2);
}
END_TEST

START_TEST(a_slow_thread_is_waited_for)
{
	kernel[1].stops_after = 100;
	space_stop(&space);
	ck_assert(all_stopped());
	ck_assert_uint_eq(kernel[1].interrupts, 1);
	ck_assert_int_gt(slept, 20000000);
}
END_TEST

static void
is_born(void)
{
	threads[2].stop.state = TH_RUNNING;
	*vec_push(&proc.threads) = &threads[2];
}

START_TEST(a_thread_that_appears_meanwhile_is_stopped_too)
{
	proc.threads.len = 2;
	at_take = is_born;
	space_stop(&space);
	ck_assert(all_stopped());
	ck_assert_uint_eq(kernel[2].interrupts, 1);
}
END_TEST

START_TEST(a_thread_that_is_gone_is_not_waited_for)
{
	threads[0].stop.state = TH_GONE;
	space_stop(&space);
	expect("interrupt1 interrupt2 ");
}
END_TEST

/* A page that is read, or a lock in the kernel. */
START_TEST(a_short_sleep_is_waited_for)
{
	kernel[0].state = 'D';
	kernel[0].stops_after = 15;
	space_stop(&space);
	ck_assert(all_stopped());
	ck_assert(!threads[0].stop.asleep);
	ck_assert_int_lt(slept, 20000000);
}
END_TEST

START_TEST(a_long_sleep_is_not)
{
	static const char states[] = { 'D', 'Z', 'X', '\0' };

	for (size_t i = 0; i < sizeof(states); i++) {
		kernel[0].state = states[i];
		kernel[0].stops_after = NEVER;
		slept = 0;
		space_await(&space);
		ck_assert(threads[0].stop.asleep);
		ck_assert_int_ge(slept, 20000000);
		ck_assert_int_lt(slept, 25000000);
		stop_sleeps(&threads[0], false);
	}
}
END_TEST

/* It may have woken up since. */
START_TEST(one_that_slept_is_asked_again)
{
	stop_sleeps(&threads[0], true);
	space_stop(&space);
	ck_assert(all_stopped());
	ck_assert_uint_eq(kernel[0].interrupts, 1);
}
END_TEST

START_TEST(the_parent_of_a_vfork_is_not_waited_for)
{
	kernel[0].state = 'D';
	kernel[0].clones = true;
	kernel[0].flags = CLONE_VFORK | CLONE_VM;
	kernel[0].stops_after = NEVER;
	threads[0].stop.life = LIFE_VFORK;
	space_stop(&space);
	ck_assert(threads[0].stop.asleep);
	ck_assert_int_eq(slept, 0);
}
END_TEST

START_TEST(the_parent_of_a_vfork_is_waited_for_when_it_runs)
{
	threads[0].stop.life = LIFE_VFORK;
	kernel[0].stops_after = 3;
	space_stop(&space);
	ck_assert(all_stopped());
}
END_TEST

START_TEST(a_thread_that_ends_is_not_waited_for)
{
	threads[0].stop.life = LIFE_ENDS;
	kernel[0].stops_after = NEVER;
	space_stop(&space);
	ck_assert(threads[0].stop.asleep);
	ck_assert_int_eq(slept, 0);
}
END_TEST

/* Its child would have our int3s, or would not be known. */
START_TEST(one_that_makes_a_process_is_waited_for_long)
{
	kernel[0].state = 'D';
	kernel[0].clones = true;
	kernel[0].stops_after = NEVER;
	space_stop(&space);
	ck_assert(threads[0].stop.asleep);
	ck_assert_int_ge(slept, 1000000000);
	ck_assert_int_lt(slept, 1005000000);
}
END_TEST

START_TEST(a_leader_that_an_exec_has_taken_over_is_lost)
{
	kernel[0].ghost = true;
	kernel[0].stops_after = NEVER;
	space_stop(&space);
	ck_assert_uint_eq(kernel[0].lost, 1);
	ck_assert(thread_gone(&threads[0]));
	ck_assert_int_ge(slept, 20000000);
}
END_TEST

START_TEST(a_thread_that_is_traced_is_no_ghost)
{
	ck_assert(!thread_is_ghost(&threads[0]));
	kernel[0].ghost = true;
	ck_assert(thread_is_ghost(&threads[0]));
	threads[0].stop.state = TH_STOPPED;
	ck_assert(!thread_is_ghost(&threads[0]));
	kernel[1].ghost = kernel[1].gone = true;
	ck_assert(!thread_is_ghost(&threads[1]));
}
END_TEST

/* ---- single threads ---- */

START_TEST(a_signal_is_delivered_before_the_next_instruction)
{
	thread_deliver(&threads[1]); /* it was killed */
	expect("");
	threads[1].stop.state = TH_STOPPED;
	thread_deliver(&threads[1]);
	expect("interrupt1 run1 wait note1 ");
	wait_error = -ESRCH;
	thread_deliver(&threads[1]);
	expect("interrupt1 run1 wait ");
}
END_TEST

START_TEST(where_a_thread_runs)
{
	ck_assert_int_eq(thread_cpu(&threads[1]), 5);
	ck_assert_int_eq(thread_cpu(&threads[2]), -1);
}
END_TEST

START_TEST(where_traps_are_ours)
{
	struct tptable *tab = (struct tptable *)&done;

	int3_at = TEXT;
	code_at = TEXT + 1;
	recent_at = TEXT + 2;
	ck_assert(text_is_trapped(tab, TEXT));
	ck_assert(text_is_trapped(tab, TEXT + 1));
	ck_assert(text_is_trapped(tab, TEXT + 2));
	ck_assert(!text_is_trapped(tab, TEXT + 3));
	ck_assert(!text_is_trapped(NULL, TEXT));
}
END_TEST

/* The thread was interrupted when it had just executed an int3. */
static struct thread *
traps(void)
{
	struct thread *th = &threads[0];

	th->stop.state = TH_STOPPED;
	th->stop.kind = EV_STOP;
	space.tab = (struct tptable *)&done;
	int3_at = TEXT;
	its_regs.r[UREG_PC] = TEXT + TRAP_PC_AFTER;
	pending = true;
	return th;
}

START_TEST(a_pending_trap_is_taken)
{
	thread_take_trap(traps());
	expect("trap0 wait note0 ");
	traps()->stop.kind = EV_GROUP_STOP;
	thread_take_trap(&threads[0]);
	expect("trap0 wait note0 ");
}
END_TEST

START_TEST(the_stop_of_an_interrupt_may_come_first)
{
	others = 1;
	thread_take_trap(traps());
	expect("trap0 wait note0 trap0 wait note0 ");
	/* But it does not try for ever. */
	others = 100;
	thread_take_trap(traps());
	expect("trap0 wait note0 trap0 wait note0 trap0 wait note0 ");
}
END_TEST

START_TEST(the_trap_of_a_debug_register_is_taken)
{
	struct thread *th = traps();

	its_regs.r[UREG_PC] = TEXT + 50;
	th->regs.watch = TEXT + 50;
	thread_take_trap(th);
	expect("trap0 wait note0 ");
}
END_TEST

START_TEST(without_a_trap_nothing_is_run)
{
	struct thread *th = traps();

	pending = false;
	thread_take_trap(th);
	its_regs.r[UREG_PC] = TEXT + 50; /* no int3 was there */
	thread_take_trap(traps());
	expect("trap0 wait note0 ");
	traps();
	its_regs.r[UREG_PC] = TEXT + 50;
	thread_take_trap(th);
	traps();
	space.tab = NULL;
	thread_take_trap(th);
	traps();
	th->stop.kind = EV_SIGNAL;
	thread_take_trap(th);
	traps();
	th->stop.state = TH_RUNNING;
	thread_take_trap(th);
	traps();
	is_dead = true;
	thread_take_trap(th);
	expect("");
}
END_TEST

START_TEST(a_thread_that_is_killed_meanwhile)
{
	run_error = -ESRCH;
	thread_take_trap(traps());
	expect("trap0 ");
	run_error = 0;
	wait_error = -ESRCH;
	thread_take_trap(traps());
	expect("trap0 wait ");
}
END_TEST

/* ---- the queue ---- */

static void
push(unsigned n, enum event_kind kind, struct thread *child)
{
	event_push(&tracer,
	    &(struct event){
		.kind = kind, .thread = &threads[n], .child = child });
}

static struct event
pop(void)
{
	struct event ev = { 0 };

	ck_assert(event_pop(&tracer, &ev));
	return ev;
}

START_TEST(events_come_in_order)
{
	struct event ev;

	ck_assert(!event_pop(&tracer, &ev));
	push(0, EV_STOP, NULL);
	push(1, EV_TRAP, NULL);
	push(0, EV_EXIT, NULL);
	ck_assert_uint_eq(threads[0].stop.queued, 2);
	ck_assert_int_eq(pop().kind, EV_STOP);
	ck_assert_uint_eq(threads[0].stop.queued, 1);
	push(2, EV_SIGNAL, NULL);
	ck_assert_int_eq(pop().kind, EV_TRAP);
	ck_assert_int_eq(pop().kind, EV_EXIT);
	ck_assert_int_eq(pop().kind, EV_SIGNAL);
	ck_assert(!event_pop(&tracer, &ev));
	ck_assert_uint_eq(threads[0].stop.queued, 0);
	/* What was returned takes no memory. */
	ck_assert_uint_eq(tracer.queue.len, 0);
}
END_TEST

START_TEST(events_of_a_process_are_forgotten)
{
	struct proc other = { .super = &tracer };
	struct event ev;

	threads[1].proc = &other;
	push(1, EV_STOP, NULL); /* returned before */
	push(1, EV_TRAP, NULL);
	push(0, EV_CLONE, &threads[1]);
	push(0, EV_CLONE, &threads[2]);
	push(1, EV_EXIT, NULL);
	pop();
	event_purge(&tracer, &other);
	ck_assert_uint_eq(threads[1].stop.queued, 0);
	ev = pop();
	ck_assert_ptr_eq(ev.thread, &threads[0]);
	ck_assert_ptr_null(ev.child);
	ev = pop();
	ck_assert_ptr_eq(ev.child, &threads[2]);
	ck_assert(!event_pop(&tracer, &ev));
	/* Nothing is left of them, nor of those that were returned. */
	push(0, EV_STOP, NULL);
	push(1, EV_STOP, NULL);
	pop();
	event_purge(&tracer, &other);
	ck_assert(!event_pop(&tracer, &ev));
	push(0, EV_TRAP, NULL);
	ck_assert_int_eq(pop().kind, EV_TRAP);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		running_threads_are_stopped,
		stops_nest,
		a_slow_thread_is_waited_for,
		a_thread_that_appears_meanwhile_is_stopped_too,
		a_thread_that_is_gone_is_not_waited_for,
		a_short_sleep_is_waited_for,
		a_long_sleep_is_not,
		one_that_slept_is_asked_again,
		the_parent_of_a_vfork_is_not_waited_for,
		the_parent_of_a_vfork_is_waited_for_when_it_runs,
		a_thread_that_ends_is_not_waited_for,
		one_that_makes_a_process_is_waited_for_long,
		a_leader_that_an_exec_has_taken_over_is_lost,
		a_thread_that_is_traced_is_no_ghost,
		a_signal_is_delivered_before_the_next_instruction,
		where_a_thread_runs,
		where_traps_are_ours,
		a_pending_trap_is_taken,
		the_stop_of_an_interrupt_may_come_first,
		the_trap_of_a_debug_register_is_taken,
		without_a_trap_nothing_is_run,
		a_thread_that_is_killed_meanwhile,
		events_come_in_order,
		events_of_a_process_are_forgotten,
	};

	return suite_run("halt", setup, teardown, tests, ARRAY_SIZE(tests));
}
