/* Signals: masks, queues, handlers, and who waits for them. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "behave.h"

static volatile sig_atomic_t count, depth, deepest;
static volatile int seen[256], seen_len;
static volatile long strange;

static sigset_t
set_of(int a, int b)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, a);
	if (b != 0)
		sigaddset(&set, b);
	return set;
}

static void
say_mask(const char *what)
{
	sigset_t set;

	pthread_sigmask(SIG_SETMASK, NULL, &set);
	printf("%s:", what);
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (sigismember(&set, sig) == 1)
			printf(" %d", sig);
	printf("\n");
}

static void
on_count(int sig, siginfo_t *si, void *uc)
{
	count = work(count);
	if (!in_file_text(
		(uint64_t)((ucontext_t *)uc)->uc_mcontext.gregs[REG_RIP]))
		strange++;
}

static void
on_value(int sig, siginfo_t *si, void *uc)
{
	if (si->si_code != SI_QUEUE || si->si_pid != getpid())
		strange++;
	seen[seen_len++] = si->si_value.sival_int * 10 + sig - SIGRTMIN;
	work(sig);
}

static int
blocked(void)
{
	sigset_t set = set_of(SIGUSR1, SIGUSR2), pending, old;

	catch_signal(SIGUSR1, on_count, 0);
	catch_signal(SIGUSR2, on_count, 0);
	sigprocmask(SIG_BLOCK, &set, &old);
	for (int i = 0; i < 50; i++) {
		raise(SIGUSR1);
		kill(getpid(), SIGUSR2);
		work(i);
	}
	sigpending(&pending);
	printf("pending %d %d, handled %d\n", sigismember(&pending, SIGUSR1),
	    sigismember(&pending, SIGUSR2), (int)count);
	say_mask("blocked");
	sigprocmask(SIG_SETMASK, &old, NULL);
	say_mask("unblocked");
	/* One to the thread, one to the process. */
	printf("handled %d strange %ld\n", (int)count, strange);
	return 0;
}

static int
ignored(void)
{
	struct sigaction sa;
	sigset_t pending;

	signal(SIGUSR1, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	for (int i = 0; i < 50; i++) {
		raise(SIGUSR1);
		raise(SIGINT);
		raise(SIGCHLD);
		raise(SIGWINCH);
		raise(SIGURG);
		raise(SIGCONT);
		work(i);
	}
	sigaction(SIGUSR1, NULL, &sa);
	sigpending(&pending);
	printf("ignored %d empty %d\n", sa.sa_handler == SIG_IGN,
	    sigisemptyset(&pending));
	return 0;
}

static int
realtime(void)
{
	sigset_t set = set_of(SIGRTMIN, SIGRTMIN + 1), old;

	catch_signal(SIGRTMIN, on_value, 0);
	catch_signal(SIGRTMIN + 1, on_value, 0);
	sigprocmask(SIG_BLOCK, &set, &old);
	for (int i = 0; i < 40; i++) {
		union sigval v = { .sival_int = work(i) };
		sigqueue(getpid(), SIGRTMIN + (i & 1), v);
		pthread_sigqueue(pthread_self(), SIGRTMIN + 1 - (i & 1), v);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	for (int i = 0; i < seen_len; i++)
		printf("%d ", seen[i]);
	printf("strange %ld\n", strange);
	return 0;
}

static char alt[65536];

static void
on_alt(int sig, siginfo_t *si, void *uc)
{
	char here;
	stack_t now;

	sigaltstack(NULL, &now);
	if (&here < alt || &here >= alt + sizeof(alt) ||
	    ((ucontext_t *)uc)->uc_stack.ss_sp != alt)
		strange++;
	if ((now.ss_flags & SS_ONSTACK) == 0)
		strange += 100;
	count = work(count);
	if (sig == SIGUSR1)
		raise(SIGUSR2);
}

static int
altstack(void)
{
	stack_t st = { .ss_sp = alt, .ss_size = sizeof(alt) }, now;

	sigaltstack(&st, NULL);
	catch_signal(SIGUSR1, on_alt, SA_ONSTACK);
	catch_signal(SIGUSR2, on_alt, SA_ONSTACK);
	for (int i = 0; i < 100; i++) {
		raise(SIGUSR1);
		work(i);
	}
	sigaltstack(NULL, &now);
	printf("handled %d strange %ld flags %d\n", (int)count, strange,
	    now.ss_flags);
	return 0;
}

static void
on_nested(int sig, siginfo_t *si, void *uc)
{
	depth++;
	if (depth > deepest)
		deepest = depth;
	count = work(count);
	if (sig < SIGRTMIN + 5)
		raise(sig + 1);
	if (!in_file_text(
		(uint64_t)((ucontext_t *)uc)->uc_mcontext.gregs[REG_RIP]))
		strange++;
	depth--;
}

static int
nested(void)
{
	for (int i = 0; i <= 5; i++)
		catch_signal(SIGRTMIN + i, on_nested, 0);
	for (int i = 0; i < 50; i++)
		raise(SIGRTMIN);
	printf("handled %d deepest %d strange %ld\n", (int)count, (int)deepest,
	    strange);
	say_mask("after");
	return 0;
}

static void
on_again(int sig, siginfo_t *si, void *uc)
{
	struct sigaction sa;

	depth++;
	if (depth > deepest)
		deepest = depth;
	sigaction(sig, NULL, &sa);
	count = work(count);
	if (count < 4 && sa.sa_handler != SIG_DFL)
		raise(sig);
	depth--;
}

static int
flags(void)
{
	struct sigaction sa;

	catch_signal(SIGUSR1, on_again, SA_NODEFER);
	raise(SIGUSR1);
	printf("nodefer: deepest %d handled %d\n", (int)deepest, (int)count);
	count = deepest = 0;
	catch_signal(SIGUSR2, on_again, SA_RESETHAND);
	raise(SIGUSR2);
	sigaction(SIGUSR2, NULL, &sa);
	printf("resethand: handled %d default %d flags %x\n", (int)count,
	    sa.sa_handler == SIG_DFL, (unsigned)sa.sa_flags);
	count = deepest = 0;
	sa = (struct sigaction){ .sa_sigaction = on_again,
		.sa_flags = SA_SIGINFO };
	sigfillset(&sa.sa_mask);
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	printf("all blocked: handled %d\n", (int)count);
	say_mask("after");
	return 0;
}

/* Every action as it was set is read again. */
static int
actions(void)
{
	int wrong = 0;

	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		struct sigaction sa = { .sa_sigaction = on_count }, now;
		if (sig == SIGKILL || sig == SIGSTOP ||
		    (sig >= 32 && sig < SIGRTMIN))
			continue;
		sa.sa_flags = SA_SIGINFO | (sig % 3 == 0 ? SA_RESTART : 0) |
		    (sig % 5 == 0 ? SA_ONSTACK : 0);
		sigemptyset(&sa.sa_mask);
		sigaddset(&sa.sa_mask, 1 + sig % 8);
		sigaction(sig, &sa, NULL);
		work(sig);
		if (sigaction(sig, NULL, &now) != 0 ||
		    now.sa_sigaction != on_count ||
		    (now.sa_flags & ~0x04000000) != sa.sa_flags ||
		    sigismember(&now.sa_mask, 1 + sig % 8) !=
			sigismember(&sa.sa_mask, 1 + sig % 8))
			wrong++;
	}
	printf("wrong %d\n", wrong);
	return 0;
}

static sigjmp_buf env;

static void
on_jump(int sig, siginfo_t *si, void *uc)
{
	work(sig);
	siglongjmp(env, 1);
}

static int
jumps(void)
{
	sigset_t set = set_of(SIGUSR2, 0);
	volatile int back = 0;

	sigprocmask(SIG_BLOCK, &set, NULL);
	catch_signal(SIGUSR1, on_jump, 0);
	for (volatile int i = 0; i < 200; i++) {
		if (sigsetjmp(env, 1) == 0) {
			raise(SIGUSR1);
			printf("came back\n");
		} else {
			back++;
		}
		work(i);
	}
	printf("jumped %d\n", back);
	say_mask("after");
	return 0;
}

static int
waiting(void)
{
	sigset_t set = set_of(SIGUSR1, SIGRTMIN);
	struct timespec soon = { 0, 2000000 }, late = { 60, 0 };
	siginfo_t si;
	int sig = 0;

	sigprocmask(SIG_BLOCK, &set, NULL);
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 50; i++) {
			union sigval v = { .sival_int = i };
			sigqueue(getppid(), SIGRTMIN, v);
			work(i);
		}
		_exit(0);
	}
	int sum = 0;
	for (int i = 0; i < 50; i++) {
		if (sigtimedwait(&set, &si, &late) == SIGRTMIN &&
		    si.si_pid == pid && si.si_value.sival_int == i)
			sum++;
		work(i);
	}
	printf("in order %d\n", sum);
	int got = sigtimedwait(&set, &si, &soon);
	printf("timeout: %d %s\n", got, strerror(errno));
	raise(SIGUSR1);
	work(1);
	int error = sigwait(&set, &sig);
	printf("sigwait: %d %d\n", error, sig == SIGUSR1);
	raise(SIGUSR1);
	got = sigwaitinfo(&set, &si);
	printf("sigwaitinfo: %d code %d\n", got == SIGUSR1, si.si_code);
	say_end("sender", pid);
	return 0;
}

static int
fds(void)
{
	sigset_t set = set_of(SIGRTMIN, SIGCHLD);
	struct signalfd_siginfo si;

	sigprocmask(SIG_BLOCK, &set, NULL);
	int fd = signalfd(-1, &set, SFD_CLOEXEC);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	printf("before: %d\n", poll(&p, 1, 0));
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 50; i++) {
			union sigval v = { .sival_int = i };
			sigqueue(getppid(), SIGRTMIN, v);
			work(i);
		}
		_exit(3);
	}
	int order = 0, child = 0;
	while (!child || order < 50) {
		poll(&p, 1, -1);
		if (read(fd, &si, sizeof(si)) != sizeof(si))
			break;
		if (si.ssi_signo == SIGCHLD)
			child = si.ssi_pid == (uint32_t)pid &&
				si.ssi_code == CLD_EXITED &&
				si.ssi_status == 3 ?
			    1 :
			    2;
		else if (si.ssi_int == order && si.ssi_pid == (uint32_t)pid)
			order++;
		work(order);
	}
	printf("in order %d child %d\n", order, child);
	say_end("sender", pid);
	return 0;
}

/* A mask, and what is ignored, pass through fork, threads and exec. */
static void *
say_thread_mask(void *arg)
{
	say_mask("thread");
	return NULL;
}

static int
inherited(void)
{
	sigset_t set = set_of(SIGUSR1, SIGTRAP);
	pthread_t t;

	signal(SIGUSR2, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	hot(20);
	pthread_create(&t, NULL, say_thread_mask, NULL);
	pthread_join(t, NULL);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		hot(20);
		say_mask("child");
		fflush(stdout);
		execlp("grep", "grep", "-E", "^Sig(Blk|Ign|Pnd)|^ShdPnd",
		    "/proc/self/status", NULL);
		_exit(9);
	}
	say_end("child", pid);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	hot(20);
	return 0;
}

/* Two threads send each other signals that are counted: none is lost. */
static pid_t tids[2];
static pthread_barrier_t barrier;
static volatile int received[2];

static void
on_storm(int sig, siginfo_t *si, void *uc)
{
	int me = gettid() == tids[1];

	received[me] = work(received[me]);
}

static void *
storm_thread(void *arg)
{
	int me = (int)(intptr_t)arg;

	tids[me] = gettid();
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 300; i++) {
		work(i);
		syscall(SYS_tgkill, getpid(), tids[!me], SIGRTMIN);
	}
	while (received[me] < 300)
		sched_yield();
	return NULL;
}

static int
storm(void)
{
	pthread_t t[2];

	catch_signal(SIGRTMIN, on_storm, SA_RESTART);
	pthread_barrier_init(&barrier, NULL, 2);
	for (intptr_t i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, storm_thread, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("received %d %d\n", received[0], received[1]);
	return 0;
}

/* How processes end by each signal. */
static int
deaths(void)
{
	for (int sig = 1; sig < 32; sig++) {
		char what[16];
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0) {
			signal(sig, SIG_DFL);
			hot(10);
			raise(sig);
			work(1);
			_exit(0);
		}
		snprintf(what, sizeof(what), "%d", sig);
		if (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN ||
		    sig == SIGTTOU) {
			int status = -1;
			waitpid(pid, &status, WUNTRACED);
			say_status(what, status);
			kill(pid, SIGCONT);
		}
		say_end(what, pid);
	}
	return 0;
}

/* It may interrupt the other. */
static volatile sig_atomic_t children;

static void
on_end(int sig, siginfo_t *si, void *uc)
{
	children = work(children);
}

static int
suspend(void)
{
	sigset_t set = set_of(SIGUSR1, SIGCHLD), none, old;

	catch_signal(SIGUSR1, on_count, 0);
	catch_signal(SIGCHLD, on_end, 0);
	sigprocmask(SIG_BLOCK, &set, &old);
	sigemptyset(&none);
	pid_t pid = fork();
	if (pid == 0) {
		hot(100);
		_exit(0);
	}
	for (int i = 0; i < 50; i++) {
		raise(SIGUSR1);
		if (sigsuspend(&none) != -1 || errno != EINTR)
			printf("sigsuspend: %s\n", strerror(errno));
	}
	while (children == 0)
		sigsuspend(&none);
	say_mask("after");
	printf("handled %d strange %ld\n", (int)count, strange);
	say_end("child", pid);
	return 0;
}

const struct behaviour behave_signals[] = {
	{ "blocked", blocked },
	{ "ignored", ignored },
	{ "realtime", realtime },
	{ "altstack", altstack },
	{ "nested", nested },
	{ "flags", flags },
	{ "actions", actions },
	{ "jumps", jumps },
	{ "sigwait", waiting },
	{ "signalfd", fds },
	{ "inherited", inherited },
	{ "storm", storm },
	{ "deaths", deaths },
	{ "sigsuspend", suspend },
	{ 0 },
};
