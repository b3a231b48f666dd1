/*
 * tracer/survive/trapguard: which action for SIGTRAP is set in the target, by
 * which thread, and what is noted of it.  The calls in the target, its memory,
 * the list of traps and the guardian are doubles.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "dlang/base/clock.h"
#include "inject/tracepoint.h"
#include "inject/trap/area.h"
#include "inject/trapset.h"
#include "t/unit/suite.h"
#include "tracer/survive/guardian.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/remote.h"
#include "tracer/ptrace/super.h"
#include "tracer/ptrace/target_ptrace.h"
#include "tracer/ptrace/trapqueue.h"

#define AREA   UINT64_C(0x100000) /* of dtrap in the target */
#define OURS   (AREA + 8)         /* its handler */
#define THEIRS UINT64_C(0x5000)   /* the program's */

static struct space space;
static struct proc proc1, proc2;
static struct thread thread, thread2;
static char said[200];

static void
say(const char *text)
{
	ck_assert_uint_lt(strlen(said) + strlen(text) + 1, sizeof(said));
	strcat(strcat(said, text), " ");
}

static void
check_said(const char *want)
{
	ck_assert_str_eq(said, want);
	said[0] = '\0';
}

/* ---- the target ---- */

static uint64_t kernel[ACTION_WORDS];  /* the action that is installed */
static uint64_t in_area[ACTION_WORDS]; /* where the kernel is to read it */
static struct trap_area left_there;    /* of a tracer before this one */
static int call_error, read_error;

static int
read_target(struct target *t, uint64_t addr, void *buf, size_t len)
{
	if (addr == AREA)
		memcpy(buf, in_area, len);
	else if (addr == 0x200000)
		memcpy(buf, &left_there, len);
	else
		return -EFAULT;
	return read_error;
}

static int
write_target(struct target *t, uint64_t addr, const void *buf, size_t len)
{
	ck_assert_uint_eq(addr, 0x200000 + offsetof(struct trap_area, action));
	memcpy(in_area, buf, len);
	say("write");
	return read_error;
}

static const struct target_ops ops = { .read = read_target,
	.write = write_target };

static int
double_call(const struct thread *th, uint64_t addr, const uint64_t *words,
    uint64_t *old)
{
	say(th == &thread ? "call" : "call2");
	ck_assert((addr == AREA) == (words == NULL));
	if (call_error != 0)
		return call_error;
	if (old != NULL)
		memcpy(old, kernel, sizeof(kernel));
	memcpy(kernel, addr != 0 ? in_area : words, sizeof(kernel));
	return 0;
}

static uint64_t area_action; /* 0: the list cannot be written */

/* The handler's address is dtrap's, or the program's own. */
static uint64_t
double_action(const uint64_t *words, bool own)
{
	memcpy(in_area, words, sizeof(in_area));
	if (!own) {
		in_area[ACTION_HANDLER] = OURS;
		in_area[ACTION_FLAGS] |= SA_SIGINFO;
	}
	return area_action;
}

static struct thread *
double_next(const struct proc *p, const struct thread *prev)
{
	for (size_t i = 0; i < p->threads.len; i++)
		if (prev == NULL || p->threads.at[i] == prev) {
			i += prev != NULL;
			return i < p->threads.len ? p->threads.at[i] : NULL;
		}
	return NULL;
}

static int save_error, syscall_error;
static int64_t syscall_result;

static int
double_save(const struct thread *th)
{
	say(th == &thread ? "save" : "save2");
	return th == &thread ? save_error : 0;
}

static int
double_syscall(long nr, const uint64_t *args, int64_t *result)
{
	ck_assert_int_eq(nr, SYS_rt_sigaction);
	ck_assert_uint_eq(args[0], SIGTRAP);
	ck_assert_uint_eq(
	    args[1], 0x200000 + offsetof(struct trap_area, action));
	ck_assert_uint_eq(args[2], 0);
	ck_assert_uint_eq(args[3], 8);
	say("syscall");
	*result = syscall_result;
	return syscall_error;
}

/* What the steps of trapguard_begin() say. */
static bool intact;
static int force, added, mapped, has;
static bool reset, blocked; /* the action; SIGTRAP in the other thread */
static uint64_t clock_ms;
static struct proc_status status;
static int status_error;

static int
double_status(struct proc_status *out)
{
	*out = status;
	return status_error;
}

/* One is pending. */
static void
double_pending(struct trapqueue *q)
{
	*vec_push(&q->list) = (struct trap_pending){ .th = NULL };
	say("read");
}

static void
double_send(struct trapqueue *q)
{
	if (q->list.len > 0)
		say("send");
	q->list.len = 0;
}

#define sigtrap_call(th, addr, words, old) double_call(th, addr, words, old)
#define sigtrap_save(th)                   double_save(th)
#define sigtrap_hide(th)                   say("hide")
#define sigtrap_is_reset(th)               reset
#define sigtrap_blocked(th)                blocked
#define tptable_traps(tab)                 ((struct trapset *)(tab))
#define trapset_action(ts, words, own)     double_action(words, own)
#define trapset_area(ts)                   AREA
#define trapset_intact(ts)                 ((void)(ts), intact)
#define trapset_lost(ts)                   say("lost")
#define trapset_map(ts, near)              mapped
#define target_may_force()                 force
#define guardian_add(sp, area)             added
#define guardian_has(sp, area)             has
#define remote_next_in(p, prev)            double_next(p, prev)
#define remote_syscall_in(p, nr, args, r)  double_syscall(nr, args, r)
#define trapqueue_read(p, q)               double_pending(q)
#define trapqueue_send(p, q)               double_send(q)
#define trapqueue_discard(p)               say("discard")
#define space_stop(sp)                     say("stop")
#define space_resume(sp)                   say("resume")
#define thread_deliver(th)                 say("deliver")
#define stop_signal(th, n)                 ((th)->stop.sig = (n))
#define clock_coarse_ms()                  clock_ms
#define procfs_status(tid, st)             double_status(st)
#include "tracer/survive/trapguard.c"

static struct super super;

static void
setup(void)
{
	space.target.ops = &ops;
	space.tab = (struct tptable *)&space; /* only that it is there counts */
	proc1.space = proc2.space = &space;
	proc1.super = proc2.super = &super;
	*vec_push(&space.procs) = &proc1;
	*vec_push(&space.procs) = &proc2;
	thread.proc = thread2.proc = &proc1;
	*vec_push(&proc1.threads) = &thread;
	*vec_push(&proc1.threads) = &thread2;
	area_action = AREA;
	intact = true;
	clock_ms = 100000;
}

static void
guarded(struct proc *p)
{
	p->handler.state = HANDLER_IN;
	p->handler.action[ACTION_HANDLER] = OURS;
	memcpy(kernel, p->handler.action, sizeof(kernel));
}

/* The program has this action, which is known. */
static void
acts(struct proc *p, uint64_t handler, uint64_t flags)
{
	const uint64_t words[ACTION_WORDS] = {
		[ACTION_HANDLER] = handler, [ACTION_FLAGS] = flags
	};

	sigtrap_becomes(p, words);
}

/* The second process, with the other thread, which may be about to run. */
static void
two_processes(void)
{
	thread2.proc = &proc2;
	proc1.threads.len = 1;
	*vec_push(&proc2.threads) = &thread2;
}

/* ---- installing ---- */

static const char *why;

static int
begin(bool bare)
{
	return trapguard_begin(&space, 0x1000, bare, &why);
}

START_TEST(each_process_gets_the_handler)
{
	two_processes();
	ck_assert_int_eq(begin(false), 0);
	check_said("save call hide save2 call2 hide ");
	ck_assert(proc_guarded(&proc1) && proc_guarded(&proc2));
	ck_assert_uint_eq(kernel[ACTION_HANDLER], OURS);
	ck_assert_uint_eq(proc2.handler.action[ACTION_HANDLER], OURS);
	/* And once. */
	ck_assert_int_eq(begin(false), 0);
	check_said("");
}
END_TEST

START_TEST(another_thread_makes_the_call)
{
	save_error = -EBUSY;
	ck_assert_int_eq(begin(false), 0);
	check_said("save save2 call hide hide ");
	proc1.handler.state = HANDLER_ABSENT;
	call_error = -ESRCH;
	save_error = 0;
	ck_assert_int_eq(begin(false), -ESRCH);
	check_said("save call call2 hide hide ");
	ck_assert(!proc_guarded(&proc1));
	ck_assert_str_eq(why, "a SIGTRAP handler cannot be installed");
	proc1.threads.len = 0;
	ck_assert_int_eq(begin(false), -EBUSY);
}
END_TEST

START_TEST(what_a_traced_program_has_is_known)
{
	proc1.threads.len = 1;
	acts(&proc1, THEIRS, 0);
	thread.stop.kind = EV_EXEC;
	ck_assert_int_eq(begin(false), 0);
	check_said("call hide ");
	proc1.handler.state = HANDLER_ABSENT;
	thread.stop.kind = EV_SIGNAL;
	ck_assert_int_eq(begin(false), 0);
	check_said("save call hide ");
}
END_TEST

/* A vfork child that has executed a program needs no handler. */
START_TEST(who_has_left_is_not_asked)
{
	two_processes();
	thread2.stop.executed = true;
	ck_assert_int_eq(begin(false), 0);
	check_said("save call hide ");
	ck_assert(!proc_guarded(&proc2));
	thread2.stop.executed = false;
	ck_assert_int_eq(begin(false), 0);
	check_said("save2 call2 hide ");
}
END_TEST

START_TEST(each_step_may_fail)
{
	intact = false;
	ck_assert_int_eq(begin(false), -EFAULT);
	ck_assert_str_eq(why,
	    "the list of bytes to restore has disappeared from its memory");
	check_said("");
	/* No text is changed yet: it is made again. */
	guarded(&proc1);
	guarded(&proc2);
	proc2.threads.len = 0;
	force = -EPERM;
	ck_assert_int_eq(begin(true), -EPERM);
	check_said("lost ");
	ck_assert(!proc_guarded(&proc1) && !proc_guarded(&proc2));
	ck_assert_ptr_nonnull(strstr(why, "proc_mem.force_override"));
	force = 0;
	intact = true;
	added = -EAGAIN;
	ck_assert_int_eq(begin(false), -EAGAIN);
	ck_assert_ptr_nonnull(strstr(why, "cannot be started"));
	added = 0;
	mapped = -ENOMEM;
	ck_assert_int_eq(begin(false), -ENOMEM);
	ck_assert_str_eq(
	    why, "memory for the list of bytes to restore cannot be mapped");
	mapped = -EPERM;
	ck_assert_int_eq(begin(false), -EPERM);
	ck_assert_ptr_nonnull(strstr(why, "seccomp"));
	mapped = 0;
	has = -EPIPE;
	ck_assert_int_eq(begin(false), -EPIPE);
	ck_assert_ptr_nonnull(strstr(why, "cannot open its memory"));
	has = 0;
	check_said("");
	area_action = 0;
	ck_assert_int_eq(begin(false), -ENOMEM);
	check_said("save hide hide ");
	area_action = AREA;
	read_error = -EFAULT;
	ck_assert_int_eq(begin(false), -ENOMEM);
}
END_TEST

START_TEST(some_errors_pass)
{
	static const int passing[] = { EBUSY, ESRCH, EFAULT, EPIPE, ETIMEDOUT,
		EAGAIN };

	for (size_t i = 0; i < ARRAY_SIZE(passing); i++)
		ck_assert(trapguard_may_pass(-passing[i]));
	ck_assert(!trapguard_may_pass(-EPERM));
	ck_assert(!trapguard_may_pass(-ENOMEM));
}
END_TEST

/* ---- removing ---- */

START_TEST(the_program_gets_its_own_action)
{
	guarded(&proc1);
	acts(&proc1, THEIRS, SA_RESTART);
	trapguard_end(&proc1);
	check_said("call ");
	ck_assert_uint_eq(kernel[ACTION_HANDLER], THEIRS);
	ck_assert_uint_eq(kernel[ACTION_FLAGS], SA_RESTART);
	ck_assert(!proc_guarded(&proc1));
	trapguard_end(&proc1);
	check_said("");
}
END_TEST

/* That discards what is pending. */
START_TEST(ignored_signals_are_queued_again)
{
	guarded(&proc1);
	proc1.trap.does = TRAP_IGNORED;
	trapguard_end(&proc1);
	check_said("read call send ");
	ck_assert_uint_eq(kernel[ACTION_HANDLER], HANDLER_IGNORE);
	guarded(&proc1);
	call_error = -ESRCH;
	trapguard_end(&proc1);
	check_said("read call read call2 ");
	ck_assert(proc_guarded(&proc1));
}
END_TEST

/* A call that was not seen has set it. */
START_TEST(an_action_in_the_place_of_ours_stays)
{
	guarded(&proc1);
	acts(&proc1, THEIRS, 0);
	kernel[ACTION_HANDLER] = THEIRS + 1;
	trapguard_end(&proc1);
	check_said("call call ");
	ck_assert_uint_eq(kernel[ACTION_HANDLER], THEIRS + 1);
	ck_assert_uint_eq(proc1.trap.action[ACTION_HANDLER], THEIRS + 1);
	/* But not what an int3 has reset. */
	guarded(&proc1);
	kernel[ACTION_HANDLER] = HANDLER_DEFAULT;
	trapguard_end(&proc1);
	check_said("call ");
	ck_assert_uint_eq(kernel[ACTION_HANDLER], THEIRS + 1);
	guarded(&proc1);
	kernel[ACTION_HANDLER] = HANDLER_DEFAULT;
	kernel[ACTION_MASK] = 4;
	trapguard_end(&proc1);
	check_said("call call ");
	ck_assert_uint_eq(kernel[ACTION_HANDLER], HANDLER_DEFAULT);
}
END_TEST

START_TEST(the_handler_is_looked_at_now_and_then)
{
	ck_assert(trapguard_check(&thread));
	check_said("");
	guarded(&proc1);
	acts(&proc1, THEIRS, 0);
	space.sig_watched = true;
	ck_assert(trapguard_check(&thread));
	check_said("call ");
	clock_ms += CHECK_MS - 1;
	ck_assert(trapguard_check(&thread));
	check_said("");
	space.sig_watched = false;
	ck_assert(trapguard_check(&thread));
	check_said("call ");
	clock_ms += CHECK_UNSEEN_MS;
	kernel[ACTION_HANDLER] = THEIRS + 1;
	ck_assert(!trapguard_check(&thread));
	check_said("call call ");
	ck_assert_uint_eq(super.unguarded, 1);
	ck_assert_uint_eq(kernel[ACTION_HANDLER], OURS);
	ck_assert_uint_eq(proc1.trap.action[ACTION_HANDLER], THEIRS + 1);
	ck_assert(proc_guarded(&proc1));
	parts_end(&proc1.parts);
}
END_TEST

START_TEST(addresses_of_the_handler)
{
	ck_assert(trapguard_is_handler(&proc1, AREA));
	ck_assert(trapguard_is_handler(&proc1, AREA + trap_code_size - 1));
	ck_assert(!trapguard_is_handler(&proc1, AREA + trap_code_size));
	ck_assert(!trapguard_is_handler(&proc1, AREA - 1));
}
END_TEST

/* ---- what a killed tracer left ---- */

START_TEST(a_handler_that_was_left_is_replaced)
{
	/* Nothing of it. */
	ck_assert(trapguard_inherit(&proc1, 0x200000, 0x1000));
	acts(&proc1, THEIRS, 0);
	ck_assert(trapguard_inherit(&proc1, 0x200000, 0x1000));
	acts(&proc1, 0x201000, 0);
	ck_assert(trapguard_inherit(&proc1, 0x200000, 0x1000));
	check_said("");
	/* Its handler: what it had noted comes back. */
	left_there.old_handler = THEIRS;
	left_there.old_flags = 1;
	left_there.old_restorer = 2;
	left_there.old_mask = 8;
	acts(&proc1, 0x200fff, 0);
	ck_assert(trapguard_inherit(&proc1, 0x200000, 0x1000));
	check_said("write syscall ");
	ck_assert_uint_eq(proc1.trap.action[ACTION_HANDLER], THEIRS);
	ck_assert_uint_eq(proc1.trap.action[ACTION_FLAGS], 1);
	ck_assert_uint_eq(proc1.trap.action[ACTION_RESTORER], 2);
	ck_assert_uint_eq(proc1.trap.action[ACTION_MASK], 8);
	ck_assert_mem_eq(in_area, proc1.trap.action, sizeof(in_area));
	left_there.old_handler = HANDLER_IGNORE;
	acts(&proc1, 0x200000, 0);
	ck_assert(trapguard_inherit(&proc1, 0x200000, 0x1000));
	check_said("read write syscall send ");
	ck_assert_int_eq(proc1.trap.does, TRAP_IGNORED);
}
END_TEST

START_TEST(a_handler_that_cannot_be_replaced)
{
	acts(&proc1, 0x200000, 0);
	syscall_error = -ESRCH;
	ck_assert(!trapguard_inherit(&proc1, 0x200000, 0x1000));
	check_said("write syscall ");
	syscall_error = 0;
	syscall_result = -EINVAL;
	ck_assert(!trapguard_inherit(&proc1, 0x200000, 0x1000));
	check_said("write syscall ");
	ck_assert_uint_eq(proc1.trap.action[ACTION_HANDLER], 0x200000);
	read_error = -EFAULT;
	ck_assert(!trapguard_inherit(&proc1, 0x200000, 0x1000));
	check_said("");
	read_error = 0;
	proc1.trap.saved = false;
	ck_assert(!trapguard_inherit(&proc1, 0x200000, 0x1000));
	check_said("");
	/* It runs no handler any more. */
	thread.stop.executed = thread2.stop.executed = true;
	ck_assert(trapguard_inherit(&proc1, 0x200000, 0x1000));
}
END_TEST

/* ---- events ---- */

START_TEST(a_program_that_is_executed_ignores_it_too)
{
	trapguard_executed(&thread);
	check_said("");
	proc1.trap.ignore_due = true;
	trapguard_executed(&thread);
	check_said("read call send ");
	ck_assert_uint_eq(kernel[ACTION_HANDLER], HANDLER_IGNORE);
	ck_assert_int_eq(proc1.trap.does, TRAP_IGNORED);
	trapguard_executed(&thread);
	check_said("");
	proc1.trap.does = TRAP_DEFAULT;
	proc1.trap.ignore_due = true;
	call_error = -ESRCH;
	trapguard_executed(&thread);
	check_said("read call ");
	ck_assert_int_eq(proc1.trap.does, TRAP_DEFAULT);
}
END_TEST

static void
becomes(struct thread *th, uint64_t handler, uint64_t flags)
{
	const uint64_t words[ACTION_WORDS] = {
		[ACTION_HANDLER] = handler, [ACTION_FLAGS] = flags
	};

	trapguard_becomes(th, words);
}

START_TEST(the_program_sets_an_action)
{
	guarded(&proc1);
	/* Flags and mask of the kernel's action are those of the program's. */
	becomes(&thread, THEIRS, SA_RESTART);
	check_said("call ");
	ck_assert_uint_eq(kernel[ACTION_HANDLER], OURS);
	ck_assert_uint_eq(kernel[ACTION_FLAGS], SA_RESTART | SA_SIGINFO);
	becomes(&thread, THEIRS + 4, SA_RESTART);
	check_said("");
	becomes(&thread, HANDLER_DEFAULT, 0);
	check_said("");
	/* Another process of the memory has no area. */
	two_processes();
	becomes(&thread2, THEIRS, 0);
	check_said("");
	ck_assert_uint_eq(proc2.trap.action[ACTION_HANDLER], THEIRS);
}
END_TEST

START_TEST(what_is_ignored_is_not_pending)
{
	thread.stop.sig = SIGTRAP;
	becomes(&thread, THEIRS, 0);
	ck_assert_int_eq(thread.stop.sig, SIGTRAP);
	said[0] = '\0';
	becomes(&thread, HANDLER_IGNORE, 0);
	ck_assert_int_eq(thread.stop.sig, 0);
	check_said("");
	thread.stop.sig = SIGINT;
	status.sig_pending = SIGBIT(SIGTRAP);
	becomes(&thread, HANDLER_IGNORE, 0);
	ck_assert_int_eq(thread.stop.sig, SIGINT);
	check_said("");
	status.sig_blocked = SIGBIT(SIGTRAP) | SIGBIT(SIGINT);
	becomes(&thread, HANDLER_IGNORE, 0);
	check_said("stop discard resume ");
	status_error = -ESRCH;
	becomes(&thread, HANDLER_IGNORE, 0);
	check_said("");
	status_error = 0;
	becomes(&thread, HANDLER_DEFAULT, 0);
	check_said("");
}
END_TEST

START_TEST(a_handler_for_one_signal)
{
	guarded(&proc1);
	acts(&proc1, THEIRS, 0);
	trapguard_delivers(&thread);
	ck_assert_uint_eq(proc1.trap.action[ACTION_HANDLER], THEIRS);
	ck_assert(!proc1.handler.outdated);
	acts(&proc1, THEIRS, (uint64_t)(uint32_t)SA_RESETHAND);
	trapguard_delivers(&thread);
	ck_assert_uint_eq(proc1.trap.action[ACTION_HANDLER], HANDLER_DEFAULT);
	ck_assert(proc1.handler.outdated);
	/* The next one finds what is in force now. */
	trapguard_delivers(&thread);
	ck_assert(!proc1.handler.outdated);
	ck_assert_uint_eq(in_area[ACTION_FLAGS],
	    (uint64_t)(uint32_t)SA_RESETHAND | SA_SIGINFO);
	check_said("");
	/* Our handler would run that of another process. */
	two_processes();
	guarded(&proc2);
	acts(&proc2, THEIRS + 8, 0);
	trapguard_delivers(&thread2);
	check_said("call2 ");
	ck_assert_uint_eq(kernel[ACTION_HANDLER], THEIRS + 8);
	ck_assert(!proc_guarded(&proc2));
}
END_TEST

START_TEST(a_signal_is_passed_on_while_others_trap)
{
	guarded(&proc1);
	acts(&proc1, THEIRS, 0);
	thread.stop.sig = SIGTRAP;
	trapguard_pass(&thread);
	check_said("");
	blocked = true;
	trapguard_pass(&thread);
	check_said("stop deliver resume ");
	/* The action was reset: each thread is asked to set it. */
	blocked = false;
	reset = true;
	trapguard_pass(&thread);
	check_said("stop call call2 deliver resume ");
	for (int i = 0; i < 5; i++) {
		thread.stop.sig = i == 0 ? SIGINT : SIGTRAP;
		thread.stop.held = i == 1;
		thread.stop.queued = i == 2;
		proc1.handler.state = i == 3 ? HANDLER_ABSENT : HANDLER_IN;
		proc1.trap.does = i == 4 ? TRAP_DEFAULT : TRAP_CAUGHT;
		trapguard_pass(&thread);
		check_said("");
	}
	proc1.handler.outdated = true;
	trapguard_pass(&thread);
	check_said("stop call call2 deliver resume ");
}
END_TEST

START_TEST(a_handler_that_an_int3_removed)
{
	guarded(&proc1);
	memset(kernel, 0, sizeof(kernel));
	trapguard_lost(&thread);
	check_said("call ");
	ck_assert_uint_eq(kernel[ACTION_HANDLER], OURS);
	ck_assert_int_eq(proc1.handler.state, HANDLER_IN);
	call_error = -ESRCH;
	trapguard_lost(&thread);
	ck_assert_int_eq(proc1.handler.state, HANDLER_LOST);
	call_error = 0;
	said[0] = '\0';
	proc1.vfork_child = true;
	trapguard_lost(&thread);
	check_said("");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { each_process_gets_the_handler,
		another_thread_makes_the_call,
		what_a_traced_program_has_is_known, who_has_left_is_not_asked,
		each_step_may_fail, some_errors_pass,
		the_program_gets_its_own_action,
		ignored_signals_are_queued_again,
		an_action_in_the_place_of_ours_stays,
		the_handler_is_looked_at_now_and_then, addresses_of_the_handler,
		a_handler_that_was_left_is_replaced,
		a_handler_that_cannot_be_replaced,
		a_program_that_is_executed_ignores_it_too,
		the_program_sets_an_action, what_is_ignored_is_not_pending,
		a_handler_for_one_signal,
		a_signal_is_passed_on_while_others_trap,
		a_handler_that_an_int3_removed };

	return suite_run(
	    "trapguard_calls", setup, NULL, tests, ARRAY_SIZE(tests));
}
