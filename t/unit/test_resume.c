/*
 * How a stopped thread goes on: what the kernel is told, in which order, so that a
 * program whose tracer is killed in between goes on as well.
 */
#include <check.h>
#include <string.h>

#include "dlang/base/str.h"
#include "inject/resume.h"
#include "inject/trap/area.h"
#include "t/unit/suite.h"
#include "tracer/ptrace/super.h"

static struct str said;
static struct uregs its[2];
static struct thread threads[2];
static struct thread *of[2] = { &threads[0], &threads[1] };
static struct proc proc;
static struct space space;
static siginfo_t info;
static enum slot_place in_stub, in_slot;
static bool is_dead; /* registers cannot be read */

static void
call(const char *what)
{
	str_printf(&said, "%s ", what);
}

static void
double_write_back(struct thread *th)
{
	if (th->regs.state == REGS_CHANGED)
		call("registers");
	th->regs.state = REGS_KNOWN;
}

static void
double_set(const siginfo_t *si)
{
	info = *si;
	call(si->si_code == TRAP_DONE ? "done" : "signal");
}

static void
double_again(const siginfo_t *si, size_t n)
{
	for (; n > 0; n--, si++) {
		str_printf(&said, "sent%d ", si->si_signo);
		if (si->si_signo == SIGSEGV)
			info = *si;
	}
}

static void
double_take(struct thread *th)
{
	th->stop.untaken = false;
	call("taken");
}

#define thread_regs(th)                  (is_dead ? NULL : &its[(th)-threads])
#define thread_regs_dirty(th)            call("dirty")
#define thread_regs_lead(th, into)       call((into) ? "into" : "text")
#define resume_leave_stub(tab, regs, tp) ((void)(tp), in_stub)
#define resume_leave_slot(tab, regs, tp) in_slot
#define regs_write_back                  double_write_back
#define thread_set_siginfo(th, si)       double_set(si)
#define signals_again(th, si, n)         double_again(si, n)
#define wait_call(tid, st, how, flag)    ((void)(st), (void)(flag))
#define stop_take                        double_take
#include "tracer/ptrace/resume.c"

static void
setup(void)
{
	str_clear(&said);
	proc.space = &space;
	proc.threads.at = of;
	proc.threads.len = 2;
	in_stub = in_slot = SLOT_OUTSIDE;
	is_dead = false;
	for (unsigned i = 0; i < 2; i++) {
		threads[i].proc = &proc;
		threads[i].stop.state = TH_STOPPED;
	}
	proc.handler.state = HANDLER_ABSENT + 1;
}

static void
expect(const char *want)
{
	ck_assert_str_eq(str_c(&said), want);
	str_clear(&said);
}

START_TEST(threads_leave_our_code)
{
	in_slot = SLOT_BEFORE;
	proc_leave_code(&proc);
	expect("dirty text dirty text ");
	in_slot = SLOT_OUTSIDE;
	in_stub = SLOT_AFTER;
	proc_leave_code(&proc);
	expect("dirty text dirty text ");
	/* One that runs has no registers. */
	threads[0].stop.state = TH_RUNNING;
	proc_leave_code(&proc);
	expect("dirty text ");
	/* In a firing it cannot be moved. */
	in_stub = SLOT_FIRING;
	in_slot = SLOT_BEFORE;
	proc_leave_code(&proc);
	expect("");
	in_stub = SLOT_OUTSIDE;
	is_dead = true;
	proc_leave_code(&proc);
	expect("");
}
END_TEST

/* With the SIGTRAP still in the kernel, it would get the siginfo of the other
 * signal; and with the old pc, the thread would be behind an int3 of ours. */
START_TEST(a_signal_takes_the_place_of_a_trap)
{
	struct thread *th = &threads[0];

	th->stop.kind = EV_TRAP;
	th->stop.untaken = true;
	th->regs.state = REGS_CHANGED;
	th->regs.kernel_pc = 0x1001;
	th->regs.user.r[UREG_PC] = 0x1000;
	thread_fault(th, SIGSEGV, SEGV_MAPERR, 16);
	expect("done registers taken signal ");
	ck_assert_int_eq(th->stop.kind, EV_SIGNAL);
	ck_assert_int_eq(th->stop.sig, SIGSEGV);
	ck_assert_int_eq(info.si_signo, SIGSEGV);
	ck_assert_int_eq(info.si_code, SEGV_MAPERR);
	ck_assert_ptr_eq(info.si_addr, (void *)16);
	/* A stop that has been taken before. */
	th->stop.kind = EV_TRAP;
	th->regs.state = REGS_CHANGED;
	th->stop.sig = 0;
	thread_signals_instead(th, &(siginfo_t){ .si_signo = SIGINT }, 1);
	expect("registers signal ");
	ck_assert_int_eq(th->stop.sig, SIGINT);
	/* Others come after it. */
	const siginfo_t three[] = { { .si_signo = SIGINT },
		{ .si_signo = SIGHUP }, { .si_signo = SIGTERM } };
	th->stop.kind = EV_TRAP;
	thread_signals_instead(th, three, 3);
	expect("signal sent1 sent15 ");
	ck_assert_int_eq(info.si_signo, SIGINT);
}
END_TEST

/* A call in the thread has moved it to an event-stop, where the kernel takes no
 * signal. */
START_TEST(a_signal_is_sent_at_another_stop)
{
	struct thread *th = &threads[0];

	th->stop.kind = EV_STOP;
	th->stop.untaken = false;
	th->stop.sig = 0;
	th->regs.state = REGS_CHANGED;
	thread_fault(th, SIGSEGV, SEGV_MAPERR, 16);
	expect("registers sent11 ");
	ck_assert_int_eq(th->stop.kind, EV_STOP);
	ck_assert_int_eq(th->stop.sig, 0);
	ck_assert_int_eq(info.si_code, SEGV_MAPERR);
	ck_assert_ptr_eq(info.si_addr, (void *)16);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { threads_leave_our_code,
		a_signal_takes_the_place_of_a_trap,
		a_signal_is_sent_at_another_stop };

	return suite_run("resume", setup, NULL, tests, ARRAY_SIZE(tests));
}
