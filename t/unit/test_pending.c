/*
 * tracer: signals of every number, as they are before and after we make system
 * calls in the threads that have them.
 */
#include "t/unit/tracee.h"

#include "dlang/base/str.h"

/* A thread of the fixture, besides its leader. */
static void *
stand(void *arg)
{
	await_go();
	return NULL;
}

static volatile uint64_t handled; /* by SIGBIT */

static void
on_bit(int sig, siginfo_t *si, void *uc)
{
	if (si->si_code == SI_QUEUE && si->si_value.sival_int == 1000 + sig)
		handled |= SIGBIT(sig);
	seen++;
}

/* Every signal is blocked: by `ignored' it is ignored as well; by `handled' it
 * has a handler, is let in at the end, and must come as it was sent, twice. */
static int
own_fixture(const char *how)
{
	bool handles = strcmp(how, "handled") == 0;
	struct sigaction sa = { .sa_sigaction = on_bit,
		.sa_flags = SA_SIGINFO };
	sigset_t all, pending;
	uint64_t want = 0;
	pthread_t t;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (strcmp(how, "ignored") == 0)
		sa = (struct sigaction){ .sa_handler = SIG_IGN };
	for (int sig = 1; sig <= 64 && strcmp(how, "default") != 0; sig++)
		sigaction(sig, &sa, NULL);
	if (pthread_create(&t, NULL, stand, NULL) != 0)
		return 2;
	say_ready();
	await_go();
	pthread_join(t, NULL);
	if (!handles)
		return 0;
	sigpending(&pending);
	for (int sig = 1; sig <= 64; sig++)
		want |= sigismember(&pending, sig) == 1 ? SIGBIT(sig) : 0;
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	return handled == want && seen == 2 * __builtin_popcountll(want) ? 0 :
									   1;
}

/* What /proc says of signals in all threads, and what each pending one has with
 * it. */
static void
look(struct proc *p, struct str *out)
{
	char path[64], line[256];
	siginfo_t si;

	vec_foreach(th, &p->threads) {
		snprintf(
		    path, sizeof(path), "/proc/%d/status", (int)(*th)->tid);
		FILE *f = fopen(path, "r");
		ck_assert_ptr_nonnull(f);
		while (fgets(line, sizeof(line), f) != NULL)
			/* SigQ counts what all processes have. */
			if ((strncmp(line, "Sig", 3) == 0 && line[3] != 'Q') ||
			    strncmp(line, "Shd", 3) == 0)
				str_printf(out, "%d %s", (int)(*th)->tid, line);
		fclose(f);
		for (int shared = 0; shared < 2; shared++)
			for (unsigned i = 0;
			     thread_pending(*th, shared, i, &si); i++)
				str_printf(out, "%d.%d: %d code %d value %d\n",
				    (int)(*th)->tid, shared, si.si_signo,
				    si.si_code, si.si_value.sival_int);
	}
}

/* Check's own message would be too long. */
static void
same_lines(const char *before, const char *after)
{
	while (*before != '\0' || *after != '\0') {
		size_t a = strcspn(before, "\n"), b = strcspn(after, "\n");
		ck_assert_msg(a == b && memcmp(before, after, a) == 0,
		    "'%.*s' is '%.*s'", (int)a, before, (int)b, after);
		before += a + (before[a] != '\0');
		after += b + (after[b] != '\0');
	}
}

static bool
is_libcs(int sig)
{
	return sig == 32 || sig == 33; /* cancellation, setuid() */
}

/* sigqueue() of all numbers, to the process and to each of its threads. */
static void
send_all(pid_t pid, const struct pids *tids)
{
	for (int sig = 1; sig <= SIGNALS; sig++) {
		siginfo_t si = { .si_signo = sig, .si_code = SI_QUEUE };
		si.si_value.sival_int = 1000 + sig;
		/* CONT and the stops throw one another away. */
		if (sig == SIGKILL || sig == SIGSTOP || sig == SIGCONT ||
		    is_libcs(sig))
			continue;
		ck_assert_int_eq(
		    syscall(SYS_rt_sigqueueinfo, pid, sig, &si), 0);
		vec_foreach(tid, &tids->list)
			ck_assert_int_eq(
			    syscall(SYS_rt_tgsigqueueinfo, pid, *tid, sig, &si),
			    0);
	}
}

static pid_t
start_pending(const char *how)
{
	struct pids tids = { 0 };
	pid_t pid = start("pending", how);

	await_ready();
	ck_assert_int_eq(procfs_tasks(pid, &tids), 0);
	ck_assert_uint_eq(tids.list.len, 2);
	vec_foreach(tid, &tids.list)
		await_state(*tid, "S");
	send_all(pid, &tids);
	vec_fini(&tids.list);
	return pid;
}

static void
make_call(struct thread *th)
{
	const uint64_t args[6] = { 0 };
	int64_t result;

	ck_assert_int_eq(remote_syscall(th, SYS_getppid, args, &result), 0);
	ck_assert_int_eq(result, getpid());
}

static const char *const hows[] = { "default", "ignored", "handled" };

START_TEST(a_call_leaves_all_that_is_pending)
{
	struct str before = { 0 }, after = { 0 };
	pid_t pid = start_pending(hows[_i]);
	struct proc *p = attach(pid);

	look(p, &before);
	vec_foreach(th, &p->threads)
		for (int i = 0; i < 2; i++)
			make_call(*th);
	look(p, &after);
	same_lines(str_c(&before), str_c(&after));
	str_fini(&before);
	str_fini(&after);
	proc_detach(p, NULL, NULL);
	finishes(pid);
}
END_TEST

/* Each of them, when it is let in, and while the others wait. */
START_TEST(a_call_leaves_all_that_is_delivered)
{
	pid_t pid = start_pending("handled");
	struct proc *p = attach(pid);
	struct event ev;
	int n = 0;

	ck_assert_int_eq(p->pid, pid);
	close(go_fd);
	resume_all(p);
	while (next(&ev)) {
		if (ev.kind == EV_TRAP || ev.kind == EV_SIGNAL) {
			make_call(ev.thread);
			stop_signal(ev.thread, ev.sig);
			n++;
		}
		thread_resume(ev.thread);
	}
	ck_assert_int_gt(n, SIGNALS);
	ck_assert_int_eq(seen_events.at[seen_events.len - 1].status, 0);
}
END_TEST

int
main(int argc, char **argv)
{
	if (argc >= 4 && strcmp(argv[2], "pending") == 0)
		_exit(own_fixture(argv[3]));
	tracee_main(argc, argv);

	Suite *s = suite_create("pending");
	TCase *tc = tcase_create("pending");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(
	    tc, a_call_leaves_all_that_is_pending, 0, (int)ARRAY_SIZE(hows));
	tcase_add_test(tc, a_call_leaves_all_that_is_delivered);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
