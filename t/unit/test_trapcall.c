/*
 * tracer/survive/trapcall: what a program gets for its own rt_sigaction(SIGTRAP)
 * and rt_sigprocmask(), which dtrap answers.  The thread is the test itself, whose
 * memory is read and written as a target's is; what the call changes is noted by
 * doubles, so the file itself is included below.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dlang/base/fault.h"
#include "t/unit/suite.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/remote.h"
#include "tracer/ptrace/super.h"
#include "tracer/survive/trapcall.h"
#include "tracer/survive/trapguard.h"

static struct super super;
static struct proc proc;
static struct thread thread;
static uint64_t becomes[ACTION_WORDS];
static unsigned changes; /* of the action */
static struct syscall_entry entry;
static int entry_error;
static bool filter_looks, in_handler, no_regs;
static unsigned dirty;
static uint64_t handler_ip;

static void
double_becomes(const uint64_t action[ACTION_WORDS])
{
	memcpy(becomes, action, sizeof(becomes));
	memcpy(proc.trap.action, action, sizeof(becomes));
	changes++;
}

static int
double_entry(struct syscall_entry *out)
{
	*out = entry;
	return entry_error;
}

static bool
double_handler(uint64_t addr)
{
	handler_ip = addr;
	return in_handler;
}

/* rt_sigprocmask(): what is planned, and what is done. */
static bool plans, calls;
static struct mask_call plan;
static int plan_how;
static uint64_t plan_set, mask_now;
static bool plan_has_set;
static unsigned planned, masks_set, masks_called;
static struct uregs call_on;

static bool
double_plan(int how, const uint64_t *set, struct mask_call *c)
{
	planned++;
	plan_how = how;
	plan_has_set = set != NULL;
	plan_set = set != NULL ? *set : 0;
	*c = plan;
	return plans;
}

static bool
double_call(const struct uregs *on)
{
	masks_called++;
	call_on = *on;
	return calls;
}

#define trapguard_becomes(th, action)    double_becomes(action)
#define thread_syscall_entry(th, out)    double_entry(out)
#define trapguard_is_handler(p, addr)    double_handler(addr)
#define thread_filter_looks(th)          filter_looks
#define thread_regs(th)                  (no_regs ? NULL : &(th)->regs.user)
#define thread_regs_dirty(th)            ((void)dirty++)
#define sigtrap_mask_plan(th, how, s, c) double_plan(how, s, c)
#define trapmask_goes(th, next)          true
#define trapmask_went(th, next, done)    ((void)0)
#define remote_go_on(th, on, mask)       (double_call(on) ? 0 : -EBUSY)
#define thread_pending(th, all, i, si)   false
#define sigtrap_mask_set(th, how, set) \
	((void)(masks_set += (how) == SIG_SETMASK, mask_now = (set)))
#include "tracer/survive/trapcall.c"

/* ---- the program's calls ---- */

static struct uregs *const regs = &thread.regs.user;
static uint64_t act[ACTION_WORDS], old[ACTION_WORDS];
static void *nowhere; /* a page that cannot be read */

/* What the supervisor's hook was told. */
static unsigned told;
static struct syscall_entry told_entry;
static int64_t told_result;

static void
call_made(
    void *ctx, struct thread *th, const struct syscall_entry *e, int64_t result)
{
	ck_assert_ptr_eq(ctx, &told);
	ck_assert_ptr_eq(th, &thread);
	told++;
	told_entry = *e;
	told_result = result;
}

static uint64_t
at(const void *p)
{
	return (uintptr_t)p;
}

static void
setup(void)
{
	nowhere =
	    mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	proc.super = &super;
	proc.handler.state = HANDLER_IN;
	thread.proc = &proc;
	thread.tid = getpid();
	super.hooks.call_made = call_made;
	super.hooks_ctx = &told;
	for (unsigned i = 0; i < ACTION_WORDS; i++) {
		proc.trap.action[i] = 0x100 + i;
		act[i] = 0x200 + i;
		old[i] = 0;
	}
	act[ACTION_FLAGS] = SA_RESTART | SA_SIGINFO;
	regs->r[UREG_PC] = 0x401000;
	regs->r[UREG_SP] = 0x7000;
	entry.nr = SYS_rt_sigaction;
	entry.ip = 0x401002;
}

static void
set_args(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t args[] = { a, b, c, d };

	for (int i = 0; i < 4; i++)
		regs->r[ureg_call_arg(i)] = entry.args[i] = args[i];
}

/* rt_sigaction(SIGTRAP, a, b, 8) at a marker.  Its result. */
static int64_t
sigaction_at_marker(const void *a, const void *b, uint64_t size)
{
	set_args(SIGTRAP, at(a), at(b), size);
	regs->r[UREG_CALL] = SYS_rt_sigaction;
	ck_assert(trapcall_hit(&thread, regs));
	return regs_result(regs);
}

START_TEST(a_new_action_is_noted_and_the_old_one_returned)
{
	ck_assert_int_eq(sigaction_at_marker(act, old, SET_SIZE), 0);
	ck_assert_uint_eq(changes, 1);
	for (unsigned i = 0; i < ACTION_WORDS; i++) {
		ck_assert_uint_eq(becomes[i], act[i]);
		ck_assert_uint_eq(old[i], 0x100 + i);
	}
	/* The pc is the caller's business. */
	ck_assert_uint_eq(regs->r[UREG_PC], 0x401000);
	ck_assert(!(thread.stop.wants & WANT_ACTION));
}
END_TEST

START_TEST(without_a_new_one_nothing_changes)
{
	ck_assert_int_eq(sigaction_at_marker(NULL, old, SET_SIZE), 0);
	ck_assert_uint_eq(changes, 0);
	ck_assert_uint_eq(old[0], 0x100);
	ck_assert_int_eq(sigaction_at_marker(NULL, NULL, SET_SIZE), 0);
	ck_assert_uint_eq(changes, 0);
	ck_assert_int_eq(sigaction_at_marker(act, NULL, SET_SIZE), 0);
	ck_assert_uint_eq(changes, 1);
}
END_TEST

START_TEST(a_set_of_another_size_is_refused)
{
	ck_assert_int_eq(sigaction_at_marker(act, old, 16), -EINVAL);
	ck_assert_int_eq(sigaction_at_marker(act, old, 0), -EINVAL);
	ck_assert_uint_eq(changes, 0);
	ck_assert_uint_eq(old[0], 0);
}
END_TEST

START_TEST(an_action_that_cannot_be_read_is_not_set)
{
	ck_assert_int_eq(sigaction_at_marker(nowhere, old, SET_SIZE), -EFAULT);
	ck_assert_uint_eq(changes, 0);
	ck_assert_uint_eq(old[0], 0);
}
END_TEST

/* As in the kernel, which writes it last. */
START_TEST(one_that_cannot_be_returned_is_replaced_all_the_same)
{
	ck_assert_int_eq(sigaction_at_marker(act, nowhere, SET_SIZE), -EFAULT);
	ck_assert_uint_eq(changes, 1);
}
END_TEST

START_TEST(the_kernel_keeps_only_what_it_knows)
{
	const uint64_t all = SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO |
	    SA_ONSTACK | SA_RESTART | SA_NODEFER |
	    (uint64_t)(uint32_t)SA_RESETHAND;

	act[ACTION_FLAGS] = UINT64_MAX;
	act[ACTION_MASK] = UINT64_MAX;
	ck_assert_int_eq(sigaction_at_marker(act, NULL, SET_SIZE), 0);
	ck_assert_uint_eq(becomes[ACTION_FLAGS] & all, all);
	ck_assert_uint_eq(becomes[ACTION_FLAGS] & ~UINT64_C(0xffffffff), 0);
	/* SA_UNSUPPORTED tells a program that the kernel drops what it does not
	 * know. */
	ck_assert_uint_eq(becomes[ACTION_FLAGS] & 0x400, 0);
	ck_assert_uint_eq(
	    becomes[ACTION_MASK], ~(SIGBIT(SIGKILL) | SIGBIT(SIGSTOP)));
	ck_assert_uint_eq(becomes[ACTION_HANDLER], act[ACTION_HANDLER]);
}
END_TEST

/* What the machine's kernel itself makes of such flags. */
START_TEST(flags_are_those_of_this_kernel)
{
	uint64_t asked[ACTION_WORDS] = { at(exit), UINT64_C(0x1ffffffff) };
	uint64_t kept[ACTION_WORDS];

	ck_assert_int_eq(
	    syscall(SYS_rt_sigaction, SIGUSR2, asked, NULL, SET_SIZE), 0);
	ck_assert_int_eq(
	    syscall(SYS_rt_sigaction, SIGUSR2, NULL, kept, SET_SIZE), 0);
	act[ACTION_FLAGS] = asked[ACTION_FLAGS];
	ck_assert_int_eq(sigaction_at_marker(act, NULL, SET_SIZE), 0);
	ck_assert_uint_eq(becomes[ACTION_FLAGS], kept[ACTION_FLAGS]);
}
END_TEST

START_TEST(without_our_handler_the_kernel_makes_the_call)
{
	const struct uregs before = *regs;

	proc.handler.state = HANDLER_ABSENT;
	set_args(SIGTRAP, at(act), 0, SET_SIZE);
	*regs = before;
	ck_assert(!trapcall_hit(&thread, regs));
	ck_assert_mem_eq(regs, &before, sizeof(before));
	ck_assert_uint_eq(changes + told, 0);
	ck_assert(!(thread.stop.wants & WANT_ACTION));
}
END_TEST

START_TEST(under_our_filter_it_is_answered_at_its_entry)
{
	proc.filtered = true;
	set_args(SIGTRAP, at(act), 0, SET_SIZE);
	ck_assert(!trapcall_hit(&thread, regs));
	ck_assert_uint_eq(changes + told, 0);
	ck_assert(thread.stop.wants & WANT_ACTION);
	trapcall_enter(&thread);
	ck_assert(!(thread.stop.wants & WANT_ACTION));
	ck_assert_uint_eq(changes, 1);
	proc.filtered = false;
	thread.stop.wants |= WANT_ACTION;
	sigaction_at_marker(NULL, NULL, SET_SIZE);
	ck_assert(!(thread.stop.wants & WANT_ACTION));
}
END_TEST

START_TEST(probes_of_system_calls_are_told)
{
	sigaction_at_marker(act, old, SET_SIZE);
	ck_assert_uint_eq(told, 0); /* there are none */
	super.want_syscalls = true;
	sigaction_at_marker(act, old, 16);
	ck_assert_uint_eq(told, 1);
	ck_assert_int_eq(told_result, -EINVAL);
	ck_assert_int_eq(told_entry.nr, SYS_rt_sigaction);
	ck_assert_uint_eq(told_entry.args[0], SIGTRAP);
	ck_assert_uint_eq(told_entry.args[1], at(act));
	ck_assert_uint_eq(told_entry.args[3], 16);
	ck_assert_uint_eq(told_entry.sp, 0x7000);
	ck_assert(told_entry.sure);
	super.hooks.call_made = NULL;
	sigaction_at_marker(act, old, SET_SIZE);
	ck_assert_uint_eq(told, 1);
}
END_TEST

/* ---- at the entry of the call ---- */

START_TEST(at_its_entry_the_call_is_skipped)
{
	set_args(SIGTRAP, at(act), at(old), SET_SIZE);
	regs->r[ureg_call_arg(4)] = 44;
	trapcall_enter(&thread);
	ck_assert_uint_eq(changes, 1);
	ck_assert_uint_eq(old[0], 0x100);
	ck_assert_uint_eq(dirty, 1);
	ck_assert_int_eq(regs_result(regs), 0);
	ck_assert_int_lt(regs_syscall_nr(regs), 0);
	ck_assert_uint_eq(handler_ip, entry.ip);
	ck_assert(!(thread.stop.wants & WANT_EXIT));
	/* Nothing is left for the exit. */
	regs_set_result(regs, 7);
	trapcall_leave(&thread);
	ck_assert_int_eq(regs_result(regs), 7);
	ck_assert_uint_eq(dirty, 1);
	/* The result is that of the call. */
	set_args(SIGTRAP, at(nowhere), at(old), SET_SIZE);
	trapcall_enter(&thread);
	ck_assert_int_eq(regs_result(regs), -EFAULT);
}
END_TEST

static void
is_left_alone(void)
{
	const struct uregs before = *regs;

	thread.stop.wants |= WANT_ACTION;
	trapcall_enter(&thread);
	ck_assert_uint_eq(changes + dirty, 0);
	ck_assert_mem_eq(regs, &before, sizeof(before));
	ck_assert(!(thread.stop.wants & WANT_ACTION));
}

START_TEST(other_calls_are_made)
{
	set_args(SIGTRAP, at(act), at(old), SET_SIZE);
	entry.nr = SYS_rt_sigprocmask;
	is_left_alone();
	entry.nr = SYS_rt_sigaction;
	entry.args[0] = SIGUSR1;
	is_left_alone();
	entry.args[0] = SIGTRAP;
	proc.handler.state = HANDLER_ABSENT;
	is_left_alone();
	proc.handler.state = HANDLER_IN;
	entry_error = -ESRCH;
	is_left_alone();
	entry_error = 0;
	in_handler = true; /* our handler gives up its place */
	is_left_alone();
	in_handler = false;
	/* The kernel looks at 32 bits of the number. */
	entry.args[0] = SIGTRAP | UINT64_C(1) << 32;
	trapcall_enter(&thread);
	ck_assert_uint_eq(changes, 1);
}
END_TEST

/* No marker need be at the call. */
START_TEST(actions_for_other_signals_are_noted)
{
	const uint64_t *mask = proc.trap.handler_mask;
	uint64_t *known = &proc.trap.handler_known;

	act[ACTION_MASK] = SIGBIT(SIGTRAP);
	set_args(SIGUSR1, at(act), 0, SET_SIZE);
	is_left_alone();
	ck_assert_uint_eq(*known, SIGBIT(SIGUSR1));
	ck_assert_uint_eq(mask[SIGUSR1 - 1], SIGBIT(SIGTRAP) | SIGBIT(SIGUSR1));
	/* These change nothing. */
	*known = 0;
	set_args(SIGUSR1, 0, at(old), SET_SIZE);
	is_left_alone();
	set_args(SIGUSR1, at(nowhere), 0, SET_SIZE);
	is_left_alone();
	set_args(SIGUSR1, at(act), 0, SET_SIZE + 1);
	is_left_alone();
	const uint64_t refused[] = { 0, SIGNALS + 1, SIGKILL, SIGSTOP };
	for (unsigned i = 0; i < ARRAY_SIZE(refused); i++) {
		set_args(refused[i], at(act), 0, SET_SIZE);
		is_left_alone();
	}
	ck_assert_uint_eq(*known, 0);
}
END_TEST

START_TEST(a_thread_that_has_ended_has_no_registers)
{
	set_args(SIGTRAP, 0, 0, SET_SIZE);
	no_regs = true;
	trapcall_enter(&thread);
	ck_assert_uint_eq(dirty, 0);
	trapcall_leave(&thread);
	ck_assert_uint_eq(dirty, 0);
}
END_TEST

/* A filter of the program must see a call that the kernel makes. */
START_TEST(under_a_filter_of_the_program_a_call_is_made_that_changes_nothing)
{
	filter_looks = true;
	set_args(SIGTRAP, at(act), at(nowhere), SET_SIZE);
	trapcall_enter(&thread);
	ck_assert_uint_eq(changes, 1);
	ck_assert_uint_eq(dirty, 1);
	ck_assert(thread.stop.wants & WANT_EXIT);
	ck_assert_uint_eq(regs->r[ureg_call_arg(0)], SIGTRAP);
	ck_assert_uint_eq(regs->r[ureg_call_arg(1)], 0);
	ck_assert_uint_eq(regs->r[ureg_call_arg(2)], 0);
	ck_assert_uint_eq(regs->r[ureg_call_arg(3)], SET_SIZE);
	regs_set_result(regs, 0);
	trapcall_leave(&thread);
	ck_assert_int_eq(regs_result(regs), -EFAULT);
	ck_assert_uint_eq(regs->r[ureg_call_arg(1)], at(act));
	ck_assert_uint_eq(regs->r[ureg_call_arg(2)], at(nowhere));
	ck_assert_uint_eq(dirty, 2);
	/* Once. */
	regs_set_result(regs, 0);
	trapcall_leave(&thread);
	ck_assert_int_eq(regs_result(regs), 0);
	ck_assert_uint_eq(dirty, 2);
	parts_end(&thread.parts);
}
END_TEST

START_TEST(what_the_filter_refuses_stays_refused)
{
	filter_looks = true;
	set_args(SIGTRAP, at(act), at(nowhere), SET_SIZE);
	trapcall_enter(&thread);
	regs_set_result(regs, -EPERM);
	trapcall_leave(&thread);
	ck_assert_int_eq(regs_result(regs), -EPERM);
	ck_assert_uint_eq(regs->r[ureg_call_arg(1)], at(act));
	parts_end(&thread.parts);
}
END_TEST

START_TEST(an_answer_that_was_not_given_is_not_given_later)
{
	filter_looks = true;
	set_args(SIGTRAP, at(act), at(nowhere), SET_SIZE);
	trapcall_enter(&thread);
	no_regs = true;
	trapcall_leave(&thread);
	no_regs = false;
	regs_set_result(regs, 0);
	trapcall_leave(&thread);
	ck_assert_int_eq(regs_result(regs), 0);
	parts_end(&thread.parts);
}
END_TEST

/* ---- masks ---- */

static uint64_t set, was;

static bool
mask_at_marker(int how, const void *a, const void *b, uint64_t size)
{
	set_args((uint64_t)how, at(a), at(b), size);
	regs->r[UREG_CALL] = SYS_rt_sigprocmask;
	return trapcall_mask(&thread, regs);
}

START_TEST(a_mask_that_stays_is_answered)
{
	plans = super.want_syscalls = true;
	plan = (struct mask_call){ .old = 5, .next = 5, .kernel = 6 };
	set = 0x1234;
	ck_assert(mask_at_marker(SIG_BLOCK, &set, &was, SET_SIZE));
	ck_assert_uint_eq(planned, 1);
	ck_assert_int_eq(plan_how, SIG_BLOCK);
	ck_assert(plan_has_set);
	ck_assert_uint_eq(plan_set, 0x1234);
	ck_assert_uint_eq(was, 5);
	ck_assert_uint_eq(masks_set, 1);
	ck_assert_uint_eq(mask_now, 5);
	ck_assert_uint_eq(masks_called, 0);
	ck_assert_int_eq(regs_result(regs), 0);
	ck_assert_uint_eq(regs->r[UREG_PC], 0x401000);
	ck_assert_uint_eq(told, 1);
	ck_assert_int_eq(told_entry.nr, SYS_rt_sigprocmask);
	ck_assert_int_eq(told_result, 0);
}
END_TEST

START_TEST(a_mask_that_changes_is_set_by_a_call_in_the_thread)
{
	struct uregs before;

	plans = calls = super.want_syscalls = true;
	plan = (struct mask_call){ .old = 5, .next = 7, .kernel = 5 };
	set_args(SIG_SETMASK, at(&set), at(&was), SET_SIZE);
	regs->r[UREG_CALL] = SYS_rt_sigprocmask;
	before = *regs;
	ck_assert(trapcall_mask(&thread, regs));
	ck_assert_uint_eq(masks_called, 1);
	ck_assert_uint_eq(masks_set, 0);
	ck_assert_uint_eq(was, 5);
	/* It continues behind the call, with the call's result. */
	ck_assert_uint_gt(call_on.r[UREG_PC], 0x401000);
	ck_assert_int_eq(regs_result(&call_on), 0);
	ck_assert_mem_eq(regs, &before, sizeof(before));
	ck_assert_uint_eq(told, 1);
	/* Where that fails, the kernel makes it, and tells nobody twice. */
	calls = false;
	ck_assert(!trapcall_mask(&thread, regs));
	ck_assert_uint_eq(told, 1);
	ck_assert_mem_eq(regs, &before, sizeof(before));
}
END_TEST

START_TEST(a_mask_is_asked_for)
{
	plans = true;
	plan = (struct mask_call){ .old = 5, .next = 5 };
	ck_assert(mask_at_marker(SIG_BLOCK, NULL, &was, SET_SIZE));
	ck_assert(!plan_has_set);
	ck_assert_uint_eq(was, 5);
	/* Or not at all. */
	was = 9;
	ck_assert(mask_at_marker(SIG_BLOCK, &set, NULL, SET_SIZE));
	ck_assert_uint_eq(was, 9);
	ck_assert_int_eq(regs_result(regs), 0);
}
END_TEST

START_TEST(what_the_kernel_would_refuse_it_refuses)
{
	struct uregs before;

	plans = calls = true;
	set_args(SIG_BLOCK, at(&set), at(&was), 16);
	before = *regs;
	ck_assert(!trapcall_mask(&thread, regs));
	ck_assert_mem_eq(regs, &before, sizeof(before));
	ck_assert(!mask_at_marker(SIG_BLOCK, nowhere, &was, SET_SIZE));
	ck_assert(!mask_at_marker(SIG_BLOCK, &set, nowhere, SET_SIZE));
	/* Old and new in one place: a call that is made again would read what it
	 * has written. */
	ck_assert(!mask_at_marker(SIG_BLOCK, &set, &set, SET_SIZE));
	ck_assert_uint_eq(planned + masks_set + masks_called, 0);
	plans = false;
	ck_assert(!mask_at_marker(SIG_BLOCK, &set, &was, SET_SIZE));
	ck_assert_uint_eq(planned, 1);
	ck_assert_uint_eq(masks_set + masks_called, 0);
}
END_TEST

START_TEST(a_mask_that_cannot_be_returned_is_an_error)
{
	void *constant =
	    mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	plans = true;
	plan = (struct mask_call){ .old = 5, .next = 5 };
	ck_assert(mask_at_marker(SIG_BLOCK, &set, constant, SET_SIZE));
	ck_assert_int_eq(regs_result(regs), -EFAULT);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_new_action_is_noted_and_the_old_one_returned,
		without_a_new_one_nothing_changes,
		a_set_of_another_size_is_refused,
		an_action_that_cannot_be_read_is_not_set,
		one_that_cannot_be_returned_is_replaced_all_the_same,
		the_kernel_keeps_only_what_it_knows,
		flags_are_those_of_this_kernel,
		without_our_handler_the_kernel_makes_the_call,
		under_our_filter_it_is_answered_at_its_entry,
		probes_of_system_calls_are_told,
		at_its_entry_the_call_is_skipped,
		other_calls_are_made,
		actions_for_other_signals_are_noted,
		a_thread_that_has_ended_has_no_registers,
		under_a_filter_of_the_program_a_call_is_made_that_changes_nothing,
		what_the_filter_refuses_stays_refused,
		an_answer_that_was_not_given_is_not_given_later,
		a_mask_that_stays_is_answered,
		a_mask_that_changes_is_set_by_a_call_in_the_thread,
		a_mask_is_asked_for,
		what_the_kernel_would_refuse_it_refuses,
		a_mask_that_cannot_be_returned_is_an_error,
	};

	return suite_run("trapcall", setup, NULL, tests, ARRAY_SIZE(tests));
}
