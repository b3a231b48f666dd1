/*
 * tracer/drive/evaltime, twice, targets_event and awaited: to which point a launched
 * program runs, when it is executed again, and what new programs and ends change.
 * The program, its threads and the loop are doubles, so the files themselves are
 * included below.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "dlang/base/fault.h"
#include "dlang/base/str.h"
#include "inject/tracepoint.h"
#include "symbols/addrspace.h"
#include "t/unit/suite.h"
#include "tracer/base/progress.h"
#include "tracer/base/state.h"
#include "tracer/drive/awaited.h"
#include "tracer/drive/follow.h"
#include "tracer/drive/loop.h"
#include "tracer/drive/targets.h"
#include "tracer/drive/targets_impl.h"
#include "tracer/drive/twice.h"
#include "tracer/fast/fast.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/moments.h"
#include "tracer/ptrace/again.h"
#include "tracer/ptrace/proc.h"
#include "tracer/sites/protect.h"
#include "tracer/sites/site.h"
#include "tracer/survive/trapguard.h"

#define BRK  0x1000 /* where the run-time linker tells of its changes */
#define BIAS 0x400000

static struct str calls; /* their names, a space after each */
static struct state run;
static struct space space;
static struct proc proc;
static struct thread thread;
static struct space_info known;

static void
call(const char *name)
{
	str_add(&calls, name);
	str_addc(&calls, ' ');
}

static void PRINTF_LIKE(2, 3) say(struct state *st, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_vprintf(&calls, fmt, ap);
	str_addc(&calls, ' ');
	va_end(ap);
}

/* What happens in each run of the loop, in turn. */
static void (*happens[6])(void);
static unsigned n_happens, at_happens;
static bool is_gone; /* the process */

static void
double_loop(bool (*more)(struct state *, void *), void *arg)
{
	call("loop");
	ck_assert(more(&run, arg)); /* it is awaited now */
	ck_assert_ptr_eq(arg, &proc);
	ck_assert_uint_lt(at_happens, n_happens);
	happens[at_happens++]();
}

static struct load program = { .bias = BIAS };
static bool has_exec;
static struct sym main_sym = { .addr = 0x50 };
static bool has_main;
static uint64_t marked_at; /* the last */
static bool refuses;       /* a marker cannot be written */
static bool allows;        /* the text may be changed */

static void
double_mark(uint64_t addr, bool linkmap)
{
	ck_assert(!linkmap);
	call("mark");
	marked_at = addr;
}

static struct tracepoint tracepoint;

static struct tracepoint *
double_lookup(uint64_t addr)
{
	ck_assert(addr == BRK || addr == marked_at);
	return refuses ? NULL : &tracepoint;
}

static int again_error;
static unsigned again_words;

static int
double_find(unsigned words, struct again *out)
{
	again_words = words;
	if (again_error == 0)
		out->name = 0x77;
	return again_error;
}

static struct syscall_entry next_call;
static int entry_error;
static bool goes_on; /* follow_executed() */

static int
double_entry(struct syscall_entry *out)
{
	*out = next_call;
	return entry_error;
}

static struct proc *
double_next(struct proc *p)
{
	return p == NULL && !is_gone ? &proc : NULL;
}

#define progress_pause(st)        call("pause")
#define progress(st, ...)         call("progress")
#define loop_while(st, more, arg) double_loop(more, arg)
#define super_proc(su, pid)       ((void)(pid), is_gone ? NULL : &proc)
#define super_next(su, p)         double_next(p)
#define addrspace_exec(as)        (has_exec ? &program : NULL)
#define object_sym(o, name) \
	(has_main && strcmp(name, "main") == 0 ? &main_sym : NULL)
#define object_entry(o)                0x90
#define tracepoint_lookup(tab, addr)   double_lookup(addr)
#define sites_commit(st, sp)           call("commit")
#define protect_allows(st, sp)         allows
#define protect_say(st, sp)            call("unprotected")
#define targets_mark(st, sp, addr, lm) double_mark(addr, lm)
#define again_find(th, words, out)     double_find(words, out)
#define again_instead(th, what)        call("instead")
#define again_failed(th, what)         call("failed")
#define thread_resume(th)              call("resume")
#define thread_syscall_entry(th, out)  double_entry(out)
#define thread_refuse_call(th)         call("refuse")
#define trapguard_executed(th)         call("executed")
#define fast_executed(st, th)          call("lane-ends")
#define follow_executed(st, p)         goes_on
#define follow_born(st, parent, child) call("born")
#define moments_tell(st, ev)           call("tell")
#define targets_let_go(st, p)          call("let-go")
#define targets_space_begin(st, p)     call("space")
#define targets_set_up(st, p)          call("set-up")
#define state_notice                   say
#define fire_drain(st)                 call("drain")
#include "tracer/drive/awaited.c"
#include "tracer/drive/twice.c"
#include "tracer/drive/evaltime.c"
#include "tracer/drive/targets_event.c"

static void
setup(void)
{
	options_init(&run.opts);
	proc.pid = 100;
	proc.space = &space;
	proc.role.named = true;
	thread.proc = &proc;
	space.info = &known;
	known.have_lm = true;
	known.lm.brk_addr = BRK;
	*vec_push(&proc.threads) = &thread;
	allows = has_exec = has_main = true;
	run.named.left = 2;
}

static void
teardown(void)
{
	vec_fini(&proc.threads);
	parts_end(&proc.parts);
	parts_end(&run.parts);
	options_fini(&run.opts);
	str_fini(&calls);
}

static void
expect(const char *want)
{
	ck_assert_str_eq(str_c(&calls), want);
	str_clear(&calls);
}

static void
evaltime(const char *when)
{
	char text[32];

	snprintf(text, sizeof(text), "evaltime=%s", when);
	ck_assert_int_eq(option_parse(&run.opts, text, false), 0);
}

/* ---- what may happen while it runs ---- */

static void
it_comes(void)
{
	awaited_came(&run);
}

static void
it_executes(void)
{
	awaited_executed(&run);
}

static void
it_ends(void)
{
	is_gone = true;
	awaited_came(&run);
}

static void
user_ends(void)
{
	run.draining = true;
}

static void
nothing(void)
{
}

static bool
runs(const char **why)
{
	*why = NULL;
	return targets_run_to_evaltime(&run, &proc, why);
}

/* ---- evaltime ---- */

START_TEST(names_of_evaltime)
{
	ck_assert_int_eq(targets_evaltime(&run), EVAL_BOTH);
	evaltime("exec");
	ck_assert_int_eq(targets_evaltime(&run), EVAL_EXEC);
	evaltime("preinit");
	ck_assert_int_eq(targets_evaltime(&run), EVAL_PREINIT);
	evaltime("postinit");
	ck_assert_int_eq(targets_evaltime(&run), EVAL_POSTINIT);
	evaltime("main");
	ck_assert_int_eq(targets_evaltime(&run), EVAL_MAIN);
}
END_TEST

START_TEST(at_exec_it_does_not_run)
{
	const char *why;

	evaltime("exec");
	ck_assert(runs(&why));
	expect("");
}
END_TEST

START_TEST(before_constructors_is_at_the_linker)
{
	const char *why;

	evaltime("preinit");
	happens[n_happens++] = it_comes;
	ck_assert(runs(&why));
	expect("commit progress resume loop ");
	ck_assert_int_eq(awaited_now(&run).state, AWAITED_NOBODY);
}
END_TEST

START_TEST(main_is_two_runs)
{
	const char *why;

	evaltime("main");
	happens[n_happens++] = it_comes;
	happens[n_happens++] = it_comes;
	ck_assert(runs(&why));
	/* What the program writes on the way is not written over. */
	expect("commit pause resume loop mark commit pause resume loop ");
	ck_assert_uint_eq(marked_at, BIAS + 0x50);
}
END_TEST

START_TEST(without_main_it_is_the_entry)
{
	const char *why;

	evaltime("main");
	has_main = false;
	happens[n_happens++] = it_comes;
	happens[n_happens++] = it_comes;
	ck_assert(runs(&why));
	ck_assert_uint_eq(marked_at, BIAS + 0x90);
}
END_TEST

START_TEST(after_constructors_is_the_entry)
{
	const char *why;

	evaltime("postinit");
	happens[n_happens++] = it_comes;
	happens[n_happens++] = it_comes;
	ck_assert(runs(&why));
	expect("commit pause resume loop mark commit pause resume loop ");
	ck_assert_uint_eq(marked_at, BIAS + 0x90);
}
END_TEST

START_TEST(a_program_that_is_not_known_stays_at_the_linker)
{
	const char *why;

	evaltime("main");
	has_exec = false;
	happens[n_happens++] = it_comes;
	ck_assert(runs(&why));
	expect("commit pause resume loop ");
}
END_TEST

START_TEST(a_static_program_has_no_linker)
{
	const char *why;

	known.have_lm = false;
	evaltime("preinit");
	ck_assert(runs(&why));
	expect("commit ");
	evaltime("main");
	happens[n_happens++] = it_comes;
	ck_assert(runs(&why));
	expect("commit mark commit pause resume loop ");
}
END_TEST

START_TEST(text_that_may_not_be_changed_is_looked_at_at_once)
{
	const char *why;

	allows = false;
	ck_assert(runs(&why));
	expect("commit unprotected ");
}
END_TEST

START_TEST(without_a_marker_it_would_run_to_its_end)
{
	const char *why;

	refuses = true;
	ck_assert(!runs(&why));
	ck_assert_ptr_nonnull(strstr(why, "no breakpoint can be put"));
	expect("commit ");
	/* The same at main. */
	known.have_lm = false;
	evaltime("main");
	ck_assert(!runs(&why));
	ck_assert_ptr_nonnull(why);
}
END_TEST

START_TEST(what_ends_on_the_way_has_not_come)
{
	static void (*const ends_by[])(void) = { it_ends, user_ends, nothing };
	const char *why;

	for (size_t i = 0; i < ARRAY_SIZE(ends_by); i++) {
		is_gone = run.draining = false;
		happens[n_happens++] = ends_by[i];
		ck_assert(!runs(&why));
		ck_assert_ptr_null(why);
	}
}
END_TEST

/* A wrapper executes the program that is meant: that one is run to it. */
START_TEST(another_program_begins_anew)
{
	const char *why;

	evaltime("main");
	happens[n_happens++] = it_executes;
	happens[n_happens++] = it_comes;
	happens[n_happens++] = it_executes;
	happens[n_happens++] = it_comes;
	happens[n_happens++] = it_comes;
	ck_assert(runs(&why));
	ck_assert_uint_eq(at_happens, 5);
	ck_assert(!awaited_retry(&run));
	/* An exec before that is not one of these. */
	awaited_executed(&run);
	happens[n_happens++] = it_comes;
	evaltime("preinit");
	ck_assert(runs(&why));
	ck_assert_uint_eq(at_happens, 6);
}
END_TEST

/* ---- twice ---- */

/* Does the next system call become the execve()? */
static bool
begins(void)
{
	const struct twice *t = part_had(&proc.parts, &twice_part);

	return t != NULL && t->begins;
}

static char *const args[] = { (char *)"a", (char *)"b", NULL };

START_TEST(it_is_scouted_unless_evaltime_says_where)
{
	targets_scout(&run, &proc, args);
	ck_assert_uint_eq(again_words, 2);
	ck_assert(twice_is_planned(&proc));
	ck_assert(thread.stop.wants & WANT_LAUNCH);
	again_error = -EFAULT;
	targets_scout(&run, &proc, args);
	ck_assert(!twice_is_planned(&proc));
	ck_assert(!(thread.stop.wants & WANT_LAUNCH));
	again_error = 0;
	evaltime("main");
	targets_scout(&run, &proc, args);
	ck_assert(!twice_is_planned(&proc));
	ck_assert(!(thread.stop.wants & WANT_LAUNCH));
}
END_TEST

START_TEST(its_next_call_is_the_exec)
{
	targets_scout(&run, &proc, args);
	happens[n_happens++] = it_executes;
	ck_assert(targets_begin_again(&run));
	expect("progress resume loop ");
	ck_assert(!twice_is_planned(&proc));
	ck_assert(!begins());
	ck_assert(!targets_begin_again(&run));
	/* It is at a call already. */
	targets_scout(&run, &proc, args);
	thread.stop.kind = EV_SYSCALL_ENTER;
	happens[n_happens++] = it_executes;
	ck_assert(targets_begin_again(&run));
	expect("instead progress resume loop ");
}
END_TEST

START_TEST(one_that_is_at_its_exec_is_there)
{
	targets_scout(&run, &proc, args);
	proc.role.launch = LAUNCH_AT_EXEC;
	ck_assert(!targets_begin_again(&run));
	expect("");
	ck_assert(!twice_is_planned(&proc));
}
END_TEST

START_TEST(the_user_ends_it_before)
{
	targets_scout(&run, &proc, args);
	run.draining = true;
	ck_assert(!targets_begin_again(&run));
	expect("");
}
END_TEST

START_TEST(one_that_ends_meanwhile_is_not_touched)
{
	targets_scout(&run, &proc, args);
	happens[n_happens++] = it_ends;
	ck_assert(targets_begin_again(&run));
	ck_assert(twice_is_planned(&proc));
}
END_TEST

/* ---- its calls on the way ---- */

static bool
makes(enum event_kind kind, int nr)
{
	struct event ev = { .kind = kind, .thread = &thread };

	next_call.nr = nr;
	return twice_syscall(&run, &ev);
}

START_TEST(only_calls_of_a_scout_are_looked_at)
{
	ck_assert(!makes(EV_SYSCALL_ENTER, SYS_write));
	awaited_begin(&run, &proc, false);
	ck_assert(!makes(EV_SYSCALL_ENTER, SYS_write));
	ck_assert(twice_plan(&thread, 1));
	ck_assert(makes(EV_SYSCALL_ENTER, SYS_write));
	awaited_came(&run);
	ck_assert(!makes(EV_SYSCALL_ENTER, SYS_write));
	expect("refuse resume ");
}
END_TEST

START_TEST(a_scout_is_silent)
{
	awaited_begin(&run, &proc, false);
	ck_assert(twice_plan(&thread, 1));
	ck_assert(makes(EV_SYSCALL_ENTER, SYS_writev));
	expect("refuse resume ");
	ck_assert(makes(EV_SYSCALL_EXIT, SYS_write));
	expect("resume ");
	ck_assert(makes(EV_SYSCALL_ENTER, SYS_read));
	expect("resume ");
	entry_error = -ESRCH;
	ck_assert(makes(EV_SYSCALL_ENTER, SYS_write));
	expect("resume ");
	ck_assert(awaited_is(&run, &proc));
}
END_TEST

START_TEST(a_scout_does_not_end)
{
	static const int last[] = { SYS_exit_group, SYS_exit, SYS_kill,
		SYS_tgkill, SYS_tkill };

	for (size_t i = 0; i < ARRAY_SIZE(last); i++) {
		awaited_begin(&run, &proc, false);
		ck_assert(twice_plan(&thread, 1));
		run.opts.value[OPT_ZDEFS] = 0;
		ck_assert(makes(EV_SYSCALL_ENTER, last[i]));
		expect(""); /* it stays stopped there */
		/* What is not there by now never is: that is no error. */
		ck_assert_int_eq(option_get(&run.opts, OPT_ZDEFS), 1);
		ck_assert(!awaited_is(&run, &proc));
	}
}
END_TEST

START_TEST(the_exec_comes_at_the_next_call)
{
	awaited_begin(&run, &proc, true);
	ck_assert(twice_plan(&thread, 1));
	twice_begin(&thread);
	ck_assert(makes(EV_SYSCALL_ENTER, SYS_exit_group));
	expect("instead resume ");
	ck_assert(awaited_is(&run, &proc));
	/* It has failed. */
	ck_assert(makes(EV_SYSCALL_EXIT, SYS_execve));
	expect("failed ");
	ck_assert(!awaited_is(&run, &proc));
	ck_assert(!twice_is_planned(&proc));
}
END_TEST

/* ---- new processes and programs ---- */

static void
comes(enum event_kind kind)
{
	const struct event ev = { .kind = kind,
		.thread = &thread,
		.child = kind == EV_CLONE ? NULL : &thread };

	targets_event(&run, &ev);
}

START_TEST(children_are_born)
{
	comes(EV_FORK);
	expect("tell born resume ");
	comes(EV_VFORK);
	expect("tell born resume ");
	comes(EV_CLONE); /* it has ended already */
	expect("tell resume ");
	comes(EV_STOP);
	expect("");
}
END_TEST

START_TEST(a_new_program_is_set_up)
{
	goes_on = true;
	comes(EV_EXEC);
	expect("executed lane-ends set-up tell resume ");
	ck_assert_uint_eq(run.named.left, 2);
}
END_TEST

START_TEST(at_the_end_of_the_trace_it_is_not)
{
	goes_on = run.draining = true;
	comes(EV_EXEC);
	expect("executed lane-ends ");
}
END_TEST

START_TEST(one_that_is_not_followed_is_let_go)
{
	comes(EV_EXEC);
	expect("executed lane-ends tell let-go ");
	ck_assert_uint_eq(run.named.left, 1);
	ck_assert(!proc.role.named);
}
END_TEST

START_TEST(the_awaited_one_waits_at_its_exec)
{
	goes_on = true;
	ck_assert(twice_plan(&thread, 1));
	awaited_begin(&run, &proc, false);
	comes(EV_EXEC);
	expect("executed lane-ends space ");
	ck_assert_int_eq(proc.role.launch, LAUNCH_AT_EXEC);
	ck_assert(!twice_is_planned(&proc));
	ck_assert(awaited_retry(&run));
	ck_assert(!awaited_retry(&run));
}
END_TEST

/* ---- ends ---- */

START_TEST(ends_are_told)
{
	targets_gone(&run, &proc, 0);
	expect("pid 100 has exited ");
	ck_assert_uint_eq(run.named.left, 1);
	proc.role.named = true;
	run.named.left = 9;
	targets_gone(&run, &proc, 3 << 8);
	expect("pid 100 exited with status 3 ");
	proc.role.named = true;
	targets_gone(&run, &proc, SIGSEGV);
	expect("pid 100 terminated by SIGSEGV ");
	proc.role.named = true;
	targets_gone(&run, &proc, SIGRTMIN + 3);
	expect("pid 100 terminated by SIGRTMIN+3 ");
	ck_assert_uint_eq(run.named.left, 6);
	/* Of one that the user has not named nothing is said. */
	targets_gone(&run, &proc, SIGSEGV);
	expect("");
	ck_assert_uint_eq(run.named.left, 6);
}
END_TEST

START_TEST(the_last_one_ends_the_trace)
{
	run.named.left = 1;
	awaited_begin(&run, &proc, false);
	targets_gone(&run, &proc, 0);
	expect("pid 100 has exited drain ");
	ck_assert(!awaited_is(&run, &proc));
	awaited_begin(&run, &proc, false);
	targets_gone(&run, &proc, 0);
	expect("");
	ck_assert(!awaited_is(&run, &proc));
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		names_of_evaltime,
		at_exec_it_does_not_run,
		before_constructors_is_at_the_linker,
		main_is_two_runs,
		without_main_it_is_the_entry,
		after_constructors_is_the_entry,
		a_program_that_is_not_known_stays_at_the_linker,
		a_static_program_has_no_linker,
		text_that_may_not_be_changed_is_looked_at_at_once,
		without_a_marker_it_would_run_to_its_end,
		what_ends_on_the_way_has_not_come,
		another_program_begins_anew,
		it_is_scouted_unless_evaltime_says_where,
		its_next_call_is_the_exec,
		one_that_is_at_its_exec_is_there,
		the_user_ends_it_before,
		one_that_ends_meanwhile_is_not_touched,
		only_calls_of_a_scout_are_looked_at,
		a_scout_is_silent,
		a_scout_does_not_end,
		the_exec_comes_at_the_next_call,
		children_are_born,
		a_new_program_is_set_up,
		at_the_end_of_the_trace_it_is_not,
		one_that_is_not_followed_is_let_go,
		the_awaited_one_waits_at_its_exec,
		ends_are_told,
		the_last_one_ends_the_trace,
	};

	return suite_run(
	    "launching", setup, teardown, tests, ARRAY_SIZE(tests));
}
