/*
 * tracer/sites/sigwatch: what is noted at a marker, and when markers go.  The
 * known masks and the tracepoints are doubles, so the file itself is read in.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "dlang/base/str.h"
#include "inject/tracepoint.h"
#include "t/unit/suite.h"
#include "tracer/base/state.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/trapmask.h"
#include "tracer/sites/site.h"
#include "tracer/survive/trapcall.h"
#include "tracer/survive/trapguard.h"

#define SET 0x1000U /* where the target has a signal set, or an action */

static struct str done;
static bool is_apart, is_hidden, is_made, is_guarded, is_delivered;
static int call_nr;
static struct uregs its_regs;

static int
read_target(struct target *t, uint64_t addr, void *buf, size_t len)
{
	if (addr != SET)
		return -EFAULT;
	memset(buf, 0, len);
	*(uint64_t *)buf = 0x77;
	return 0;
}

static int
entry_of_call(struct syscall_entry *call)
{
	call->nr = call_nr;
	return call_nr < 0 ? -ESRCH : 0;
}

#define say(...)                str_printf(&done, __VA_ARGS__)
#define sigtrap_apart(th)       is_apart
#define trapmask_is_hidden(th)  is_hidden
#define trapcall_mask(th, regs) (say("try "), is_made)
#define trapcall_hit(th, regs)  (say("guard "), is_made)
#define sigtrap_show(th)        say("show ")
#define sigtrap_hide_after(th)  say("hide ")
#define sigtrap_mask_undo(th)   say("undo ")
#define sigtrap_mask_set(th, how, set) \
	say("mask(%d,%lx) ", how, (unsigned long)(set))
#define sigtrap_mask_back(th, set) say("back(%lx) ", (unsigned long)(set))
#define sigtrap_action_set(th, sig, action) \
	say("action(%d,%lx) ", sig, (unsigned long)(action)[0])
#define trapmask_doubt(th)            say("doubt ")
#define proc_guarded(p)               is_guarded
#define sigtrap_delivered(th)         is_delivered
#define thread_regs(th)               (&its_regs)
#define sigframe_mask(regs)           (regs)->r[UREG_SP]
#define thread_syscall_entry(th, out) entry_of_call(out)
#define site_tell_no_more(tp, a)      say("gone(%u) ", (unsigned)(tp)->addr)
#define tracepoint_put(tab, tp)       say("put ")
#include "tracer/sites/sigwatch.c"

static struct space space;
static struct proc proc;
static struct thread thread;
static struct tracepoint tps[3];

static void
setup(void)
{
	static const struct target_ops ops = { .read = read_target };

	space.target.ops = &ops;
	space.watch = mem_zalloc(sizeof(*space.watch));
	space.sig_watched = space.masks_watched = true;
	proc.space = &space;
	thread.proc = &proc;
	*vec_push(&space.procs) = &proc;
	*vec_push(&proc.threads) = &thread;
	for (unsigned i = 0; i < ARRAY_SIZE(tps); i++) {
		tps[i] = (struct tracepoint){ .addr = i, .refs = 2 };
		*vec_push(&space.watch->markers) = (struct marker){ &tps[i],
			i == 1 ? SYS_rt_sigaction : SYS_rt_sigprocmask };
	}
}

static void
teardown(void)
{
	sigwatch_end(&space);
	vec_fini(&space.procs);
	vec_fini(&proc.threads);
	str_fini(&done);
}

static void
expect(const char *want)
{
	ck_assert_str_eq(str_c(&done), want);
	str_clear(&done);
}

/* The thread is at a marker of this call. */
static bool
call(uint64_t nr, uint64_t a, uint64_t b, uint64_t size)
{
	its_regs.r[UREG_CALL] = nr;
	its_regs.r[ureg_call_arg(0)] = a;
	its_regs.r[ureg_call_arg(1)] = b;
	its_regs.r[ureg_call_arg(3)] = size;
	return arrival.instead(&thread, &its_regs);
}

static bool
mask_call(void)
{
	return call(SYS_rt_sigprocmask, SIG_SETMASK, SET, 8);
}

START_TEST(masks_are_noted)
{
	ck_assert(!mask_call());
	expect("try show mask(2,77) hide ");
	/* What the kernel refuses, or cannot be read, changes nothing. */
	call(SYS_rt_sigprocmask, 3, SET, 8);
	call(SYS_rt_sigprocmask, SIG_BLOCK, SET, 16);
	call(SYS_rt_sigprocmask, SIG_BLOCK, 0, 8);
	call(SYS_rt_sigprocmask, SIG_BLOCK, SET + 8, 8);
	expect("try show mask(0,0) hide try show mask(0,0) hide "
	       "try show mask(0,0) hide try show mask(0,0) hide ");
	is_made = true;
	ck_assert(mask_call());
	expect("try ");
	ck_assert_uint_eq(space.watch->mask_hits, 6);
	/* Another call. */
	ck_assert(!call(SYS_getpid, SIG_BLOCK, SET, 8));
	expect("");
	arrival.undone(&thread, &its_regs);
	expect("");
	its_regs.r[UREG_CALL] = SYS_rt_sigprocmask;
	arrival.undone(&thread, &its_regs);
	expect("undo ");
	ck_assert(!arrival.keeps(NULL, &thread, &tps[0]));
	expect("doubt ");
}
END_TEST

START_TEST(actions_are_noted)
{
	ck_assert(!call(SYS_rt_sigaction, SIGINT, SET, 8));
	expect("action(2,77) ");
	call(SYS_rt_sigaction, 64, SET, 8);
	expect("action(64,77) ");
	ck_assert(!call(SYS_rt_sigaction, 0, SET, 8));
	call(SYS_rt_sigaction, 65, SET, 8);
	call(SYS_rt_sigaction, SIGKILL, SET, 8);
	call(SYS_rt_sigaction, SIGSTOP, SET, 8);
	call(SYS_rt_sigaction, SIGINT, 0, 8);
	call(SYS_rt_sigaction, SIGINT, SET, 7);
	call(SYS_rt_sigaction, SIGINT, SET + 8, 8);
	expect("");
	/* That of SIGTRAP is dtrap's own. */
	is_guarded = is_made = true;
	ck_assert(call(SYS_rt_sigaction, SIGTRAP, SET, 8));
	expect("guard ");
	ck_assert_uint_eq(space.watch->mask_hits, 0);
}
END_TEST

static void
many_masks(unsigned n)
{
	while (n-- > 0)
		mask_call();
	str_clear(&done);
}

/* Markers of masks go after a thousand hits; that of an action stays. */
START_TEST(markers_that_cost_much_go)
{
	many_masks(999);
	ck_assert(!arrival.settled(&space));
	many_masks(1);
	is_hidden = true;
	ck_assert(!arrival.settled(&space));
	is_hidden = false;
	ck_assert(arrival.settled(&space));
	expect("gone(0) put gone(2) put ");
	ck_assert_uint_eq(space.watch->markers.len, 1);
	ck_assert_ptr_eq(space.watch->markers.at[0].tp, &tps[1]);
	ck_assert(space.mask_unseen && space.sig_watched);
	many_masks(1000);
	ck_assert(!arrival.settled(&space));
	expect("");
	/* A space that nothing is noted of. */
	sigwatch_end(&space);
	ck_assert(!arrival.settled(&space));
	ck_assert(!mask_call());
}
END_TEST

/* Once SIGTRAP was treated apart, they stay. */
START_TEST(markers_that_are_needed_stay)
{
	is_apart = true;
	many_masks(1);
	is_apart = false;
	many_masks(1000);
	ck_assert(space.watch->apart);
	ck_assert(!arrival.settled(&space));
	expect("");
}
END_TEST

START_TEST(a_marker_that_cannot_be_made_is_a_gap)
{
	arrival.failed(&space);
	ck_assert(!space.sig_watched);
}
END_TEST

/* A return from a handler is waited for, for so many calls. */
START_TEST(returns_are_noted)
{
	is_delivered = true;
	sigwatch_delivered(&thread);
	sigwatch_delivered(&thread);
	ck_assert(space.watch->apart);
	ck_assert_uint_ne(thread.stop.wants & WANT_RETURN, 0);
	call_nr = SYS_getpid;
	sigwatch_enter(&thread);
	call_nr = -1;
	sigwatch_enter(&thread);
	expect("");
	call_nr = SYS_rt_sigreturn;
	its_regs.r[UREG_SP] = SET;
	sigwatch_enter(&thread);
	expect("back(77) ");
	ck_assert_uint_ne(thread.stop.wants & WANT_RETURN, 0);
	its_regs.r[UREG_SP] = 0; /* it cannot be read */
	sigwatch_enter(&thread);
	expect("mask(0,0) ");
	ck_assert_uint_eq(thread.stop.wants & WANT_RETURN, 0);
	sigwatch_enter(&thread);
	expect("");
	/* It left its handler otherwise. */
	sigwatch_delivered(&thread);
	call_nr = SYS_getpid;
	for (unsigned i = 0; i < 999; i++)
		sigwatch_enter(&thread);
	ck_assert_uint_ne(thread.stop.wants & WANT_RETURN, 0);
	sigwatch_enter(&thread);
	ck_assert_uint_eq(thread.stop.wants & WANT_RETURN, 0);
	/* With dtrap's handler and one thread, the next hit tells. */
	is_guarded = true;
	sigwatch_delivered(&thread);
	ck_assert_uint_eq(thread.stop.wants & WANT_RETURN, 0);
	parts_end(&thread.parts);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		masks_are_noted,
		actions_are_noted,
		markers_that_cost_much_go,
		markers_that_are_needed_stay,
		a_marker_that_cannot_be_made_is_a_gap,
		returns_are_noted,
	};

	return suite_run(
	    "sigwatch_hits", setup, teardown, tests, ARRAY_SIZE(tests));
}
