/*
 * tracer/ptrace/ trapaction and traphandler: a program's action for SIGTRAP, what
 * its handlers block, and whether dtrap's own handler is installed in place of
 * the program's.  /proc is a double.
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "dlang/base/base.h"
#include "t/unit/suite.h"
#include "tracer/ptrace/super.h"

#define TRAP SIGBIT(SIGTRAP)
#define USR  SIGBIT(SIGUSR1)

static struct proc proc, child_proc;
static struct thread thread;
static struct proc_status status; /* in /proc */
static int status_error;

static int
double_status(pid_t tid, struct proc_status *out)
{
	ck_assert_int_eq(tid, thread.tid);
	*out = status;
	return status_error;
}

#define procfs_status(tid, st) double_status(tid, st)
#include "tracer/ptrace/trapaction.c"
#include "tracer/ptrace/traphandler.c"

/* A process with dtrap's handler. */
static void
setup(void)
{
	proc.handler.state = HANDLER_IN;
	thread.tid = 71;
	thread.proc = &proc;
}

/* ---- the actions ---- */

static uint64_t action[ACTION_WORDS];

static void
acts(uint64_t handler, uint64_t flags, uint64_t mask)
{
	action[ACTION_HANDLER] = handler;
	action[ACTION_FLAGS] = flags;
	action[ACTION_MASK] = mask;
}

START_TEST(what_a_handler_blocks)
{
	const struct trapaction *t = &proc.trap;

	acts(0x1000, 0, USR | SIGBIT(SIGSTOP));
	sigtrap_action_set(&thread, SIGSEGV, action);
	ck_assert_uint_eq(t->handler_mask[SIGSEGV - 1], USR | SIGBIT(SIGSEGV));
	ck_assert_uint_eq(t->handler_known, SIGBIT(SIGSEGV));
	acts(0x1000, SA_NODEFER, USR);
	trapaction_is(&proc, SIGINT, action);
	ck_assert_uint_eq(t->handler_mask[SIGINT - 1], USR);
	/* Without a handler nothing is blocked. */
	acts(HANDLER_DEFAULT, 0, USR);
	trapaction_is(&proc, SIGINT, action);
	ck_assert_uint_eq(t->handler_mask[SIGINT - 1], 0);
	acts(HANDLER_IGNORE, 0, USR);
	trapaction_is(&proc, SIGSEGV, action);
	ck_assert_uint_eq(t->handler_mask[SIGSEGV - 1], 0);
	ck_assert_uint_eq(t->handler_known, SIGBIT(SIGSEGV) | SIGBIT(SIGINT));
	/* That was not about SIGTRAP. */
	ck_assert_int_eq(t->does, TRAP_DEFAULT);
	ck_assert(!t->saved);
}
END_TEST

START_TEST(the_action_of_sigtrap_is_kept_whole)
{
	const struct trapaction *t = &proc.trap;

	acts(0x1000, 4, USR);
	sigtrap_action_set(&thread, SIGTRAP, action);
	ck_assert_int_eq(t->does, TRAP_CAUGHT);
	ck_assert(t->saved);
	ck_assert_mem_eq(t->action, action, sizeof(action));
	ck_assert_uint_eq(t->handler_mask[SIGTRAP - 1], USR | TRAP);
	trapaction_unsaved(&proc);
	ck_assert(!t->saved);
	acts(HANDLER_IGNORE, 0, 0);
	sigtrap_becomes(&proc, action);
	ck_assert_int_eq(t->does, TRAP_IGNORED);
	acts(HANDLER_DEFAULT, 0, 0);
	sigtrap_becomes(&proc, action);
	ck_assert_int_eq(t->does, TRAP_DEFAULT);
	trapaction_sent(&proc);
	ck_assert(t->sent);
}
END_TEST

START_TEST(proc_says_what_a_program_does_with_sigtrap)
{
	struct trapaction *t = &proc.trap;
	const struct proc_status caught = { .sig_caught = TRAP };
	const struct proc_status ignored = { .sig_ignored = TRAP };
	const struct proc_status neither = { .sig_caught = ~TRAP,
		.sig_ignored = ~TRAP };

	proc.handler.state = HANDLER_ABSENT;
	t->saved = true;
	t->handler_mask[4] = 7;
	trapaction_refresh(&proc, &caught);
	ck_assert_int_eq(t->does, TRAP_CAUGHT);
	ck_assert(!t->saved);
	ck_assert_uint_eq(t->handler_mask[4], 0);
	/* A handler may be installed by a call that is not seen. */
	ck_assert_uint_eq(t->handler_known, 0);
	trapaction_refresh(&proc, &ignored);
	ck_assert_int_eq(t->does, TRAP_IGNORED);
	trapaction_refresh(&proc, &neither);
	ck_assert_int_eq(t->does, TRAP_DEFAULT);
	/* In place of dtrap's handler: that is the one it shows. */
	proc.handler.state = HANDLER_IN;
	t->saved = true;
	trapaction_refresh(&proc, &caught);
	ck_assert_int_eq(t->does, TRAP_DEFAULT);
	ck_assert(t->saved);
}
END_TEST

START_TEST(proc_is_not_read_too_often)
{
	ck_assert(trapaction_look(&thread, 1000));
	ck_assert_int_eq(proc.trap.does, TRAP_DEFAULT);
	status.sig_caught = TRAP;
	ck_assert(!trapaction_look(&thread, 1010));
	ck_assert_int_eq(proc.trap.does, TRAP_DEFAULT);
	ck_assert(trapaction_look(&thread, 1100));
	ck_assert_int_eq(proc.trap.does, TRAP_CAUGHT);
	status_error = -ESRCH;
	ck_assert(!trapaction_look(&thread, 5000));
}
END_TEST

START_TEST(a_child_has_the_actions_of_its_parent)
{
	acts(0x1000, 0, USR);
	sigtrap_becomes(&proc, action);
	proc.trap.sent = proc.trap.ignore_due = true;
	proc.trap.looked = 4;
	trapaction_inherit(&proc, &child_proc);
	ck_assert_int_eq(child_proc.trap.does, TRAP_CAUGHT);
	ck_assert_mem_eq(child_proc.trap.action, action, sizeof(action));
	ck_assert(!child_proc.trap.sent);
	ck_assert(!child_proc.trap.ignore_due);
	ck_assert_uint_eq(child_proc.trap.looked, 0);
}
END_TEST

/* The kernel saw dtrap's handler in place of SIG_IGN, and so it set SIG_DFL. */
START_TEST(a_new_program_ignores_sigtrap_if_the_old_one_did)
{
	acts(HANDLER_IGNORE, 0, 0);
	sigtrap_becomes(&proc, action);
	sigtrap_cleared(&proc);
	ck_assert_int_eq(proc.handler.state, HANDLER_ABSENT);
	ck_assert_int_eq(proc.trap.does, TRAP_IGNORED);
	ck_assert(trapaction_take_ignore(&proc));
	ck_assert(!trapaction_take_ignore(&proc)); /* once */
	/* Without dtrap's handler the kernel keeps it. */
	trapaction_handlers_gone(&proc);
	ck_assert(!trapaction_take_ignore(&proc));
	/* A handler is not inherited. */
	proc.handler.state = HANDLER_IN;
	acts(0x1000, 4, USR);
	sigtrap_becomes(&proc, action);
	sigtrap_cleared(&proc);
	ck_assert_int_eq(proc.trap.does, TRAP_DEFAULT);
	ck_assert_uint_eq(proc.trap.action[ACTION_HANDLER], HANDLER_DEFAULT);
	ck_assert_uint_eq(proc.trap.action[ACTION_FLAGS], 0);
	ck_assert(proc.trap.saved);
	ck_assert(!trapaction_take_ignore(&proc));
	/* A debt stays until somebody sees to it. */
	proc.trap.ignore_due = true;
	trapaction_handlers_gone(&proc);
	ck_assert(trapaction_take_ignore(&proc));
}
END_TEST

/* ---- the handler ---- */

START_TEST(a_handler_that_was_lost_is_back_when_it_is_set)
{
	acts(0x2000, 0, 0);
	traphandler_is(&proc, HANDLER_LOST);
	ck_assert(proc_guarded(&proc));
	traphandler_set(&proc, action);
	ck_assert_int_eq(proc.handler.state, HANDLER_IN);
	ck_assert_mem_eq(proc.handler.action, action, sizeof(action));
	traphandler_is(&proc, HANDLER_ABSENT);
	traphandler_set(&proc, action); /* the program's own */
	ck_assert_int_eq(proc.handler.state, HANDLER_ABSENT);
	ck_assert(!proc_guarded(&proc));
}
END_TEST

START_TEST(a_handler_that_is_gone_is_not_outdated)
{
	traphandler_outdated(&proc, true);
	traphandler_is(&proc, HANDLER_LOST);
	ck_assert(proc.handler.outdated);
	traphandler_is(&proc, HANDLER_ABSENT);
	ck_assert(!proc.handler.outdated);
}
END_TEST

START_TEST(a_child_has_the_handler)
{
	acts(0x2000, 0, 0);
	proc.handler.state = HANDLER_LOST;
	memcpy(proc.handler.action, action, sizeof(action));
	traphandler_inherit(&proc, &child_proc);
	ck_assert_int_eq(child_proc.handler.state, HANDLER_IN);
	ck_assert_mem_eq(child_proc.handler.action, action, sizeof(action));
	proc.handler.state = HANDLER_ABSENT;
	traphandler_inherit(&proc, &child_proc);
	ck_assert_int_eq(child_proc.handler.state, HANDLER_ABSENT);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		what_a_handler_blocks,
		the_action_of_sigtrap_is_kept_whole,
		proc_says_what_a_program_does_with_sigtrap,
		proc_is_not_read_too_often,
		a_child_has_the_actions_of_its_parent,
		a_new_program_ignores_sigtrap_if_the_old_one_did,
		a_handler_that_was_lost_is_back_when_it_is_set,
		a_handler_that_is_gone_is_not_outdated,
		a_child_has_the_handler,
	};

	return suite_run("trapaction", setup, NULL, tests, ARRAY_SIZE(tests));
}
