/*
 * tracer/ptrace/restart: which calls a stop by dtrap does not end, when their time
 * is over, and what a detach does with a call.  The clock, the registers and the
 * memory are doubles, so the file itself is included below.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/clock.h"
#include "t/unit/suite.h"
#include "tracer/ptrace/super.h"

#define CALL UINT64_C(0x1000) /* where the call is made */
#define SPEC UINT64_C(0x2000) /* a struct timespec in memory */
#define RING UINT64_C(0x3000) /* io_uring_enter()'s argument */

static struct super tracer;
static struct space space;
static struct proc proc;
static struct thread thread;
static struct uregs its_regs;
static bool is_dead; /* the registers cannot be read */

/* What the registers say of the call. */
static int64_t its_nr, its_result;
static uint64_t its_args[6];
static bool dirty, redone;
static unsigned interrupts;

static int64_t clock_ms;
static struct timespec spec;
static struct proc_status its;
static int status_error;

static int
double_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	const uint64_t ring[3] = { 0, 8, SPEC };

	if (addr == SPEC && len == sizeof(spec))
		memcpy(buf, &spec, len);
	else if (addr == RING && len == sizeof(ring))
		memcpy(buf, ring, len);
	else
		return -EFAULT;
	return 0;
}

static int
double_status(pid_t tid, struct proc_status *out)
{
	ck_assert_int_eq(tid, thread.tid);
	*out = its;
	return status_error;
}

#define clock_ns(id)               ((uint64_t)(clock_ms * 1000000 + 999999))
#define thread_regs(th)            (is_dead ? NULL : &its_regs)
#define thread_regs_dirty(th)      (dirty = true)
#define thread_interrupt(th)       interrupts++
#define procfs_status(tid, out)    double_status(tid, out)
#define regs_result(r)             (ck_regs(r), its_result)
#define regs_set_result(r, value)  (ck_regs(r), its_result = (value))
#define regs_syscall_nr(r)         (ck_regs(r), its_nr)
#define regs_syscall_args(r, args) (ck_regs(r), memcpy(args, its_args, 48))
#define regs_redo_syscall(r)       (ck_regs(r), redone = true)

static void
ck_regs(const struct uregs *r)
{
	ck_assert_ptr_eq(r, &its_regs);
}

static bool had; /* the registers were fetched before */
#define thread_regs_had(th) (had ? &its_regs : NULL)
#include "tracer/ptrace/restart.c"

static void
setup(void)
{
	thread.tid = getpid();
	proc.pid = getpid();
	proc.super = &tracer;
	proc.space = &space;
	thread.proc = &proc;
	space.mem.read = double_read;
	clock_ms = 5000;
	hash_set(&tracer.threads, 1, &thread);
}

static void
teardown(void)
{
	hash_fini(&tracer.threads);
}

/* The thread makes this call. */
static void
calls_with(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	its_nr = thread.call.nr = (int)nr;
	memcpy(its_args, ((uint64_t[6]){ a, b, c, d, d }), sizeof(its_args));
	thread.stop.kind = EV_STOP;
	thread.stop.sig = 0;
	its_regs.r[UREG_PC] = CALL;
	its_regs.r[UREG_SP] = 0x7000;
}

/* A stop comes `after' ms and interrupts the call: what it returns then. */
static int64_t
stops(int64_t after)
{
	clock_ms += after;
	its_result = -EINTR;
	dirty = false;
	thread_restart_call(&thread);
	ck_assert(dirty == (its_result != -EINTR));
	return its_result;
}

/* ---- which calls ---- */

START_TEST(calls_that_would_end_are_restarted)
{
	static const int ended[] = { SYS_epoll_pwait, SYS_semop, SYS_msgsnd,
		SYS_msgrcv, SYS_rt_sigtimedwait, SYS_semtimedop,
		SYS_io_getevents };

	for (size_t i = 0; i < ARRAY_SIZE(ended); i++) {
		calls_with(ended[i], 0, 0, 0, (uint64_t)-1);
		if (ended[i] == SYS_semtimedop)
			its_args[3] = 0; /* no time limit */
		/* However often, however long. */
		for (int n = 0; n < 50; n++)
			ck_assert_int_eq(stops(300), -ERESTARTNOHAND);
	}
	ck_assert_uint_eq(interrupts, 0);
}
END_TEST

START_TEST(other_calls_are_left_alone)
{
	calls_with(SYS_pause, 0, 0, 0, 0);
	ck_assert_int_eq(stops(1), -EINTR);
	calls_with(-1, 0, 0, 0, 0);
	ck_assert_int_eq(stops(1), -EINTR);
	calls_with(99999, 0, 0, 0, 0);
	ck_assert_int_eq(stops(1), -EINTR);
	calls_with(SYS_semop, 0, 0, 0, 0);
	its_result = -EAGAIN;
	thread_restart_call(&thread);
	ck_assert_int_eq(its_result, -EAGAIN);
	is_dead = true;
	ck_assert_int_eq(stops(1), -EINTR);
}
END_TEST

START_TEST(a_signal_restarts_it_and_a_trap_does_not)
{
	calls_with(SYS_semop, 0, 0, 0, 0);
	thread.stop.kind = EV_SIGNAL;
	thread.stop.sig = SIGWINCH;
	ck_assert_int_eq(stops(1), -ERESTARTNOHAND);
	thread.stop.kind = EV_TRAP;
	thread.stop.sig = 0; /* an int3: it is not in a call */
	ck_assert_int_eq(stops(1), -EINTR);
	thread.stop.sig = SIGTRAP;
	ck_assert_int_eq(stops(1), -ERESTARTNOHAND);
	thread.stop.kind = EV_SYSCALL_ENTER;
	ck_assert_int_eq(stops(1), -EINTR);
	thread.stop.kind = EV_EXIT;
	ck_assert_int_eq(stops(1), -EINTR);
}
END_TEST

/* The kernel looks at the result only if a signal or an interrupt is pending. */
START_TEST(at_the_exit_stop_it_is_interrupted)
{
	calls_with(SYS_semop, 0, 0, 0, 0);
	thread.stop.kind = EV_SYSCALL_EXIT;
	ck_assert_int_eq(stops(1), -ERESTARTNOHAND);
	ck_assert_uint_eq(interrupts, 1);
	/* Registers are not fetched at the exits of other calls. */
	thread.call.nr = SYS_getpid;
	ck_assert_int_eq(stops(1), -EINTR);
	had = true;
	ck_assert_int_eq(stops(1), -ERESTARTNOHAND);
}
END_TEST

START_TEST(job_control_ends_it)
{
	static const int by[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };

	calls_with(SYS_semop, 0, 0, 0, 0);
	thread.stop.kind = EV_GROUP_STOP;
	ck_assert_int_eq(stops(1), -EINTR);
	thread.stop.kind = EV_SIGNAL;
	for (size_t i = 0; i < ARRAY_SIZE(by); i++) {
		thread.stop.sig = by[i];
		ck_assert_int_eq(stops(1), -EINTR);
	}
	/* A SIGCONT that continued nothing. */
	thread.stop.sig = SIGCONT;
	ck_assert_int_eq(stops(1), -ERESTARTNOHAND);
}
END_TEST

START_TEST(the_end_of_a_group_stop_ends_it)
{
	calls_with(SYS_semop, 0, 0, 0, 0);
	restart_event_stop(&thread, true);
	ck_assert_int_eq(stops(1), -EINTR);
	thread.stop.kind = EV_SIGNAL;
	thread.stop.sig = SIGCONT;
	ck_assert_int_eq(stops(1), -EINTR);
	/* That was its only one. */
	ck_assert_int_eq(stops(1), -ERESTARTNOHAND);
	thread.stop.kind = EV_STOP;
	ck_assert_int_eq(stops(1), -ERESTARTNOHAND);
	restart_event_stop(&thread, true);
	restart_event_stop(&thread, false);
	ck_assert_int_eq(stops(1), -ERESTARTNOHAND);
}
END_TEST

/* ---- time limits ---- */

START_TEST(a_time_limit_counts_from_the_first_stop)
{
	calls_with(SYS_epoll_pwait, 0, 0, 0, 100);
	ck_assert_int_eq(stops(0), -ERESTARTNOHAND);
	ck_assert_int_eq(stops(60), -ERESTARTNOHAND);
	ck_assert_int_eq(stops(39), -ERESTARTNOHAND);
	ck_assert_int_eq(stops(1), 0); /* as if its time was over */
	/* Then it is called again. */
	ck_assert_int_eq(stops(5), -ERESTARTNOHAND);
	ck_assert_int_eq(stops(60), -ERESTARTNOHAND);
	ck_assert_int_eq(stops(40), 0);
}
END_TEST

/* It has ended meanwhile by itself. */
START_TEST(after_the_limit_it_is_another_call)
{
	calls_with(SYS_epoll_pwait, 0, 0, 0, 100);
	ck_assert_int_eq(stops(0), -ERESTARTNOHAND);
	ck_assert_int_eq(stops(100), -ERESTARTNOHAND);
	ck_assert_int_eq(stops(99), -ERESTARTNOHAND);
	ck_assert_int_eq(stops(1), 0);
}
END_TEST

START_TEST(at_another_place_it_is_another_call)
{
	calls_with(SYS_epoll_pwait, 0, 0, 0, 100);
	stops(0);
	stops(60);
	its_regs.r[UREG_PC] += 2;
	ck_assert_int_eq(stops(60), -ERESTARTNOHAND);
	its_regs.r[UREG_SP] -= 64;
	ck_assert_int_eq(stops(60), -ERESTARTNOHAND);
	ck_assert_int_eq(stops(60), -ERESTARTNOHAND);
	ck_assert_int_eq(stops(60), 0);
}
END_TEST

/* What it returns after 3 s of stops. */
static int64_t
ends_with(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	int64_t r;

	calls_with(nr, a, b, c, d);
	thread.restart = (struct restart){ 0 };
	for (int n = 0; n < 15; n++)
		if ((r = stops(200)) != -ERESTARTNOHAND)
			return r;
	return -ERESTARTNOHAND;
}

START_TEST(what_a_call_returns_when_its_time_is_over)
{
	spec = (struct timespec){ 1, 500000000 };
	ck_assert_int_eq(
	    ends_with(SYS_rt_sigtimedwait, 0, 0, SPEC, 0), -EAGAIN);
	ck_assert_int_eq(ends_with(SYS_semtimedop, 0, 0, 0, SPEC), -EAGAIN);
	ck_assert_int_eq(ends_with(SYS_io_getevents, 0, 0, 0, SPEC), 0);
	ck_assert_int_eq(
	    ends_with(SYS_io_uring_enter, 0, 0, 0, 0), -ERESTARTNOHAND);
	calls_with(SYS_io_uring_enter, 0, 0, 0, 8);
	its_args[4] = RING;
	thread.restart = (struct restart){ 0 };
	ck_assert_int_eq(stops(0), -ERESTARTNOHAND);
	ck_assert_int_eq(stops(1400), -ERESTARTNOHAND);
	ck_assert_int_eq(stops(100), -ETIME);
	/* Its argument is a mask without that flag, or cannot be read. */
	its_args[3] = 0;
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(stops(1400), -ERESTARTNOHAND);
	its_args[3] = 8;
	its_args[4] = RING + 8;
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(stops(1400), -ERESTARTNOHAND);
}
END_TEST

START_TEST(a_limit_in_parts_of_a_second)
{
	spec = (struct timespec){ 0, 250000000 };
	calls_with(SYS_rt_sigtimedwait, 0, 0, SPEC, 0);
	stops(0);
	stops(200);
	ck_assert_int_eq(stops(49), -ERESTARTNOHAND);
	ck_assert_int_eq(stops(1), -EAGAIN);
}
END_TEST

START_TEST(a_limit_that_is_none)
{
	spec = (struct timespec){ (time_t)INT32_MAX + 1, 0 };
	ck_assert_int_eq(
	    ends_with(SYS_rt_sigtimedwait, 0, 0, SPEC, 0), -ERESTARTNOHAND);
	/* The kernel answers EFAULT by itself. */
	ck_assert_int_eq(
	    ends_with(SYS_rt_sigtimedwait, 0, 0, SPEC + 8, 0), -ERESTARTNOHAND);
	ck_assert_int_eq(
	    ends_with(SYS_rt_sigtimedwait, 0, 0, 0, 0), -ERESTARTNOHAND);
}
END_TEST

START_TEST(sockets_have_limits)
{
	const struct timeval second = { 1, 200000 }, half = { 0, 500000 };
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	ck_assert_int_eq(setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &second,
			     sizeof(second)),
	    0);
	ck_assert_int_eq(
	    setsockopt(fds[0], SOL_SOCKET, SO_SNDTIMEO, &half, sizeof(half)),
	    0);
	uint64_t fd = (uint64_t)fds[0];
	calls_with(SYS_recvfrom, fd, 0, 0, 0);
	stops(0);
	ck_assert_int_eq(stops(1100), -ERESTARTNOHAND);
	ck_assert_int_eq(stops(100), -EAGAIN);
	calls_with(SYS_sendto, fd, 0, 0, 0);
	thread.restart = (struct restart){ 0 };
	stops(0);
	ck_assert_int_eq(stops(400), -ERESTARTNOHAND);
	ck_assert_int_eq(stops(100), -EAGAIN);
	ck_assert_int_eq(ends_with(SYS_connect, fd, 0, 0, 0), -EINPROGRESS);
	ck_assert_int_eq(ends_with(SYS_read, fd, 0, 0, 0), -EAGAIN);
	/* Without one the call is taken to end in a second, by EINTR. */
	fd = (uint64_t)fds[1];
	calls_with(SYS_recvfrom, fd, 0, 0, 0);
	thread.restart = (struct restart){ 0 };
	stops(0);
	ck_assert_int_eq(stops(999), -ERESTARTNOHAND);
	ck_assert_int_eq(stops(1), -EINTR);
	ck_assert_int_eq(ends_with(SYS_write, 9999, 0, 0, 0), -EINTR);
	/* No descriptor of it stays open. */
	ck_assert_int_eq(dup(0), fds[1] + 1);
}
END_TEST

/* ---- the end in time ---- */

START_TEST(it_is_ended_in_time)
{
	super_time_calls(&tracer, true);
	calls_with(SYS_epoll_pwait, 0, 0, 0, 100);
	stops(0);
	/* After one stop the kernel's own limit is right. */
	ck_assert_uint_eq(super_calls_due(&tracer), 0);
	stops(60);
	ck_assert_uint_eq(super_calls_due(&tracer), UINT64_C(5100000000));
	thread.stop.state = TH_RUNNING;
	clock_ms = 5099;
	super_end_calls(&tracer);
	ck_assert_uint_eq(interrupts, 0);
	ck_assert_uint_eq(super_calls_due(&tracer), UINT64_C(5100000000));
	clock_ms = 5100;
	super_end_calls(&tracer);
	ck_assert_uint_eq(interrupts, 1);
	ck_assert_uint_eq(super_calls_due(&tracer), 0);
	ck_assert_int_eq(stops(0), 0);
}
END_TEST

START_TEST(one_that_has_left_its_call_is_not)
{
	super_time_calls(&tracer, true);
	calls_with(SYS_epoll_pwait, 0, 0, 0, 100);
	stops(0);
	stops(60);
	clock_ms = 6000;
	super_end_calls(&tracer); /* it is stopped */
	thread.stop.state = TH_STOPPED;
	super_end_calls(&tracer);
	unsigned before = interrupts;
	thread.stop.state = TH_RUNNING;
	restart_left(&thread);
	super_end_calls(&tracer);
	ck_assert_uint_eq(interrupts, before);
}
END_TEST

START_TEST(the_first_of_them_counts)
{
	struct thread other = { .proc = &proc, .stop.state = TH_RUNNING };

	super_time_calls(&tracer, true);
	hash_set(&tracer.threads, 2, &other);
	other.restart.due = 5080;
	tracer.calls_due = 5080;
	calls_with(SYS_epoll_pwait, 0, 0, 0, 100);
	stops(0);
	stops(60);
	ck_assert_uint_eq(super_calls_due(&tracer), UINT64_C(5080000000));
	thread.stop.state = TH_RUNNING;
	clock_ms = 5085;
	super_end_calls(&tracer);
	ck_assert_uint_eq(interrupts, 1);
	ck_assert_uint_eq(super_calls_due(&tracer), UINT64_C(5100000000));
}
END_TEST

START_TEST(unless_it_is_asked_for)
{
	calls_with(SYS_epoll_pwait, 0, 0, 0, 100);
	stops(0);
	stops(60);
	ck_assert_uint_eq(super_calls_due(&tracer), 0);
	/* Nor for a limit that is only a guess. */
	super_time_calls(&tracer, true);
	calls_with(SYS_read, 9999, 0, 0, 0);
	stops(0);
	stops(60);
	ck_assert_uint_eq(super_calls_due(&tracer), 0);
	super_time_calls(&tracer, false);
	calls_with(SYS_epoll_pwait, 0, 0, 0, 100);
	stops(0);
	stops(60);
	ck_assert_uint_eq(super_calls_due(&tracer), 0);
}
END_TEST

/* ---- before a detach ---- */

/* Is the call put off?  It is made again then. */
static bool
puts_off(enum event_kind kind, long nr)
{
	thread.stop.state = TH_STOPPED;
	thread.stop.kind = kind;
	its_nr = nr;
	redone = dirty = false;
	thread_put_off_call(&thread);
	ck_assert(dirty == redone);
	return redone;
}

START_TEST(a_call_that_is_being_entered_is_put_off)
{
	ck_assert(puts_off(EV_SYSCALL_ENTER, SYS_semop));
	ck_assert(puts_off(EV_SECCOMP, SYS_semop));
	ck_assert(!puts_off(EV_SYSCALL_ENTER, SYS_getpid));
	ck_assert(!puts_off(EV_SYSCALL_EXIT, SYS_semop));
	ck_assert(!thread_must_enter(&thread));
	is_dead = true;
	ck_assert(!puts_off(EV_SYSCALL_ENTER, SYS_semop));
	is_dead = false;
	thread.stop.state = TH_RUNNING;
	redone = false;
	thread_put_off_call(&thread);
	ck_assert(!redone);
}
END_TEST

/* It might kill the process for "no call". */
START_TEST(unless_a_filter_looks_at_it)
{
	its.seccomp = 2;
	ck_assert(!puts_off(EV_SYSCALL_ENTER, SYS_semop));
	ck_assert(thread_must_enter(&thread));
	its_nr = SYS_getpid;
	ck_assert(!thread_must_enter(&thread));
	its_nr = SYS_semop;
	/* At its own stop the filter has looked already. */
	ck_assert(puts_off(EV_SECCOMP, SYS_semop));
	ck_assert(!thread_must_enter(&thread));
	status_error = -ESRCH;
	ck_assert(puts_off(EV_SYSCALL_ENTER, SYS_semop));
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		calls_that_would_end_are_restarted,
		other_calls_are_left_alone,
		a_signal_restarts_it_and_a_trap_does_not,
		at_the_exit_stop_it_is_interrupted,
		job_control_ends_it,
		the_end_of_a_group_stop_ends_it,
		a_time_limit_counts_from_the_first_stop,
		after_the_limit_it_is_another_call,
		at_another_place_it_is_another_call,
		what_a_call_returns_when_its_time_is_over,
		a_limit_in_parts_of_a_second,
		a_limit_that_is_none,
		sockets_have_limits,
		it_is_ended_in_time,
		one_that_has_left_its_call_is_not,
		the_first_of_them_counts,
		unless_it_is_asked_for,
		a_call_that_is_being_entered_is_put_off,
		unless_a_filter_looks_at_it,
	};

	return suite_run("restart", setup, teardown, tests, ARRAY_SIZE(tests));
}
