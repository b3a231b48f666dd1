/*
 * tracer/drive/targets: launching a program, attaching to a process that a killed
 * dtrap left in disorder, and releasing all processes.  Processes, threads and the
 * loop are doubles, so the file itself is included below.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/fault.h"
#include "dlang/base/machine.h"
#include "dlang/base/str.h"
#include "inject/tracepoint.h"
#include "inject/trapset.h"
#include "t/unit/suite.h"
#include "tracer/base/progress.h"
#include "tracer/base/state.h"
#include "tracer/drive/loop.h"
#include "tracer/drive/mistakes.h"
#include "tracer/drive/targets.h"
#include "tracer/drive/targets_impl.h"
#include "tracer/fast/fast.h"
#include "tracer/fire/moments.h"
#include "tracer/ptrace/proc.h"
#include "tracer/sites/site.h"
#include "tracer/survive/guardian.h"
#include "tracer/ptrace/super.h"
#include "tracer/survive/leftover.h"

#define PID  100
#define AREA 0x7000

static struct str calls; /* their names, a space after each */
static struct state session;
static struct proc procs[2];
static struct thread threads[3]; /* two of the first process */
static struct space spaces[3];
static struct space_info known;
static unsigned n_procs; /* that are there */

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
	str_addc(&calls, '\n');
	va_end(ap);
}

static void
expect(const char *want)
{
	ck_assert_str_eq(str_c(&calls), want);
	str_clear(&calls);
}

static bool
called(const char *name)
{
	return strstr(str_c(&calls), name) != NULL;
}

static struct proc *
double_next(const struct proc *p)
{
	size_t i = p == NULL ? 0 : (size_t)(p - procs) + 1;

	return i < n_procs ? &procs[i] : NULL;
}

static struct proc *
double_proc(pid_t pid)
{
	for (struct proc *p = NULL; (p = double_next(p)) != NULL;)
		if (p->pid == pid)
			return p;
	return NULL;
}

/* ---- the user's signals, time, and what happens meanwhile ---- */

static bool stopping; /* the user has asked to end */
static unsigned slept, naps, longest;
static void (*meanwhile)(void); /* at loop_pending(), once */

static int
double_nap(const struct timespec *ts)
{
	unsigned ms = (unsigned)(ts->tv_nsec / 1000000);

	ck_assert_int_eq(ts->tv_sec, 0);
	ck_assert_int_lt(ts->tv_nsec, 1000000000L);
	slept += ms;
	longest = MAX(longest, ms);
	naps++;
	ck_assert_uint_lt(naps, 200);
	return 0;
}

static void
double_pending(void)
{
	void (*what)(void) = meanwhile;

	call("pending");
	meanwhile = NULL;
	if (what != NULL)
		what();
}

/* ---- launching ---- */

static char *no_words[] = { (char *)"prog", NULL };
static char *no_env[] = { NULL };
static int split_error, launch_error;
static char *found_path, *other_machine, *shell_words, *advice;
static const char *launched_path;
static bool reaches; /* the point of option evaltime */

static char *
copy(const char *s)
{
	return s != NULL ? mem_strdup(s) : NULL;
}

static int
double_split(char ***argv, const char **why)
{
	if (split_error != 0)
		*why = "quote";
	else
		*argv = no_words;
	return split_error;
}

static int
double_launch(const char *path, char *const *argv, char **env, struct proc **p,
    struct proc_error *err)
{
	ck_assert_ptr_eq(argv, no_words);
	ck_assert_ptr_eq(env, no_env);
	call("launch");
	launched_path = path != NULL ? "the file" : NULL;
	if (launch_error != 0) {
		snprintf(err->text, sizeof(err->text), "no such file");
		return launch_error;
	}
	procs[0].role.launch = LAUNCH_AT_EXEC;
	n_procs = 1;
	*p = &procs[0];
	return 0;
}

/* The file of the program, by its name. */
static char *
double_path(const char *name)
{
	ck_assert_str_eq(name, "prog");
	return copy(found_path);
}

static bool
double_reach(const char **why)
{
	call("run");
	if (!reaches)
		*why = "it ended";
	return reaches;
}

static char *
double_hint(char *const *argv, int error)
{
	ck_assert_ptr_eq(argv, no_words);
	ck_assert_int_eq(error, launch_error);
	return copy(advice);
}

static void
double_begin(struct proc *p)
{
	ck_assert_ptr_eq(p, &procs[p - procs]);
	call("begin");
	p->space->info = &known;
}

/* ---- attaching ---- */

static struct leftover *const found = (struct leftover *)&calls;
static bool finds_leftover;
static int may_error, find_error, attach_error, mend_error;
static pid_t attach_pid;      /* the process that the user has named */
static bool (*cancels)(void); /* handed to leftover_find() */
static unsigned in_use_for;   /* a thread is in the handler so many times */
static bool in_handler_now;   /* one was seen there */
static unsigned freed;        /* leftover_free() of one */

static int
double_may(struct proc_error *err)
{
	call("may");
	if (may_error != 0)
		snprintf(err->text, sizeof(err->text), "not yours");
	return may_error;
}

static int
double_find(bool (*cancel)(void), struct leftover **out, char *why, size_t size)
{
	call("find");
	cancels = cancel;
	if (find_error != 0)
		snprintf(why, size, "guardian");
	else if (finds_leftover)
		*out = found;
	return find_error;
}

static int
double_attach(pid_t pid, struct proc **p, struct proc_error *err)
{
	call("attach");
	attach_pid = pid;
	if (attach_error != 0) {
		snprintf(err->text, sizeof(err->text), "refused");
		return attach_error;
	}
	n_procs = 1;
	*p = &procs[0];
	return 0;
}

static void
double_leftover_release(struct leftover *l, struct proc *p)
{
	call("release");
	if (l != NULL && in_use_for == 0)
		freed++; /* by itself */
	p->space->leftover = l != NULL && in_use_for > 0 ? l : NULL;
}

static bool
double_in_use(const struct leftover *l)
{
	if (l == NULL || in_use_for == 0)
		return false;
	in_use_for--;
	return true;
}

static bool
double_runs(const struct leftover *l)
{
	return l != NULL && in_handler_now;
}

static int
double_mend(const struct leftover *l, const struct space *sp)
{
	ck_assert_ptr_eq(l, found);
	ck_assert_ptr_eq(sp, &spaces[0]);
	call("mend");
	return mend_error;
}

static void
double_thread(const char *name, const struct thread *th)
{
	str_printf(&calls, "%s-%d ", name, (int)th->tid);
}

static void
double_space(const char *name, const struct space *sp)
{
	str_printf(&calls, "%s%td ", name, sp - spaces);
	ck_assert(name[0] != 'r' || sp->stops > 0);
}

static void
double_detach(struct proc *p)
{
	call("detach");
	ck_assert_ptr_eq(p, &procs[0]);
	n_procs = 0;
}

/* ---- releasing ---- */

static unsigned fires_for;   /* a thread is in a firing so many times */
static unsigned handled_for; /* ... in dtrap's handler */
static bool nested;          /* another signal's handler is on top of it */
static struct str killed;

static bool
double_fires(void)
{
	if (fires_for == 0)
		return false;
	fires_for--;
	return true;
}

static bool
double_handled(void)
{
	if (handled_for == 0)
		return false;
	handled_for--;
	return true;
}

static int
double_kill(pid_t pid, int sig)
{
	ck_assert_int_eq(sig, SIGKILL);
	str_printf(&killed, "%d ", (int)pid);
	return 0;
}

static void
double_let_go(const struct proc *p)
{
	str_printf(&calls, "let-go-%d ", (int)p->pid);
	ck_assert_ptr_eq(p, &procs[0]);
	procs[0] = procs[1];
	n_procs--;
}

static enum evaltime begins;
static struct event told;

#define guardian_start()                   call("guardian")
#define loop_stopping()                    stopping
#define loop_pending(st)                   double_pending()
#define nanosleep(ts, rest)                double_nap(ts)
#define super_next(su, p)                  double_next(p)
#define super_proc(su, pid)                double_proc(pid)
#define state_message                      say
#define state_notice                       say
#define progress(st, ...)                  call("progress")
#define targets_split(cmd, argv, why)      double_split(argv, why)
#define targets_env(st)                    no_env
#define targets_free_argv(argv)            ((void)(argv))
#define targets_find_program(name)         double_path(name)
#define mistakes_machine(path)             copy(other_machine)
#define mistakes_shell(cmd)                copy(shell_words)
#define mistakes_command(cmd, argv, error) double_hint(argv, error)
#define proc_launch_file(su, path, argv, env, p, err) \
	double_launch(path, argv, env, p, err)
#define targets_space_begin(st, p)          double_begin(p)
#define targets_scout(st, p, argv)          call("scout")
#define targets_run_to_evaltime(st, p, why) double_reach(why)
#define targets_evaltime(st)                begins
#define proc_may_attach(pid, err)           double_may(err)
#define leftover_find(pid, cancel, out, why, sz) \
	double_find(cancel, out, why, sz)
#define proc_attach(su, pid, p, err)     double_attach(pid, p, err)
#define proc_detach(p, prepare, ctx)     double_detach(p)
#define leftover_mend(l, sp)             double_mend(l, sp)
#define leftover_release(l, p)           double_leftover_release(l, p)
#define leftover_in_use(l)               double_in_use(l)
#define leftover_runs(l)                 double_runs(l)
#define leftover_free(l)                 ((void)(freed += (l) != NULL))
#define thread_take_trap(th)             double_thread("take", th)
#define thread_resume(th)                double_thread("go", th)
#define space_stop(sp)                   (double_space("stop", sp), (sp)->stops++)
#define space_resume(sp)                 (double_space("resume", sp), (sp)->stops--)
#define space_keep(sp)                   ((sp)->refs++)
#define space_leave(sp, p)               ((sp)->refs--)
#define sites_commit(st, sp)             double_space("commit", sp)
#define moments_tell(st, ...)            (told = *(__VA_ARGS__))
#define targets_release_leftover(p)      call("leave")
#define fast_in_use(p)                   double_fires()
#define tptable_traps(tab)               ((struct trapset *)&calls)
#define trapset_runs(ts)                 double_handled()
#define trapset_nested(ts)               AREA
#define leftover_leads_to(sp, pid, area) ((area) == AREA && nested)
#define targets_let_go(st, p)            double_let_go(p)
#define kill(pid, sig)                   double_kill(pid, sig)
#include "tracer/drive/targets.c"

static char why_text[256];

static void
setup(void)
{
	options_init(&session.opts);
	for (unsigned i = 0; i < 2; i++) {
		procs[i].pid = PID + (pid_t)i;
		procs[i].space = &spaces[i];
		*vec_push(&spaces[i].procs) = &procs[i];
	}
	for (unsigned i = 0; i < 3; i++) {
		struct proc *p = &procs[i / 2];

		threads[i] = (struct thread){
			.tid = (pid_t)i, .proc = p, .stop.state = TH_STOPPED
		};
		*vec_push(&p->threads) = &threads[i];
	}
	reaches = true;
}

static int
launches(void)
{
	str_clear(&calls);
	return targets_launch(&session, "prog arg");
}

static int
attaches(bool named)
{
	why_text[0] = '\0';
	str_clear(&calls);
	return targets_attach(&session, PID, named, why_text, sizeof(why_text));
}

/* ---- launching ---- */

START_TEST(a_launched_program_is_a_target)
{
	ck_assert_int_eq(launches(), 0);
	/* The guardian is there before anything can be changed. */
	expect("guardian launch begin scout run ");
	ck_assert(procs[0].role.named);
	ck_assert_int_eq(procs[0].role.family, PID);
	ck_assert_uint_eq(session.named.left, 1);
	ck_assert(session.named.any);
	ck_assert_int_eq(session.named.pid, PID);
	ck_assert_ptr_null(launched_path);
}
END_TEST

START_TEST(a_program_for_another_machine_is_not_left_to_a_shell)
{
	found_path = (char *)"/bin/prog";
	ck_assert_int_eq(launches(), 0);
	ck_assert_ptr_null(launched_path);
	other_machine = (char *)"for AArch64";
	n_procs = 0;
	ck_assert_int_eq(launches(), 0);
	ck_assert_ptr_nonnull(launched_path);
}
END_TEST

START_TEST(words_that_cannot_be_split)
{
	split_error = -1;
	ck_assert_int_eq(launches(), -EINVAL);
	expect("failed to execute prog arg: quote\n");
	ck_assert(!session.named.any);
}
END_TEST

START_TEST(words_for_a_shell_are_told)
{
	shell_words = (char *)"no shell reads it";
	ck_assert_int_eq(launches(), 0);
	expect("no shell reads it\nguardian launch begin scout run ");
}
END_TEST

START_TEST(why_a_launch_fails)
{
	launch_error = -ENOENT;
	ck_assert_int_eq(launches(), -ENOENT);
	expect("guardian launch no such file\n");
	ck_assert(!session.named.any);
	advice = (char *)"did you mean frog";
	ck_assert_int_eq(launches(), -ENOENT);
	expect("guardian launch no such file; did you mean frog\n");
	/* Tests compare messages, and hints depend on the machine. */
	session.testing = true;
	ck_assert_int_eq(launches(), -ENOENT);
	expect("guardian launch no such file\n");
	/* The user's Ctrl-C has ended it: that is no error to print. */
	stopping = true;
	ck_assert_int_eq(launches(), -ENOENT);
	expect("guardian launch ");
}
END_TEST

START_TEST(one_that_ends_before_it_begins)
{
	reaches = false;
	ck_assert_int_eq(launches(), -ECHILD);
	expect("guardian launch begin scout run "
	       "failed to trace prog arg: it ended\n");
	n_procs = 0;
	session.draining = true;
	ck_assert_int_eq(launches(), -ECHILD);
	expect("guardian launch begin scout run ");
	n_procs = 0;
	session.draining = false;
	stopping = true;
	ck_assert_int_eq(launches(), -ECHILD);
	expect("guardian launch begin scout run ");
}
END_TEST

/* The descriptors that are open, at numbers below 256. */
static unsigned
open_files(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

START_TEST(with_too_few_descriptors_nothing_is_traced)
{
	unsigned before = open_files();
	struct rlimit few;

	ck_assert_int_eq(attaches(true), 0);
	ck_assert_uint_eq(open_files(), before);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &few), 0);
	few.rlim_cur = 0;
	for (unsigned left = 9; left > 0; few.rlim_cur++)
		left -= fcntl((int)few.rlim_cur, F_GETFD) < 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	ck_assert_int_eq(launches(), -EMFILE);
	ck_assert(called("failed to execute prog arg: only 9 more files"));
	ck_assert(!called("launch "));
	n_procs = 0;
	ck_assert_int_eq(attaches(true), -EMFILE);
	ck_assert_ptr_nonnull(strstr(why_text, "needs 16"));
	expect("");
	/* They are closed again. */
	ck_assert_uint_eq(open_files(), before);
}
END_TEST

START_TEST(without_standard_files_it_traces)
{
	close(STDIN_FILENO);
	errno = 0;
	ck_assert_int_eq(launches(), 0);
	close(STDERR_FILENO);
	n_procs = 0;
	ck_assert_int_eq(launches(), 0);
}
END_TEST

/* ---- attaching ---- */

START_TEST(an_attached_process_runs_on)
{
	ck_assert_int_eq(attaches(true), 0);
	/* An exec that had begun is seen before anything is written. */
	expect(
	    "progress guardian may find attach pending stop0 release go-0 go-1 "
	    "resume0 begin commit0 ");
	ck_assert(procs[0].role.named);
	ck_assert_uint_eq(session.named.left, 1);
	ck_assert_int_eq(session.named.pid, PID);
	ck_assert_uint_eq(naps, 0);
	ck_assert(cancels == loop_stopping);
}
END_TEST

START_TEST(what_a_description_finds_is_not_named)
{
	ck_assert_int_eq(attaches(false), 0);
	ck_assert(!procs[0].role.named);
	ck_assert_int_eq(procs[0].role.family, PID);
	ck_assert_uint_eq(session.named.left, 0);
	ck_assert(!session.named.any);
	/* Then the user names it too. */
	ck_assert_int_eq(attaches(true), 0);
	expect("");
	ck_assert(procs[0].role.named);
	ck_assert_uint_eq(session.named.left, 1);
	/* Twice is once. */
	ck_assert_int_eq(attaches(true), 0);
	ck_assert_int_eq(attaches(false), 0);
	ck_assert_uint_eq(session.named.left, 1);
}
END_TEST

START_TEST(the_first_named_is_target)
{
	session.named.pid = 77;
	ck_assert_int_eq(attaches(true), 0);
	ck_assert_int_eq(session.named.pid, 77);
}
END_TEST

START_TEST(reasons_why_it_is_not_attached)
{
	may_error = -EPERM;
	ck_assert_int_eq(attaches(true), -EPERM);
	ck_assert_str_eq(why_text, "not yours");
	ck_assert(!called("attach "));
	may_error = 0;
	find_error = -EBUSY;
	ck_assert_int_eq(attaches(true), -EBUSY);
	ck_assert_str_eq(why_text, "guardian");
	ck_assert(!called("attach "));
	find_error = 0;
	finds_leftover = true;
	attach_error = -ESRCH;
	ck_assert_int_eq(attaches(true), -ESRCH);
	ck_assert_str_eq(why_text, "refused");
	ck_assert_uint_eq(freed, 1);
	ck_assert(!session.named.any);
}
END_TEST

START_TEST(a_thread_stands_for_its_process)
{
	procs[0].pid = PID + 5;
	ck_assert_int_eq(attaches(true), 0);
	ck_assert_int_eq(attach_pid, PID);
	ck_assert(called("100 is a thread of process 105"));
	ck_assert(called("/tid == 100/"));
	ck_assert(called("begin "));
	procs[0].space->info = NULL;
	n_procs = 0;
	ck_assert_int_eq(attaches(false), 0);
	ck_assert(!called("thread of"));
}
END_TEST

/* ---- what a killed dtrap has left ---- */

START_TEST(what_is_left_is_mended_before_anything_is_read)
{
	finds_leftover = true;
	ck_assert_int_eq(attaches(true), 0);
	/* All traps that it caused are taken from the threads. */
	expect("progress guardian may find attach mend take-0 take-1 pending "
	       "stop0 release go-0 go-1 resume0 begin commit0 ");
	ck_assert_uint_eq(freed, 1);
	ck_assert_uint_eq(naps, 0);
}
END_TEST

START_TEST(text_that_cannot_be_restored_is_not_traced)
{
	finds_leftover = true;
	mend_error = -EFAULT;
	ck_assert_int_eq(attaches(true), -EFAULT);
	ck_assert_ptr_nonnull(strstr(why_text, "code of process 100"));
	expect("progress guardian may find attach mend take-0 take-1 detach ");
	ck_assert_uint_eq(freed, 1);
}
END_TEST

START_TEST(a_thread_in_the_old_handler_leaves_it_first)
{
	finds_leftover = true;
	in_handler_now = true;
	in_use_for = 3;
	ck_assert_int_eq(attaches(true), 0);
	expect("progress guardian may find attach mend take-0 take-1 pending "
	       "stop0 release go-0 go-1 resume0 pending "
	       "stop0 release go-0 go-1 resume0 pending "
	       "stop0 release go-0 go-1 resume0 pending "
	       "stop0 release go-0 go-1 resume0 begin commit0 ");
	ck_assert_uint_eq(naps, 3);
	ck_assert_uint_eq(slept, 1 + 2 + 4);
}
END_TEST

START_TEST(it_does_not_wait_for_ever)
{
	finds_leftover = true;
	in_handler_now = true;
	in_use_for = 1000;
	ck_assert_int_eq(attaches(true), -EBUSY);
	/* It could restore a byte of a jump that is written now. */
	ck_assert(!called("begin"));
	ck_assert(called("detach "));
	ck_assert_uint_eq(longest, 512);
	ck_assert_uint_ge(slept, 20000);
	ck_assert_uint_lt(slept, 20000 + 512);
}
END_TEST

/* A word on a stack that points there may be old. */
START_TEST(for_a_word_that_may_be_old_it_waits_once)
{
	finds_leftover = true;
	in_use_for = 1000;
	ck_assert_int_eq(attaches(true), 0);
	ck_assert(called("begin commit0 "));
	ck_assert_uint_eq(slept, 1023);
	ck_assert_uint_eq(longest, 512);
}
END_TEST

static void
user_ends(void)
{
	stopping = true;
}

START_TEST(the_user_ends_the_waiting)
{
	finds_leftover = true;
	in_handler_now = true;
	in_use_for = 1000;
	meanwhile = user_ends;
	ck_assert_int_eq(attaches(true), -EBUSY);
	ck_assert_uint_eq(naps, 0);
	ck_assert(!called("begin"));
	ck_assert(called("detach "));
}
END_TEST

static void
ends(void)
{
	n_procs = 0;
}

static void
executes(void)
{
	procs[0].space->info = &known;
}

START_TEST(one_that_ends_while_it_is_attached)
{
	finds_leftover = true;
	meanwhile = ends;
	ck_assert_int_eq(attaches(true), -ESRCH);
	ck_assert_ptr_nonnull(strstr(why_text, "process 100 ended"));
	ck_assert(!called("begin "));
	ck_assert_uint_eq(freed, 1);
}
END_TEST

/* The event of its exec has set it up already. */
START_TEST(one_that_executes_another_program_meanwhile)
{
	finds_leftover = true;
	meanwhile = executes;
	ck_assert_int_eq(attaches(true), 0);
	expect("progress guardian may find attach mend take-0 take-1 pending "
	       "go-0 go-1 ");
	ck_assert_uint_eq(freed, 1);
}
END_TEST

static void
waits_then_ends(void)
{
	meanwhile = ends;
}

static void
waits_then_executes(void)
{
	meanwhile = executes;
}

START_TEST(one_that_ends_or_executes_while_it_leaves_the_handler)
{
	finds_leftover = true;
	in_use_for = 1000;
	meanwhile = waits_then_ends;
	ck_assert_int_eq(attaches(true), -ESRCH);
	ck_assert(!called("begin "));
	ck_assert_uint_eq(naps, 1);
	meanwhile = waits_then_executes;
	ck_assert_int_eq(attaches(true), 0);
	ck_assert(!called("begin "));
	ck_assert_uint_eq(naps, 2);
}
END_TEST

/* ---- beginning ---- */

static bool
tells(enum evaltime at, enum launch_state launch)
{
	begins = at;
	procs[0].role.launch = launch;
	told = (struct event){ 0 };
	targets_run(&session);
	if (told.kind == EV_NONE)
		return false;
	ck_assert_int_eq(told.kind, EV_EXEC);
	ck_assert_ptr_eq(told.thread, &threads[0]);
	return true;
}

START_TEST(the_exec_of_a_launched_program_is_reported)
{
	n_procs = 1;
	ck_assert(tells(EVAL_EXEC, LAUNCH_AT_EXEC));
	ck_assert(tells(EVAL_BOTH, LAUNCH_AT_EXEC));
	/* The trace begins behind it. */
	ck_assert(!tells(EVAL_MAIN, LAUNCH_AT_EXEC));
	ck_assert(!tells(EVAL_PREINIT, LAUNCH_AT_EXEC));
	ck_assert(!tells(EVAL_BOTH, LAUNCH_RUNS));
	ck_assert(!tells(EVAL_EXEC, LAUNCH_NOT));
}
END_TEST

START_TEST(all_that_is_stopped_runs)
{
	n_procs = 2;
	threads[1].stop.state = TH_RUNNING;
	targets_run(&session);
	expect("go-0 go-2 ");
	/* Its event is still to be handled. */
	threads[0].stop.queued = 1;
	targets_run(&session);
	expect("go-2 ");
}
END_TEST

/* ---- releasing ---- */

static void
releases(void)
{
	n_procs = 2;
	str_clear(&calls);
	session.started = true;
	targets_release(&session);
	ck_assert_uint_eq(n_procs, 0);
}

START_TEST(all_are_stopped_and_let_go)
{
	releases();
	/* Events up to the stop are handled: a child may be among them. */
	expect("stop0 stop1 pending leave leave let-go-100 let-go-101 ");
	ck_assert_uint_eq(killed.len, 0);
}
END_TEST

START_TEST(a_program_whose_trace_did_not_begin_is_killed)
{
	n_procs = 2;
	procs[1].role.launch = LAUNCH_AT_EXEC;
	targets_release(&session);
	ck_assert_str_eq(str_c(&killed), "101 ");
	ck_assert_uint_eq(n_procs, 0);
}
END_TEST

START_TEST(a_firing_ends_first)
{
	fires_for = 2;
	releases();
	/* Both processes were in one. */
	expect("stop0 stop1 pending leave leave resume0 resume1 pending "
	       "stop0 stop1 pending leave leave let-go-100 let-go-101 ");
	ck_assert_uint_eq(naps, 1);
}
END_TEST

START_TEST(a_handler_ends_first)
{
	procs[1].handler.state = HANDLER_ABSENT + 1;
	handled_for = 1;
	releases();
	ck_assert_uint_eq(naps, 1);
	/* One that is called on top of it stands in a frame. */
	procs[0].handler.state = HANDLER_ABSENT + 1;
	procs[0].pid = PID;
	nested = true;
	releases();
	ck_assert_uint_ge(slept, 20000);
}
END_TEST

START_TEST(without_a_handler_nobody_is_in_it)
{
	handled_for = 1000;
	nested = true;
	releases();
	ck_assert_uint_eq(naps, 0);
}
END_TEST

START_TEST(the_release_does_not_wait_for_ever)
{
	fires_for = 100000;
	releases();
	ck_assert_uint_ge(slept, 20000);
	ck_assert_uint_lt(slept, 20000 + 512);
	ck_assert_uint_eq(longest, 512);
}
END_TEST

static void
goes_to_another_space(void)
{
	procs[1].space = &spaces[2];
}

/* As a vfork child does: its new space has not been stopped. */
START_TEST(one_that_executes_while_a_firing_ends)
{
	fires_for = 2;
	meanwhile = goes_to_another_space;
	releases();
	expect("stop0 stop1 pending leave leave resume0 resume1 pending "
	       "stop0 stop2 pending leave leave let-go-100 let-go-101 ");
}
END_TEST

/* Nobody knows when it goes on. */
START_TEST(for_a_halted_process_nobody_waits_long)
{
	threads[1].stop.kind = EV_GROUP_STOP;
	threads[2].stop.state = TH_LISTENING;
	fires_for = 100000;
	releases();
	ck_assert_uint_eq(naps, 0);
	procs[0].handler.state = HANDLER_ABSENT + 1;
	handled_for = 100000;
	n_procs = 1;
	targets_release(&session);
	ck_assert_uint_eq(slept, 1023);
}
END_TEST

START_TEST(an_old_handler_is_waited_for_too)
{
	spaces[1].leftover = found;
	in_use_for = 100000;
	in_handler_now = true;
	releases();
	ck_assert_uint_ge(slept, 20000);
	slept = naps = 0;
	procs[0] = (struct proc){ .pid = PID, .space = &spaces[0] };
	procs[1] = (struct proc){ .pid = PID + 1, .space = &spaces[1] };
	in_handler_now = false;
	releases();
	ck_assert_uint_eq(slept, 1023);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_launched_program_is_a_target,
		a_program_for_another_machine_is_not_left_to_a_shell,
		words_that_cannot_be_split,
		words_for_a_shell_are_told,
		why_a_launch_fails,
		one_that_ends_before_it_begins,
		with_too_few_descriptors_nothing_is_traced,
		without_standard_files_it_traces,
		an_attached_process_runs_on,
		what_a_description_finds_is_not_named,
		the_first_named_is_target,
		reasons_why_it_is_not_attached,
		a_thread_stands_for_its_process,
		what_is_left_is_mended_before_anything_is_read,
		text_that_cannot_be_restored_is_not_traced,
		a_thread_in_the_old_handler_leaves_it_first,
		it_does_not_wait_for_ever,
		for_a_word_that_may_be_old_it_waits_once,
		the_user_ends_the_waiting,
		one_that_ends_while_it_is_attached,
		one_that_executes_another_program_meanwhile,
		one_that_ends_or_executes_while_it_leaves_the_handler,
		the_exec_of_a_launched_program_is_reported,
		all_that_is_stopped_runs,
		all_are_stopped_and_let_go,
		a_program_whose_trace_did_not_begin_is_killed,
		a_firing_ends_first,
		one_that_executes_while_a_firing_ends,
		a_handler_ends_first,
		without_a_handler_nobody_is_in_it,
		the_release_does_not_wait_for_ever,
		for_a_halted_process_nobody_waits_long,
		an_old_handler_is_waited_for_too,
	};

	return suite_run("targets", setup, NULL, tests, ARRAY_SIZE(tests));
}
