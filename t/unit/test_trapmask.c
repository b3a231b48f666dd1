/*
 * tracer/ptrace/trapmask.c: what is known of a program's signal masks, and where
 * SIGTRAP is hidden in them and shown again.  Masks and /proc are doubles.
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "dlang/base/base.h"
#include "inject/tracepoint.h"
#include "inject/trapset.h"
#include "t/unit/suite.h"
#include "tracer/ptrace/super.h"

#define TRAP SIGBIT(SIGTRAP)
#define KIN4 \
	(SIGBIT(SIGILL) | SIGBIT(SIGBUS) | SIGBIT(SIGFPE) | SIGBIT(SIGSEGV))
#define USR SIGBIT(SIGUSR1)
#define ALL (~UINT64_C(0) & ~NEVER_BLOCKED)

static struct space space;
static struct proc proc;
static struct thread thread, second;

/* What the kernel has. */
static uint64_t kernel; /* the mask of `thread' */
static int read_error, write_error, status_error;
static struct proc_status status; /* in /proc */
static char its_state;
static int pending[4]; /* numbers of signals; 0 ends them */
/* What the area lists: the mask of a thread. */
static bool is_listed;
static uint32_t listed_mask;
static int add_error, flush_error;
static unsigned sets;            /* how often the mask was set */
static bool frames_like_program; /* frames have the bit */
static unsigned frame_changes;
static bool wants_hide;

static int
double_mask(const struct thread *th, uint64_t *mask)
{
	ck_assert_ptr_eq(th, &thread);
	*mask = kernel;
	return read_error;
}

static int
double_set_mask(struct thread *th, uint64_t mask)
{
	ck_assert_ptr_eq(th, &thread);
	if (write_error == 0)
		kernel = mask;
	sets++;
	return write_error;
}

static int
double_status(pid_t tid, struct proc_status *out)
{
	ck_assert_int_eq(tid, thread.tid);
	*out = status;
	return status_error;
}

static int
double_add(const void *ts, uint32_t kind, uint64_t addr, uint32_t value)
{
	ck_assert_ptr_eq(ts, &space);
	ck_assert_uint_eq(kind, TRAP_MASK);
	ck_assert_uint_eq(addr, (uint64_t)thread.tid);
	if (add_error == 0) {
		is_listed = true;
		listed_mask = value;
	}
	return add_error;
}

static void
double_drop(uint32_t kind, uint64_t addr)
{
	ck_assert_uint_eq(kind, TRAP_MASK);
	ck_assert_uint_eq(addr, (uint64_t)thread.tid);
	is_listed = false;
}

static unsigned
double_frames(uint64_t like, uint64_t bits, bool block)
{
	ck_assert_uint_eq(like, KIN4);
	ck_assert_uint_eq(bits, TRAP);
	frames_like_program = block;
	frame_changes++;
	return 1;
}

static bool
double_pending(bool shared, unsigned i, siginfo_t *si)
{
	ck_assert(!shared);
	si->si_signo = pending[i];
	return pending[i] != 0;
}

#define thread_sigmask(th, mask)         double_mask(th, mask)
#define thread_set_sigmask(th, mask)     double_set_mask(th, mask)
#define procfs_status(tid, st)           double_status(tid, st)
#define procfs_state(tid)                its_state
#define tptable_traps(tab)               ((struct trapset *)(tab))
#define trapset_add(ts, kind, a, v)      double_add(ts, kind, a, v)
#define trapset_flush(ts)                flush_error
#define trapset_drop(ts, kind, a)        double_drop(kind, a)
#define sigframes_change(th, like, b, k) double_frames(like, b, k)
#define thread_pending(th, shared, i, s) double_pending(shared, i, s)
#define stop_want_calls(th, what, want)            \
	do {                                       \
		ck_assert_int_eq(what, WANT_HIDE); \
		wants_hide = want;                 \
	} while (0)
#include "tracer/ptrace/trapmask.c"

/* A guarded process that does not use SIGTRAP; its thread is stopped and blocks
 * all signals that programs can. */
static void
setup(void)
{
	proc.space = &space;
	space.tab = (struct tptable *)&space;
	space.sig_watched = space.masks_watched = true;
	proc.handler.state = HANDLER_IN;
	thread.tid = 71;
	thread.proc = second.proc = &proc;
	second.tid = 72;
	thread.stop.state = second.stop.state = TH_STOPPED;
	*vec_push(&proc.threads) = &thread;
	*vec_push(&proc.threads) = &second;
}

static void
teardown(void)
{
	vec_fini(&proc.threads);
}

/* The kernel has this mask, and the program too. */
static void
blocks(uint64_t mask)
{
	kernel = status.sig_blocked = mask;
	thread.mask.state = MASK_UNKNOWN;
	trapmask_becomes(&thread, mask);
}

/* SIGTRAP is hidden in this mask. */
static void
hides(uint64_t mask)
{
	blocks(mask);
	sigtrap_hide(&thread);
	ck_assert(trapmask_is_hidden(&thread));
	status.sig_blocked = kernel;
}

/* ---- what is known ---- */

START_TEST(sigtrap_is_guessed_by_its_kin)
{
	const uint64_t kin[] = { SIGBIT(SIGILL), SIGBIT(SIGBUS), SIGBIT(SIGFPE),
		SIGBIT(SIGSEGV) };

	ck_assert(trapmask_seems_blocked(KIN4));
	ck_assert(trapmask_seems_blocked(ALL));
	for (size_t i = 0; i < ARRAY_SIZE(kin); i++)
		ck_assert(!trapmask_seems_blocked(ALL & ~kin[i]));
	ck_assert(trapmask_is_apart(TRAP));
	ck_assert(trapmask_is_apart(KIN4));
	ck_assert(!trapmask_is_apart(KIN4 | TRAP));
	ck_assert(!trapmask_is_apart(USR));
}
END_TEST

START_TEST(a_mask_that_was_seen_tells)
{
	blocks(TRAP | USR);
	/* The hit has removed the bit; C libraries use 32 and 33 as they
	 * like. */
	ck_assert(trapmask_was_blocked(&thread, USR));
	ck_assert(trapmask_was_blocked(&thread, USR | SIGBIT(32)));
	ck_assert(trapmask_was_blocked(&thread, USR | SIGBIT(33)));
	ck_assert(!trapmask_was_blocked(&thread, 0));
	/* A handler that is not known has added signals. */
	ck_assert(trapmask_was_blocked(&thread, USR | SIGBIT(SIGUSR2)));
	ck_assert(trapmask_is_recent(&thread, USR));
	ck_assert(!trapmask_is_recent(&thread, 0));
	blocks(KIN4);
	ck_assert(!trapmask_was_blocked(&thread, KIN4));
	/* Of other masks nothing is known, so the kin decide. */
	ck_assert(trapmask_was_blocked(&thread, KIN4 | USR));
	ck_assert(!trapmask_was_blocked(&thread, USR));
	blocks(USR);
	ck_assert(!trapmask_was_blocked(&thread, USR | SIGBIT(SIGUSR2)));
	thread.mask.state = MASK_UNKNOWN;
	ck_assert(trapmask_was_blocked(&thread, KIN4));
	ck_assert(!trapmask_is_recent(&thread, KIN4));
}
END_TEST

START_TEST(masks_of_nested_handlers_are_remembered)
{
	static const int more[] = { 2, 3, 6, 12, 13, 14, 15 };
	uint64_t mask = TRAP | USR;

	blocks(mask);
	for (int i = 0; i < MASKS_BEFORE; i++)
		trapmask_becomes(&thread, SIGBIT(more[i]));
	ck_assert(trapmask_was_blocked(&thread, USR));
	for (int i = 0; i < MASKS_BEFORE; i++)
		ck_assert(!trapmask_was_blocked(&thread, SIGBIT(more[i])));
	/* There is no room for more. */
	trapmask_becomes(&thread, SIGBIT(more[6]));
	ck_assert(!trapmask_was_blocked(&thread, USR));
	ck_assert(trapmask_is_recent(&thread, SIGBIT(more[6])));
	ck_assert(trapmask_is_recent(&thread, SIGBIT(more[5])));
	ck_assert(!trapmask_is_recent(&thread, SIGBIT(more[4])));
	/* It is the last one. */
	blocks(KIN4);
	trapmask_becomes(&thread, TRAP | USR);
	trapmask_becomes(&thread, SIGBIT(SIGINT));
	ck_assert(trapmask_was_blocked(&thread, USR));
	/* A mask that is set again and again takes one place. */
	blocks(TRAP | USR);
	for (int i = 0; i < 20; i++)
		trapmask_becomes(&thread, SIGBIT(SIGINT));
	ck_assert(trapmask_was_blocked(&thread, USR));
}
END_TEST

START_TEST(the_kernel_blocks_no_kill)
{
	trapmask_becomes(&thread, ~UINT64_C(0));
	ck_assert_uint_eq(thread.mask.now, ALL);
	ck_assert(sigtrap_blocked(&thread));
}
END_TEST

START_TEST(calls_change_the_mask)
{
	blocks(USR);
	sigtrap_mask_set(&thread, SIG_BLOCK, TRAP);
	ck_assert_uint_eq(thread.mask.now, USR | TRAP);
	sigtrap_mask_set(&thread, SIG_UNBLOCK, USR);
	ck_assert_uint_eq(thread.mask.now, TRAP);
	sigtrap_mask_set(&thread, SIG_SETMASK, KIN4);
	ck_assert_uint_eq(thread.mask.now, KIN4);
	/* A signal came before the last one. */
	sigtrap_mask_undo(&thread);
	ck_assert_uint_eq(thread.mask.now, TRAP);
	ck_assert_uint_eq(thread.mask.before[0], KIN4);
	/* A handler returns. */
	sigtrap_mask_back(&thread, USR);
	ck_assert_uint_eq(thread.mask.now, USR);
	thread.mask.looked = 5;
	trapmask_doubt(&thread);
	ck_assert_uint_eq(thread.mask.looked, 0);
}
END_TEST

START_TEST(a_mask_is_read)
{
	blocks(USR);
	kernel = TRAP;
	trapmask_read(&thread);
	ck_assert_uint_eq(thread.mask.now, TRAP);
	ck_assert_uint_eq(thread.mask.before[0], USR); /* it stays */
	ck_assert(sigtrap_blocked(&thread));
	read_error = -ESRCH;
	trapmask_read(&thread);
	ck_assert(!sigtrap_blocked(&thread));
	read_error = 0;
	trapmask_read(&thread);
	ck_assert(sigtrap_blocked(&thread));
	thread.stop.state = TH_RUNNING;
	trapmask_read(&thread);
	ck_assert(!sigtrap_blocked(&thread));
}
END_TEST

START_TEST(earlier_masks_are_forgotten_at_the_beginning)
{
	blocks(TRAP | USR);
	kernel = SIGBIT(SIGINT);
	trapmask_begin(&thread);
	ck_assert_uint_eq(thread.mask.now, SIGBIT(SIGINT));
	ck_assert(!trapmask_was_blocked(&thread, USR));
	/* Not where the mask is not the program's, or not to be had. */
	blocks(TRAP | USR);
	kernel = 0;
	thread.stop.kind = EV_TRAP;
	trapmask_begin(&thread);
	thread.stop.kind = EV_STOP;
	thread.stop.asleep = true;
	trapmask_begin(&thread);
	thread.stop.asleep = false;
	thread.stop.state = TH_RUNNING;
	trapmask_begin(&thread);
	thread.stop.state = TH_STOPPED;
	read_error = -ESRCH;
	trapmask_begin(&thread);
	read_error = 0;
	thread.mask.state = MASK_HIDDEN;
	trapmask_begin(&thread);
	thread.mask.state = MASK_KNOWN;
	ck_assert_uint_eq(thread.mask.now, TRAP | USR);
	ck_assert(trapmask_was_blocked(&thread, USR));
}
END_TEST

START_TEST(a_program_that_treats_sigtrap_apart)
{
	blocks(USR);
	ck_assert(!sigtrap_apart(&thread));
	blocks(TRAP);
	ck_assert(sigtrap_apart(&thread));
	blocks(USR);
	proc.trap.does = TRAP_IGNORED;
	ck_assert(sigtrap_apart(&thread));
}
END_TEST

/* ---- did an int3 remove the handler? ---- */

START_TEST(proc_tells_whether_the_handler_is_there)
{
	bool reset = false;

	ck_assert(sigtrap_tells(&thread, &reset));
	ck_assert(reset);
	ck_assert(sigtrap_is_reset(&thread));
	status.sig_caught = TRAP;
	ck_assert(sigtrap_tells(&thread, &reset));
	ck_assert(!reset);
	ck_assert(!sigtrap_is_reset(&thread));
	status.sig_caught = ~TRAP;
	status_error = -ESRCH;
	ck_assert(!sigtrap_tells(&thread, &reset));
	ck_assert(!sigtrap_is_reset(&thread));
	status_error = 0;
	proc.handler.state = HANDLER_LOST;
	ck_assert(!sigtrap_tells(&thread, &reset));
}
END_TEST

START_TEST(after_it_is_set_again_proc_tells_nothing_of_this_thread)
{
	bool reset;

	traphandler_sets(&proc);
	ck_assert(!sigtrap_tells(&thread, &reset));
	/* From its next run on it does, */
	trapmask_runs(&thread);
	ck_assert(sigtrap_tells(&thread, &reset));
	/* unless a trap is still pending, which came before. */
	traphandler_sets(&proc);
	pending[0] = SIGUSR1;
	pending[1] = SIGTRAP;
	trapmask_runs(&thread);
	ck_assert(!sigtrap_tells(&thread, &reset));
	pending[1] = 0;
	trapmask_runs(&thread);
	ck_assert(sigtrap_tells(&thread, &reset));
	pending[1] = SIGTRAP;
	/* A trap is the stop itself; a blocked one is none of ours. */
	traphandler_sets(&proc);
	thread.stop.kind = EV_TRAP;
	trapmask_runs(&thread);
	ck_assert(sigtrap_tells(&thread, &reset));
	traphandler_sets(&proc);
	thread.stop.kind = EV_STOP;
	kernel = TRAP;
	trapmask_runs(&thread);
	ck_assert(sigtrap_tells(&thread, &reset));
	traphandler_sets(&proc);
	kernel = 0;
	read_error = -ESRCH;
	trapmask_runs(&thread);
	ck_assert(sigtrap_tells(&thread, &reset));
}
END_TEST

START_TEST(another_thread_may_have_removed_it)
{
	second.mask.state = MASK_KNOWN;
	second.mask.now = TRAP;
	second.stop.kind = EV_TRAP;
	second.stop.queued = 1;
	ck_assert(trapmask_another_is_at_one(&thread));
	second.stop.kind = EV_STOP;
	ck_assert(!trapmask_another_is_at_one(&thread));
	second.stop.kind = EV_TRAP;
	second.stop.queued = 0; /* the hit was handled */
	ck_assert(!trapmask_another_is_at_one(&thread));
	/* Its stop was not waited for yet. */
	second.stop.state = TH_RUNNING;
	its_state = 't';
	ck_assert(trapmask_another_is_at_one(&thread));
	its_state = 'R';
	ck_assert(!trapmask_another_is_at_one(&thread));
	its_state = 't';
	second.mask.now = 0;
	second.mask.looked = 7;
	ck_assert(!trapmask_another_is_at_one(&thread));
	/* A handler may have been called, whose mask is not known. */
	trapmask_doubt(&second);
	ck_assert(trapmask_another_is_at_one(&thread));
	second.mask = (struct trapmask){ .looked = 7 };
	ck_assert(trapmask_another_is_at_one(&thread));
	/* The thread itself is no other. */
	second.mask.state = MASK_KNOWN;
	thread.mask = (struct trapmask){ .state = MASK_KNOWN, .now = TRAP };
	thread.stop.kind = EV_TRAP;
	thread.stop.queued = 1;
	ck_assert(!trapmask_another_is_at_one(&thread));
}
END_TEST

/* ---- hiding ---- */

START_TEST(a_blocked_sigtrap_is_hidden)
{
	blocks(ALL);
	sigtrap_hide(&thread);
	ck_assert(trapmask_is_hidden(&thread));
	ck_assert(!sigtrap_blocked(&thread));
	ck_assert_uint_eq(kernel, ALL & ~TRAP);
	/* If dtrap is killed now, the next tracer shows it; and the masks of
	 * handlers lack it too. */
	ck_assert(is_listed);
	ck_assert_uint_eq(listed_mask, (uint32_t)(ALL & ~TRAP));
	ck_assert_uint_eq(frame_changes, 1);
	ck_assert(!frames_like_program);
	sigtrap_show(&thread);
	ck_assert(!trapmask_is_hidden(&thread));
	ck_assert_uint_eq(kernel, ALL);
	ck_assert(!is_listed);
	/* The masks of frames are changed back at the end only. */
	sigtrap_hide(&thread);
	sigtrap_show(&thread);
	ck_assert(!frames_like_program);
	ck_assert_uint_eq(frame_changes, 1);
	sigtrap_end(&thread);
	ck_assert(frames_like_program);
	ck_assert_uint_eq(frame_changes, 2);
	sigtrap_end(&thread);
	ck_assert_uint_eq(frame_changes, 2);
}
END_TEST

/* Is SIGTRAP not hidden, and nothing left of the attempt? */
static void
stays(void)
{
	uint64_t was = kernel;

	sets = 0;
	sigtrap_hide(&thread);
	ck_assert(!trapmask_is_hidden(&thread));
	ck_assert_uint_eq(kernel, was);
	ck_assert_uint_eq(sets, 0);
	ck_assert(!is_listed);
}

START_TEST(it_is_not_hidden_where_it_could_not_be_shown_again)
{
	blocks(KIN4 | USR); /* the program does not block it */
	stays();
	blocks(TRAP | USR); /* the kin do not tell it */
	stays();
	blocks(KIN4 | TRAP);
	proc.trap.does = TRAP_CAUGHT; /* the program uses it */
	stays();
	proc.trap.does = TRAP_IGNORED;
	proc.trap.sent = true;
	stays();
	proc.trap.sent = false;
	space.sig_watched = false; /* its changes are not seen */
	stays();
	space.sig_watched = true;
	space.masks_watched = false;
	stays();
	space.masks_watched = true;
	space.mask_unseen = true;
	stays();
	space.mask_unseen = false;
	proc.handler.state = HANDLER_ABSENT;
	stays();
	proc.handler.state = HANDLER_IN;
	status.sig_pending = TRAP; /* it would be delivered */
	stays();
	status.sig_pending = ~TRAP;
	status.sig_blocked = KIN4 | TRAP | USR; /* sigsuspend() */
	stays();
	status.sig_blocked = KIN4 | TRAP;
	status_error = -ESRCH;
	stays();
	status_error = 0;
	read_error = -ESRCH;
	stays();
	read_error = 0;
	thread.stop.state = TH_RUNNING;
	stays();
	thread.stop.state = TH_STOPPED;
	add_error = -ENOSPC; /* nobody could show it */
	stays();
	add_error = 0;
	space.tab = NULL;
	stays();
	space.tab = (struct tptable *)&space;
	sigtrap_hide(&thread);
	ck_assert(trapmask_is_hidden(&thread));
}
END_TEST

START_TEST(it_is_not_hidden_when_the_list_does_not_reach_the_target)
{
	blocks(ALL);
	flush_error = -EIO;
	sigtrap_hide(&thread);
	ck_assert(!trapmask_is_hidden(&thread));
	ck_assert_uint_eq(kernel, ALL);
	flush_error = 0;
	write_error = -ESRCH;
	sigtrap_hide(&thread);
	ck_assert(!trapmask_is_hidden(&thread));
}
END_TEST

/* The C library blocks everything for a moment, whatever the program does. */
START_TEST(it_is_hidden_in_the_masks_of_the_c_library)
{
	proc.trap.does = TRAP_CAUGHT;
	blocks(ALL);
	sigtrap_hide(&thread);
	ck_assert(trapmask_is_hidden(&thread));
	sigtrap_show(&thread);
	space.mask_unseen = true;
	stays();
	space.mask_unseen = false;
	space.masks_watched = false;
	stays();
	space.masks_watched = true;
	proc.handler.state = HANDLER_ABSENT;
	stays();
}
END_TEST

START_TEST(it_is_hidden_after_the_next_call_if_it_can_be)
{
	blocks(ALL);
	sigtrap_hide_after(&thread);
	ck_assert(wants_hide);
	proc.filtered = true; /* its filter sees such calls */
	sigtrap_hide_after(&thread);
	ck_assert(!wants_hide);
	proc.filtered = false;
	blocks(KIN4);
	sigtrap_hide_after(&thread);
	ck_assert(!wants_hide);
	blocks(TRAP);
	sigtrap_hide_after(&thread);
	ck_assert(!wants_hide);
}
END_TEST

START_TEST(a_hidden_bit_is_shown_at_the_end)
{
	hides(ALL);
	thread.stop.state = TH_RUNNING;
	sigtrap_end(&thread); /* it can not be: the list stays */
	ck_assert(is_listed);
	thread.stop.state = TH_STOPPED;
	sigtrap_end(&thread);
	ck_assert_uint_eq(kernel, ALL);
	ck_assert(!is_listed);
	ck_assert(frames_like_program);
	/* A handler has returned meanwhile to a mask without it. */
	hides(ALL);
	kernel = USR;
	sigtrap_show(&thread);
	ck_assert_uint_eq(kernel, USR);
	ck_assert(!is_listed);
	/* Nothing is hidden: nothing is done. */
	kernel = KIN4;
	sigtrap_show(&thread);
	ck_assert_uint_eq(kernel, KIN4);
	/* A thread that runs. */
	hides(ALL);
	thread.stop.state = TH_RUNNING;
	sigtrap_show(&thread);
	ck_assert(!trapmask_is_hidden(&thread));
	ck_assert_uint_eq(kernel, ALL & ~TRAP);
}
END_TEST

START_TEST(a_thread_that_ends_is_listed_no_more)
{
	hides(ALL);
	sigtrap_ended(&thread);
	ck_assert(!is_listed);
	is_listed = true;
	thread.mask.state = MASK_KNOWN;
	sigtrap_ended(&thread);
	ck_assert(is_listed);
	space.tab = NULL; /* no list, no crash */
	thread.mask.state = MASK_HIDDEN;
	sigtrap_ended(&thread);
	ck_assert(is_listed);
}
END_TEST

START_TEST(what_a_killed_tracer_has_hidden_is_shown)
{
	kernel = ALL & ~TRAP;
	sigtrap_reveal(&thread);
	ck_assert_uint_eq(kernel, ALL);
	ck_assert(sigtrap_blocked(&thread));
	ck_assert_uint_eq(thread.mask.now, ALL);
	ck_assert(frames_like_program);
	/* Masks that never had it stay as they are. */
	sets = 0;
	kernel = USR;
	sigtrap_reveal(&thread);
	kernel = ALL;
	sigtrap_reveal(&thread);
	kernel = ALL & ~TRAP;
	read_error = -ESRCH;
	sigtrap_reveal(&thread);
	read_error = 0;
	thread.mask.state = MASK_HIDDEN; /* by this tracer */
	sigtrap_reveal(&thread);
	ck_assert_uint_eq(sets, 0);
	/* It cannot be shown, so it is not known to be blocked. */
	thread.mask = (struct trapmask){ 0 };
	write_error = -ESRCH;
	sigtrap_reveal(&thread);
	ck_assert(!sigtrap_blocked(&thread));
}
END_TEST

START_TEST(a_hidden_bit_is_listed_in_a_new_table)
{
	hides(ALL);
	is_listed = false;
	read_error = -ESRCH;
	sigtrap_list(&thread);
	ck_assert(!is_listed);
	read_error = 0;
	sigtrap_list(&thread);
	ck_assert(is_listed);
	is_listed = false;
	thread.mask.state = MASK_KNOWN;
	sigtrap_list(&thread);
	ck_assert(!is_listed);
}
END_TEST

/* ---- rt_sigprocmask() ---- */

static struct mask_call call;

static bool
plan(int how, uint64_t set)
{
	return sigtrap_mask_plan(&thread, how, &set, &call);
}

START_TEST(a_call_that_blocks_sigtrap_is_made_by_dtrap)
{
	blocks(USR);
	ck_assert(plan(SIG_BLOCK, KIN4 | TRAP | SIGBIT(SIGKILL)));
	ck_assert_uint_eq(call.old, USR);
	ck_assert_uint_eq(call.kernel, USR);
	ck_assert_uint_eq(call.next, USR | KIN4 | TRAP);
	ck_assert(plan(SIG_SETMASK, ~UINT64_C(0)));
	ck_assert_uint_eq(call.next, ALL);
	/* Others are the kernel's. */
	ck_assert(!plan(SIG_SETMASK, KIN4));
	ck_assert(!plan(SIG_BLOCK, TRAP)); /* it could not be shown again */
	ck_assert(!plan(SIG_UNBLOCK, USR));
	ck_assert(!plan(7, ALL));
	ck_assert(!sigtrap_mask_plan(&thread, SIG_BLOCK, NULL, &call));
	proc.filtered = true;
	ck_assert(!plan(SIG_SETMASK, ALL));
	proc.filtered = false;
	proc.handler.state = HANDLER_ABSENT;
	ck_assert(!plan(SIG_SETMASK, ALL));
	proc.handler.state = HANDLER_IN;
	read_error = -ESRCH;
	ck_assert(!plan(SIG_SETMASK, ALL));
	read_error = 0;
	status.sig_pending = TRAP;
	ck_assert(!plan(SIG_SETMASK, ALL));
	status.sig_pending = 0;
	blocks(KIN4 | TRAP); /* in the kernel, too */
	ck_assert(!plan(SIG_SETMASK, ALL));
	blocks(USR);
	proc.trap.does = TRAP_CAUGHT;
	ck_assert(!plan(SIG_SETMASK, KIN4 | TRAP));
	ck_assert(plan(SIG_SETMASK, ALL)); /* the C library */
}
END_TEST

START_TEST(while_it_is_hidden_dtrap_makes_each_call)
{
	hides(KIN4 | TRAP);
	ck_assert(plan(SIG_BLOCK, USR));
	ck_assert_uint_eq(call.old, KIN4 | TRAP);
	ck_assert_uint_eq(call.kernel, KIN4);
	ck_assert_uint_eq(call.next, KIN4 | TRAP | USR);
	ck_assert(plan(SIG_UNBLOCK, TRAP));
	ck_assert_uint_eq(call.next, KIN4);
	ck_assert(sigtrap_mask_plan(&thread, SIG_BLOCK, NULL, &call));
	ck_assert_uint_eq(call.next, KIN4 | TRAP);
}
END_TEST

START_TEST(the_mask_after_a_call)
{
	blocks(USR);
	ck_assert(trapmask_goes(&thread, ALL));
	ck_assert(is_listed); /* before the mask is set */
	trapmask_went(&thread, ALL, false);
	ck_assert(!is_listed);
	ck_assert_uint_eq(thread.mask.now, USR);
	ck_assert(trapmask_goes(&thread, ALL));
	trapmask_went(&thread, ALL, true);
	ck_assert(is_listed);
	ck_assert(trapmask_is_hidden(&thread));
	ck_assert_uint_eq(thread.mask.now, ALL);
	ck_assert_uint_eq(frame_changes, 1);
	/* It stays hidden when a further call fails. */
	trapmask_went(&thread, KIN4, false);
	ck_assert(is_listed);
	ck_assert(trapmask_goes(&thread, USR));
	trapmask_went(&thread, USR, true);
	ck_assert(!is_listed);
	ck_assert(!trapmask_is_hidden(&thread));
	ck_assert_uint_eq(thread.mask.now, USR);
	/* Without the list it is not hidden; a mask without it needs none. */
	add_error = -ENOSPC;
	ck_assert(!trapmask_goes(&thread, ALL));
	ck_assert(trapmask_goes(&thread, USR));
	ck_assert_uint_eq(frame_changes, 1);
}
END_TEST

/* ---- at a hit ---- */

START_TEST(a_handler_in_which_it_was_hidden_has_returned)
{
	hides(ALL);
	trapmask_look(&thread, ALL & ~TRAP, 50);
	ck_assert(trapmask_is_hidden(&thread));
	ck_assert_uint_eq(thread.mask.looked, 50);
	trapmask_look(&thread, USR, 60);
	ck_assert(!trapmask_is_hidden(&thread));
	/* Its kin are blocked, but it was not. */
	thread.mask.state = MASK_HIDDEN;
	thread.mask.now = KIN4;
	trapmask_look(&thread, KIN4, 70);
	ck_assert(!trapmask_is_hidden(&thread));
}
END_TEST

START_TEST(a_hit_is_mended)
{
	/* The int3 came while SIGTRAP was blocked: the kernel has unblocked
	 * it. */
	blocks(ALL);
	kernel = status.sig_blocked = ALL & ~TRAP;
	trapmask_mend(&thread, kernel, true);
	ck_assert(trapmask_is_hidden(&thread));
	ck_assert(is_listed);
	ck_assert(thread.mask.frames_due);
	ck_assert_uint_eq(thread.mask.now, ALL);
	ck_assert_uint_eq(sets, 0); /* it is hidden already */
	/* It was not blocked. */
	trapmask_mend(&thread, USR, false);
	ck_assert(!trapmask_is_hidden(&thread));
	ck_assert_uint_eq(thread.mask.now, USR);
	/* It cannot be hidden, so it is blocked again. */
	kernel = status.sig_blocked = USR;
	trapmask_mend(&thread, USR, true);
	ck_assert(!trapmask_is_hidden(&thread));
	ck_assert_uint_eq(kernel, USR | TRAP);
	sets = 0;
	trapmask_mend(&thread, USR | TRAP, true); /* it is there */
	ck_assert_uint_eq(sets, 0);
	/* Hidden, and it stays so; but not where masks are not seen. */
	hides(ALL);
	sets = 0;
	trapmask_mend(&thread, ALL & ~TRAP, true);
	ck_assert(trapmask_is_hidden(&thread));
	ck_assert_uint_eq(sets, 0);
	space.mask_unseen = true;
	trapmask_mend(&thread, ALL & ~TRAP, true);
	ck_assert(!trapmask_is_hidden(&thread));
	ck_assert_uint_eq(kernel, ALL);
}
END_TEST

START_TEST(a_hit_makes_an_unknown_mask_known)
{
	kernel = status.sig_blocked = 0;
	trapmask_mend(&thread, 0, false);
	ck_assert_int_eq(thread.mask.state, MASK_KNOWN);
	blocks(USR);
	trapmask_becomes(&thread, KIN4);
	trapmask_mend(&thread, KIN4, false); /* as known: no new one */
	ck_assert_uint_eq(thread.mask.before[0], USR);
}
END_TEST

START_TEST(a_handler_returns_to_a_mask_without_the_bit)
{
	/* The frame was made while it was hidden. */
	hides(ALL);
	ck_assert_uint_eq(trapmask_of_frame(&thread, ALL & ~TRAP), ALL);
	ck_assert(trapmask_is_hidden(&thread));
	/* Before that: the frame's mask is the program's. */
	ck_assert_uint_eq(trapmask_of_frame(&thread, USR), USR);
	ck_assert(!trapmask_is_hidden(&thread));
	/* It was shown since, but the frame still lacks it. */
	is_listed = false;
	ck_assert_uint_eq(trapmask_of_frame(&thread, ALL & ~TRAP), ALL);
	ck_assert(is_listed);
	ck_assert(trapmask_is_hidden(&thread));
	thread.mask.state = MASK_KNOWN;
	add_error = -ENOSPC;
	ck_assert_uint_eq(trapmask_of_frame(&thread, ALL & ~TRAP), ALL & ~TRAP);
	add_error = 0;
	thread.mask.frames_due = false; /* no frame was changed */
	ck_assert_uint_eq(trapmask_of_frame(&thread, ALL & ~TRAP), ALL & ~TRAP);
	thread.mask.frames_due = true;
	ck_assert_uint_eq(trapmask_of_frame(&thread, ALL), ALL);
	ck_assert(!trapmask_is_hidden(&thread));
	blocks(KIN4);
	ck_assert_uint_eq(trapmask_of_frame(&thread, KIN4), KIN4);
}
END_TEST

/* ---- births ---- */

START_TEST(a_new_thread_has_the_mask_of_its_creator)
{
	second.mask = (struct trapmask){
		.state = MASK_KNOWN, .now = USR, .frames_due = true
	};
	sigtrap_inherit(&second, &thread);
	ck_assert_uint_eq(thread.mask.now, USR);
	ck_assert(thread.mask.frames_due);
	kernel = TRAP;
	sigtrap_born(&thread);
	ck_assert_uint_eq(thread.mask.now, TRAP);
	for (int i = 0; i < MASKS_BEFORE; i++)
		ck_assert_uint_eq(thread.mask.before[i], TRAP);
	/* The C library blocks everything while it creates one. */
	sigtrap_inherit(&second, &thread);
	kernel = ALL;
	sigtrap_born(&thread);
	ck_assert_uint_eq(thread.mask.now, USR);
	ck_assert_uint_eq(thread.mask.before[0], ALL);
	/* The creator's is not known. */
	thread.mask = (struct trapmask){ 0 };
	sigtrap_born(&thread);
	ck_assert_uint_eq(thread.mask.now, ALL);
	read_error = -ESRCH;
	sigtrap_born(&thread);
	ck_assert_int_eq(thread.mask.state, MASK_UNKNOWN);
	ck_assert(!is_listed);
}
END_TEST

START_TEST(what_is_hidden_in_the_creator_is_hidden_in_the_thread)
{
	second.mask =
	    (struct trapmask){ .state = MASK_HIDDEN, .now = KIN4 | TRAP };
	sigtrap_inherit(&second, &thread);
	kernel = KIN4;
	sigtrap_born(&thread);
	ck_assert(trapmask_is_hidden(&thread));
	ck_assert(is_listed);
	ck_assert_uint_eq(thread.mask.now, KIN4 | TRAP);
	ck_assert_uint_eq(thread.mask.before[MASKS_BEFORE - 1], KIN4 | TRAP);
	/* The creator was in a handler, which has returned since. */
	sigtrap_inherit(&second, &thread);
	kernel = USR;
	sigtrap_born(&thread);
	ck_assert(!trapmask_is_hidden(&thread));
	ck_assert_uint_eq(thread.mask.now, USR);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		sigtrap_is_guessed_by_its_kin,
		a_mask_that_was_seen_tells,
		masks_of_nested_handlers_are_remembered,
		the_kernel_blocks_no_kill,
		calls_change_the_mask,
		a_mask_is_read,
		earlier_masks_are_forgotten_at_the_beginning,
		a_program_that_treats_sigtrap_apart,
		proc_tells_whether_the_handler_is_there,
		after_it_is_set_again_proc_tells_nothing_of_this_thread,
		another_thread_may_have_removed_it,
		a_blocked_sigtrap_is_hidden,
		it_is_not_hidden_where_it_could_not_be_shown_again,
		it_is_not_hidden_when_the_list_does_not_reach_the_target,
		it_is_hidden_in_the_masks_of_the_c_library,
		it_is_hidden_after_the_next_call_if_it_can_be,
		a_hidden_bit_is_shown_at_the_end,
		a_thread_that_ends_is_listed_no_more,
		what_a_killed_tracer_has_hidden_is_shown,
		a_hidden_bit_is_listed_in_a_new_table,
		a_call_that_blocks_sigtrap_is_made_by_dtrap,
		while_it_is_hidden_dtrap_makes_each_call,
		the_mask_after_a_call,
		a_handler_in_which_it_was_hidden_has_returned,
		a_hit_is_mended,
		a_hit_makes_an_unknown_mask_known,
		a_handler_returns_to_a_mask_without_the_bit,
		a_new_thread_has_the_mask_of_its_creator,
		what_is_hidden_in_the_creator_is_hidden_in_the_thread,
	};

	return suite_run("trapmask", setup, teardown, tests, ARRAY_SIZE(tests));
}
