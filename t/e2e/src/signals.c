/*
 * Signals of many kinds, with a transcript that is the same in every run:
 * siginfo, masks, handlers on another stack, timers, restarted and
 * interrupted system calls, stops and continues of a child, real-time
 * signals with values, and a fault whose address is checked.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "trigger.h"

static volatile sig_atomic_t hits, alarms;
static siginfo_t seen;
static sigjmp_buf env;

NOINLINE int
work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

static void
on_info(int sig, siginfo_t *info, void *uc)
{
	seen = *info;
	hits = work(hits);
}

static void
on_alarm(int sig)
{
	alarms = work(alarms);
}

static void
on_fault(int sig, siginfo_t *info, void *uc)
{
	seen = *info;
	siglongjmp(env, work(0));
}

static void
handle(int sig, void (*fn)(int, siginfo_t *, void *), int flags)
{
	struct sigaction sa = { .sa_sigaction = fn,
		.sa_flags = SA_SIGINFO | flags };

	sigaction(sig, &sa, NULL);
}

static void
info(void)
{
	union sigval v = { .sival_int = 4711 };

	handle(SIGUSR1, on_info, 0);
	handle(SIGRTMIN + 3, on_info, 0);
	kill(getpid(), SIGUSR1);
	printf("kill: signo %d code %d pid %d uid %d\n", seen.si_signo,
	    seen.si_code, seen.si_pid == getpid(), seen.si_uid == getuid());
	sigqueue(getpid(), SIGRTMIN + 3, v);
	printf("sigqueue: signo %d code %d value %d\n",
	    seen.si_signo - SIGRTMIN, seen.si_code, seen.si_value.sival_int);
	raise(SIGUSR1);
	printf("raise: signo %d code %d hits %d\n", seen.si_signo, seen.si_code,
	    (int)hits);
}

static void
masks(void)
{
	sigset_t set, old, pending;

	hits = 0;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &old);
	for (int i = 0; i < 5; i++)
		kill(getpid(), SIGUSR1);
	sigpending(&pending);
	printf("blocked: hits %d pending %d\n", (int)hits,
	    sigismember(&pending, SIGUSR1));
	sigprocmask(SIG_SETMASK, &old, NULL);
	printf("unblocked: hits %d\n", (int)hits);
}

/* A read that a handler interrupts: begun again, or EINTR. */
static void
restart(int flags, const char *name)
{
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = flags };
	struct itimerval soon = { .it_value = { 0, 2000 },
		.it_interval = { 0, 2000 } };
	struct itimerval never = { 0 };
	int fd[2];
	char c = 0;
	ssize_t n;
	pid_t pid;

	alarms = 0;
	if (pipe(fd) != 0)
		return;
	sigaction(SIGALRM, &sa, NULL);
	pid = fork();
	if (pid == 0) {
		/* Writes once the parent's timer has certainly fired. */
		setitimer(ITIMER_REAL, &soon, NULL);
		while (alarms < 20)
			pause();
		_exit(write(fd[1], "x", 1) == 1 ? 0 : 1);
	}
	setitimer(ITIMER_REAL, &soon, NULL);
	n = read(fd[0], &c, 1);
	if (n < 0 && errno == EINTR)
		printf("%s: EINTR\n", name);
	else
		printf("%s: read %zd alarms %d\n", name, n, alarms > 0);
	setitimer(ITIMER_REAL, &never, NULL);
	waitpid(pid, NULL, 0);
	close(fd[0]);
	close(fd[1]);
}

/* A sleep is not begun again after a handler, even with SA_RESTART. */
static void
sleeps(void)
{
	struct sigaction sa = { .sa_handler = on_alarm,
		.sa_flags = SA_RESTART };
	struct itimerval often = { .it_value = { 0, 2000 },
		.it_interval = { 0, 2000 } };
	struct itimerval never = { 0 };
	struct timespec t = { 100, 0 }, rest = { 0, 0 };
	int r;

	alarms = 0;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	r = nanosleep(&t, &rest);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("nanosleep: %d %s alarms %d rest %d\n", r, r < 0 ? "EINTR" : "-",
	    alarms > 0, rest.tv_sec >= 90);
}

static void
stack(void)
{
	static char mem[1 << 16];
	stack_t ss = { .ss_sp = mem, .ss_size = sizeof(mem) }, now;

	sigaltstack(&ss, NULL);
	handle(SIGUSR2, on_info, SA_ONSTACK);
	hits = 0;
	raise(SIGUSR2);
	sigaltstack(NULL, &now);
	printf("altstack: hits %d onstack %d\n", (int)hits,
	    (now.ss_flags & SS_ONSTACK) != 0);
}

static void
faults(void)
{
	char *page =
	    mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	handle(SIGSEGV, on_fault, 0);
	handle(SIGFPE, on_fault, 0);
	if (sigsetjmp(env, 1) == 0)
		*(volatile char *)(page + 17) = 1;
	printf("segv: code %d at %ld\n", seen.si_code,
	    (long)((char *)seen.si_addr - page));
	if (sigsetjmp(env, 1) == 0) {
		volatile int seven = 7, zero = 0;

		work(seven / zero);
	}
	printf("fpe: code %d\n", seen.si_code);
}

/* A child stops itself, is continued, and ends by a signal. */
static void
job(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGTERM, SIG_DFL);
		raise(SIGSTOP);
		work(1);
		raise(SIGTSTP);
		raise(SIGTERM);
		_exit(1);
	}
	waitpid(pid, &status, WUNTRACED);
	printf(
	    "child: stopped %d by %d\n", WIFSTOPPED(status), WSTOPSIG(status));
	kill(pid, SIGCONT);
	waitpid(pid, &status, WUNTRACED);
	printf("child: stopped %d by %d\n", WIFSTOPPED(status),
	    WIFSTOPPED(status) ? WSTOPSIG(status) : -1);
	kill(pid, SIGCONT);
	waitpid(pid, &status, 0);
	printf(
	    "child: signal %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : -1);
}

static void *
waits(void *arg)
{
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigwait(&set, &sig);
	return (void *)(long)sig;
}

static void
threads(void)
{
	pthread_t thread;
	sigset_t set;
	void *sig;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&thread, NULL, waits, NULL);
	pthread_kill(thread, SIGHUP);
	pthread_join(thread, &sig);
	printf("sigwait: %ld\n", (long)sig);
}

int
main(void)
{
	trigger_init();
	setvbuf(stdout, NULL, _IONBF, 0);
	for (int i = 0; i < 10; i++)
		work(i);
	info();
	masks();
	restart(SA_RESTART, "restarted");
	restart(0, "interrupted");
	sleeps();
	stack();
	faults();
	job();
	threads();
	printf("end\n");
	return 5;
}
