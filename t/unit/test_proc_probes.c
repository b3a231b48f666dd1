/*
 * tracer/prov/ proc, proc_life and proc_signal, and tracer/fire/moments: at which
 * events the probes of provider proc fire, for which thread, and with which
 * arguments.  System calls, signals and /proc are doubles, so the files themselves
 * are included below.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "dlang/base/str.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/moments.h"
#include "tracer/fire/syscalls.h"
#include "tracer/prov/proc.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/procfs.h"

#define PID  100              /* the process; its threads are 100 and 101 */
#define KID  200              /* another process */
#define BUF  UINT64_C(0x1000) /* a buffer of the process */
#define READ ((int64_t)sizeof(struct signalfd_siginfo))

static struct state session;
static struct moments moments;
static struct proc proc, kid;
static struct space space;
static struct thread threads[2], kid_thread;
static struct str fired; /* what fired, a word for each */

static void
double_fire(const struct probe *p, const struct thread *th,
    const uint64_t *words, unsigned nwords, struct occasion about)
{
	str_printf(&fired, "%s-%d", p->name, (int)th->tid);
	for (unsigned i = 0; i < nwords; i++)
		str_printf(&fired, ",%lld", (long long)words[i]);
	str_add(&fired, about.siginfo != NULL ? "! " : " ");
}

/* ---- system calls ---- */

static struct {
	unsigned nr;
	enum syscall_side side;
	syscall_fn fn;
	void *arg;
} subs[16];
static unsigned n_subs;

static void
double_subscribe(unsigned nr, enum syscall_side side, syscall_fn fn, void *arg)
{
	ck_assert_uint_lt(n_subs, ARRAY_SIZE(subs));
	subs[n_subs].nr = nr;
	subs[n_subs].side = side;
	subs[n_subs].fn = fn;
	subs[n_subs++].arg = arg;
}

/* ---- signals and /proc ---- */

static siginfo_t info;
static int info_error, status_error;
static struct proc_status its;
static pid_t known_sender;
static char pidfd_text[64], link_text[64];
static uint32_t signos[4]; /* the records that the process has read */
static unsigned readable;  /* so many of them */

static int
double_siginfo(siginfo_t *si)
{
	*si = info;
	return info_error;
}

static int
double_status(pid_t tid, struct proc_status *out)
{
	ck_assert_int_eq(tid, PID);
	*out = its;
	return status_error;
}

/* Processes 10 to 15; 11, 13 and 15 are of group 7, and 15 has just ended. */
static int
double_pids(struct pids *all)
{
	for (pid_t pid = 10; pid < 16; pid++)
		*vec_push(&all->list) = pid;
	return 0;
}

static int
double_stat(pid_t pid, unsigned field, uint64_t *value)
{
	ck_assert_uint_eq(field, 5);
	if (pid == 15)
		return -ESRCH;
	*value = pid == PID || pid % 2 != 0 ? 7 : 8;
	return 0;
}

static ssize_t
double_text(pid_t pid, const char *name, char *buf, size_t size)
{
	ck_assert_int_eq(pid, PID);
	ck_assert_str_eq(name, "fdinfo/6");
	return snprintf(buf, size, "%s", pidfd_text);
}

static ssize_t
double_link(pid_t pid, const char *name, char *buf, size_t size)
{
	ck_assert_int_eq(pid, PID);
	ck_assert_str_eq(name, "fd/5");
	return snprintf(buf, size, "%s", link_text);
}

static int
double_read(const struct reader *r, uint64_t addr, void *buf, size_t size)
{
	ck_assert_ptr_eq(r, &space.mem);
	ck_assert_uint_eq(size, sizeof(signos[0]));
	ck_assert_uint_eq((addr - BUF) % READ, 0);
	size_t i = (addr - BUF) / READ;
	if (i >= readable)
		return -EFAULT;
	memcpy(buf, &signos[i], size);
	return 0;
}

#define fire_event(st, p, th, words, n, ...) \
	double_fire(p, th, words, n, __VA_ARGS__)
#define syscalls_subscribe(st, nr, side, fn, arg) \
	double_subscribe(nr, side, fn, arg)
#define thread_siginfo(th, si)            double_siginfo(si)
#define procfs_status(tid, out)           double_status(tid, out)
#define procfs_pids(all)                  double_pids(all)
#define procfs_stat(pid, field, value)    double_stat(pid, field, value)
#define procfs_text(pid, name, buf, size) double_text(pid, name, buf, size)
#define procfs_link(pid, name, buf, size) double_link(pid, name, buf, size)
#define super_knew(su, pid)               ((pid) == known_sender)
#define reader_read(r, addr, buf, size)   double_read(r, addr, buf, size)
#include "tracer/fire/moments.c"
#include "tracer/prov/proc_life.c"
#include "tracer/prov/proc_signal.c"
#include "tracer/prov/proc.c"

static void
setup(void)
{
	probes_init(&session.probes);
	session.moments = &moments;
	prov_proc.init(&session);
	proc.pid = PID;
	proc.space = &space;
	kid.pid = KID;
	for (int i = 0; i < 2; i++) {
		threads[i].tid = PID + i;
		threads[i].proc = &proc;
		*vec_push(&proc.threads) = &threads[i];
	}
	kid_thread.tid = KID;
	kid_thread.proc = &kid;
	*vec_push(&kid.threads) = &kid_thread;
}

static void
teardown(void)
{
	probes_fini(&session.probes);
	moments_fini(&moments);
	parts_end(&proc.parts);
	vec_fini(&proc.threads);
	vec_fini(&kid.threads);
	str_fini(&fired);
}

static void
expect(const char *want)
{
	ck_assert_str_eq(str_c(&fired), want);
	str_clear(&fired);
}

static struct probe *
probe_of(const char *name)
{
	struct probe *found = NULL;

	vec_foreach(p, &session.probes.list)
		if (*p != NULL && strcmp((*p)->name, name) == 0)
			found = *p;
	ck_assert_ptr_nonnull(found);
	return found;
}

static void
enables(const char *name)
{
	prov_proc.enable(&session, probe_of(name));
}

static void
happens(struct event ev)
{
	if (ev.thread == NULL)
		ev.thread = &threads[0];
	moments_tell(&session, &ev);
}

#define HAPPENS(...) happens((struct event){ __VA_ARGS__ })

/* The thread enters or leaves a system call. */
static void
call(struct syscall_hit hit)
{
	hit.thread = &threads[0];
	for (unsigned i = 0; i < n_subs; i++)
		if (subs[i].nr == hit.nr && subs[i].side == hit.side)
			subs[i].fn(&session, &hit, subs[i].arg);
}

#define ENTERS(n, ...)             \
	call((struct syscall_hit){ \
	    .side = SYSCALL_ENTRY, .nr = (n), __VA_ARGS__ })
#define RETURNS(n, ...)            \
	call((struct syscall_hit){ \
	    .side = SYSCALL_RETURN, .nr = (n), __VA_ARGS__ })

/* ---- all of them ---- */

START_TEST(they_are_all_there)
{
	static const char *const names[] = { "create", "start", "lwp-create",
		"lwp-start", "exec", "exec-failure", "exec-success",
		"signal-send", "fault", "signal-discard", "signal-handle",
		"signal-clear", "lwp-exit", "exit" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct probe *p = probe_of(names[i]);
		ck_assert_str_eq(p->prov, "proc");
		ck_assert_str_eq(p->func, "");
		ck_assert_ptr_eq(p->provider, &prov_proc);
	}
	ck_assert(prov_proc.follows);
	size_t n = 0;
	vec_foreach(p, &session.probes.list)
		n += *p != NULL;
	ck_assert_uint_eq(n, ARRAY_SIZE(names));
}
END_TEST

static void
expect_args(const char *name, const char *want)
{
	struct str text = { 0 };
	struct probe_arg a;

	for (unsigned n = 0; prov_proc.arg(probe_of(name), n, &a); n++)
		str_printf(&text, "%s=arg%u ",
		    a.translated != NULL ? a.translated : a.type, a.source);
	ck_assert_str_eq(str_c(&text), want);
	str_fini(&text);
}

START_TEST(arguments_are_typed)
{
	expect_args("create", "psinfo_t *=arg0 ");
	expect_args("lwp-create", "lwpsinfo_t *=arg0 psinfo_t *=arg0 ");
	expect_args("start", "");
	expect_args("exec", "string=arg0 ");
	expect_args(
	    "signal-send", "lwpsinfo_t *=arg0 psinfo_t *=arg0 int=arg1 ");
	expect_args("signal-handle", "int=arg0 siginfo_t *=arg1 void *=arg2 ");
	expect_args("exit", "int=arg0 ");
}
END_TEST

/* ---- lives ---- */

START_TEST(a_process_is_created_and_starts)
{
	enables("create");
	enables("start");
	enables("lwp-create");
	enables("lwp-start");
	HAPPENS(.kind = EV_FORK, .child = &kid_thread);
	expect("create-100,200 ");
	HAPPENS(.kind = EV_VFORK, .child = &kid_thread);
	expect("create-100,200 ");
	HAPPENS(.kind = EV_CLONE, .child = &kid_thread);
	expect("create-100,200 ");
	HAPPENS(.kind = EV_STOP, .thread = &kid_thread, .first = true);
	expect("start-200 lwp-start-200 ");
	/* Any other stop of it. */
	HAPPENS(.kind = EV_STOP, .thread = &kid_thread);
	expect("");
}
END_TEST

START_TEST(a_thread_is_created_and_starts)
{
	enables("create");
	enables("start");
	enables("lwp-create");
	enables("lwp-start");
	HAPPENS(.kind = EV_CLONE, .child = &threads[1]);
	expect("lwp-create-100,101 ");
	HAPPENS(.kind = EV_STOP, .thread = &threads[1], .first = true);
	expect("lwp-start-101 ");
}
END_TEST

START_TEST(a_child_that_is_not_traced_is_not_told)
{
	enables("create");
	enables("lwp-create");
	HAPPENS(.kind = EV_FORK);
	HAPPENS(.kind = EV_CLONE);
	expect("");
}
END_TEST

START_TEST(an_exec_has_its_path)
{
	enables("exec");
	enables("exec-success");
	enables("exec-failure");
	ENTERS(SYS_execve, .args = { 0x111, 0x222 });
	expect("exec-100,273 ");
	ENTERS(SYS_execveat, .args = { 0x111, 0x222 });
	expect("exec-100,546 ");
	RETURNS(SYS_execve, .result = -ENOENT, .error = ENOENT);
	expect("exec-failure-100,-2 ");
	RETURNS(SYS_execveat, .result = -EACCES, .error = EACCES);
	expect("exec-failure-100,-13 ");
	RETURNS(SYS_execve, .result = 0);
	expect("");
	HAPPENS(.kind = EV_EXEC);
	expect("exec-success-100 ");
}
END_TEST

START_TEST(only_the_last_thread_ends_the_process)
{
	enables("lwp-exit");
	enables("exit");
	HAPPENS(.kind = EV_EXIT, .thread = &threads[1]);
	expect("lwp-exit-101 ");
	threads[1].stop.life = LIFE_ENDS;
	HAPPENS(.kind = EV_EXIT, .status = 3 << 8);
	expect("lwp-exit-100 exit-100,1 ");
	/* Its end is reported once. */
	threads[0].stop.life = LIFE_ENDS;
	proc.threads.len = 0;
	HAPPENS(.kind = EV_GONE, .status = 3 << 8);
	expect("");
}
END_TEST

START_TEST(a_thread_that_is_gone_does_not_count)
{
	enables("exit");
	threads[1].stop.state = TH_GONE;
	HAPPENS(.kind = EV_EXIT);
	expect("exit-100,1 ");
}
END_TEST

START_TEST(how_a_process_ends)
{
	enables("exit");
	proc.threads.len = 1;
	HAPPENS(.kind = EV_EXIT, .status = SIGTERM);
	expect("exit-100,2 "); /* CLD_KILLED */
	parts_end(&proc.parts);
	proc.parts = (struct parts){ 0 };
	HAPPENS(.kind = EV_EXIT, .status = SIGSEGV | 0x80);
	expect("exit-100,3 "); /* CLD_DUMPED */
}
END_TEST

/* Then there is no stop before its end. */
START_TEST(a_process_that_is_killed_ends_too)
{
	enables("lwp-exit");
	enables("exit");
	HAPPENS(.kind = EV_GONE, .thread = &threads[1], .status = SIGKILL);
	expect("");
	proc.threads.len = 0;
	HAPPENS(.kind = EV_GONE, .status = SIGKILL);
	expect("lwp-exit-100 exit-100,2 ");
}
END_TEST

/* ---- sending ---- */

START_TEST(a_signal_is_sent_when_the_call_has_succeeded)
{
	enables("signal-send");
	RETURNS(SYS_kill, .args = { KID, SIGUSR1 });
	expect("signal-send-100,200,10 ");
	RETURNS(SYS_tkill, .args = { KID, SIGUSR1 });
	expect("signal-send-100,200,10 ");
	RETURNS(SYS_tgkill, .args = { 1, KID, SIGUSR2 });
	expect("signal-send-100,200,12 ");
	RETURNS(SYS_rt_sigqueueinfo, .args = { KID, SIGUSR2 });
	expect("signal-send-100,200,12 ");
	RETURNS(SYS_rt_tgsigqueueinfo, .args = { 1, KID, SIGUSR2 });
	expect("signal-send-100,200,12 ");
	RETURNS(SYS_kill, .args = { KID, SIGUSR1 }, .result = -EPERM);
	RETURNS(SYS_kill, .args = { KID, 0 }); /* only asks */
	RETURNS(SYS_kill, .args = { (uint64_t)-1, SIGUSR1 });
	expect("");
}
END_TEST

START_TEST(a_signal_to_a_group_is_one_for_each)
{
	enables("signal-send");
	RETURNS(SYS_kill, .args = { (uint64_t)-7, SIGUSR1 });
	expect("signal-send-100,11,10 signal-send-100,13,10 ");
	/* The sender's own. */
	RETURNS(SYS_kill, .args = { 0, SIGUSR1 });
	expect("signal-send-100,11,10 signal-send-100,13,10 ");
	RETURNS(SYS_kill, .args = { (uint64_t)-9, SIGUSR1 });
	RETURNS(SYS_tkill, .args = { (uint64_t)-7, SIGUSR1 });
	expect("");
}
END_TEST

START_TEST(a_pidfd_names_its_process)
{
	enables("signal-send");
	strcpy(pidfd_text, "pos:\t0\nPid:\t77\nNSpid:\t3\n");
	RETURNS(SYS_pidfd_send_signal, .args = { 6, SIGUSR1 });
	expect("signal-send-100,77,10 ");
	strcpy(pidfd_text, "pos:\t0\n");
	RETURNS(SYS_pidfd_send_signal, .args = { 6, SIGUSR1 });
	expect("");
}
END_TEST

static void
dies_in(int nr, uint64_t target, int sig)
{
	threads[0].call = (struct syscall_call){
		.state = CALL_MADE, .nr = nr, .args = { target, (uint64_t)sig }
	};
	HAPPENS(.kind = EV_EXIT);
}

START_TEST(who_kills_itself_has_sent_it)
{
	enables("signal-send");
	dies_in(SYS_kill, PID, SIGKILL);
	expect("signal-send-100,100,9 ");
	dies_in(SYS_kill, 0, SIGKILL);
	expect("signal-send-100,11,9 signal-send-100,13,9 ");
	dies_in(SYS_kill, KID, SIGKILL); /* killed by another one meanwhile */
	dies_in(SYS_kill, PID, SIGTERM); /* that call has returned */
	dies_in(SYS_write, PID, SIGKILL);
	threads[0].call.state = CALL_NONE;
	HAPPENS(.kind = EV_EXIT);
	expect("");
	threads[1].call = (struct syscall_call){ .state = CALL_MADE,
		.nr = SYS_tkill,
		.args = { PID + 1, SIGKILL } };
	HAPPENS(.kind = EV_EXIT, .thread = &threads[1]);
	expect("signal-send-101,101,9 ");
}
END_TEST

START_TEST(a_signal_from_elsewhere_is_seen_when_it_arrives)
{
	enables("signal-send");
	info.si_code = SI_USER;
	info.si_pid = KID;
	HAPPENS(.kind = EV_SIGNAL, .sig = SIGUSR1);
	expect("signal-send-100,100,10 ");
	/* It was seen when it was sent. */
	known_sender = KID;
	HAPPENS(.kind = EV_SIGNAL, .sig = SIGUSR1);
	info.si_code = SI_QUEUE;
	HAPPENS(.kind = EV_SIGNAL, .sig = SIGUSR1);
	info.si_code = SI_TKILL;
	HAPPENS(.kind = EV_SIGNAL, .sig = SIGUSR1);
	expect("");
	/* A traced child's end is the kernel's signal. */
	info.si_code = CLD_EXITED;
	HAPPENS(.kind = EV_SIGNAL, .sig = SIGCHLD);
	expect("signal-send-100,100,17 ");
	info_error = -ESRCH;
	HAPPENS(.kind = EV_SIGNAL, .sig = SIGUSR1);
	expect("");
}
END_TEST

/* ---- arriving ---- */

START_TEST(a_fault_is_the_kernels)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE,
		SIGTRAP };
	char want[32];

	enables("fault");
	info.si_code = SEGV_MAPERR;
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		HAPPENS(.kind = EV_SIGNAL, .sig = faults[i]);
		snprintf(want, sizeof(want), "fault-100,%d,1! ", faults[i]);
		expect(want);
	}
	HAPPENS(.kind = EV_SIGNAL, .sig = SIGUSR1);
	info.si_code = SI_USER; /* somebody's kill */
	HAPPENS(.kind = EV_SIGNAL, .sig = SIGSEGV);
	info.si_code = SEGV_MAPERR;
	info_error = -ESRCH;
	HAPPENS(.kind = EV_SIGNAL, .sig = SIGSEGV);
	expect("");
}
END_TEST

/* What becomes of a signal: "handle" or "discard". */
static void
becomes(int sig, const char *what)
{
	char want[64];

	if (what[0] == 'h')
		snprintf(want, sizeof(want), "signal-handle-100,%d,1,0! ", sig);
	else
		snprintf(want, sizeof(want), "signal-discard-100,100,%d ", sig);
	HAPPENS(.kind = EV_SIGNAL, .sig = sig);
	expect(want);
}

START_TEST(a_signal_is_handled_or_discarded)
{
	static const int harmless[] = { SIGCHLD, SIGURG, SIGWINCH, SIGCONT };

	enables("signal-discard");
	enables("signal-handle");
	becomes(SIGUSR1, "handle");
	its.sig_ignored = SIGBIT(SIGUSR1);
	becomes(SIGUSR1, "discard");
	becomes(SIGUSR2, "handle");
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++) {
		its.sig_caught = 0;
		becomes(harmless[i], "discard");
		its.sig_caught = SIGBIT(harmless[i]);
		becomes(harmless[i], "handle");
	}
	info_error = -ESRCH;
	HAPPENS(.kind = EV_SIGNAL, .sig = SIGUSR2);
	info_error = 0;
	status_error = -ESRCH;
	HAPPENS(.kind = EV_SIGNAL, .sig = SIGUSR1);
	HAPPENS(.kind = EV_SIGNAL, .sig = SIGUSR2);
	expect("");
}
END_TEST

/* ---- taken without being delivered ---- */

START_TEST(a_waited_for_signal_is_cleared)
{
	enables("signal-clear");
	RETURNS(SYS_rt_sigtimedwait, .result = SIGUSR1);
	expect("signal-clear-100,10 ");
	RETURNS(SYS_rt_sigtimedwait, .result = -EAGAIN, .error = EAGAIN);
	RETURNS(SYS_rt_sigtimedwait, .result = 0);
	expect("");
}
END_TEST

static void
reads(int64_t result)
{
	RETURNS(SYS_read, .args = { 5, BUF }, .result = result);
}

START_TEST(what_a_signalfd_reads_is_cleared)
{
	enables("signal-clear");
	strcpy(link_text, "anon_inode:[signalfd]");
	signos[0] = SIGUSR1;
	signos[1] = SIGCHLD;
	readable = 2;
	reads(READ);
	expect("signal-clear-100,10 ");
	reads(2 * READ);
	expect("signal-clear-100,10 signal-clear-100,17 ");
	/* The rest cannot be read. */
	reads(4 * READ);
	expect("signal-clear-100,10 signal-clear-100,17 ");
	reads(0);
	reads(-EAGAIN);
	reads(-READ);
	reads(READ + 1);
	strcpy(link_text, "/a/file");
	reads(READ);
	expect("");
}
END_TEST

/* ---- subscriptions ---- */

static unsigned told;

static void
counts(struct state *st, const struct event *ev, void *arg)
{
	told++;
	if (told == 1)
		for (int i = 0; i < 20; i++)
			moments_subscribe(st, ev->kind, counts, arg);
}

/* They may be added while they are called. */
START_TEST(a_subscriber_may_subscribe)
{
	moments_subscribe(&session, EV_FORK, counts, NULL);
	HAPPENS(.kind = EV_VFORK);
	ck_assert_uint_eq(told, 0);
	HAPPENS(.kind = EV_FORK);
	ck_assert_uint_eq(told, 21);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		they_are_all_there,
		arguments_are_typed,
		a_process_is_created_and_starts,
		a_thread_is_created_and_starts,
		a_child_that_is_not_traced_is_not_told,
		an_exec_has_its_path,
		only_the_last_thread_ends_the_process,
		a_thread_that_is_gone_does_not_count,
		how_a_process_ends,
		a_process_that_is_killed_ends_too,
		a_signal_is_sent_when_the_call_has_succeeded,
		a_signal_to_a_group_is_one_for_each,
		a_pidfd_names_its_process,
		who_kills_itself_has_sent_it,
		a_signal_from_elsewhere_is_seen_when_it_arrives,
		a_fault_is_the_kernels,
		a_signal_is_handled_or_discarded,
		a_waited_for_signal_is_cleared,
		what_a_signalfd_reads_is_cleared,
		a_subscriber_may_subscribe,
	};

	return suite_run(
	    "proc_probes", setup, teardown, tests, ARRAY_SIZE(tests));
}
