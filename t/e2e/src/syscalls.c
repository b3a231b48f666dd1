/*
 * syscalls MODE: system calls in known numbers.
 *
 *	calls		errors and successes, arguments that show, one call
 *			by int 0x80 and one of the x32 ABI; says "int80 R"
 *	threads N	eight threads make N calls of getppid() each
 *	signals N	a read() is interrupted N times and made again
 *	exec PROGRAM	a thread that is not the leader executes PROGRAM, with
 *			the argument "calls"
 *	blocked		says "ready PID" and waits in read(); ends when it got a
 *			byte
 *	loads N LIB	one thread is in read(), one in nanosleep(), one
 *			in poll(), while LIB comes and goes N times; then those
 *			in read() and poll() end
 *	busyloads N LIB	the same while a thread does nothing but getppid(); says
 *			"getppid N" as it counted them
 *	refused N	N calls of getppid() that its own seccomp filter
 *			refuses, then one of getuid(); says "refused N" as it
 *			counted them
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#include "trigger.h"

static int ends[2]; /* a pipe */
static pid_t main_tid, reader_tid, sleeper_tid;
static volatile sig_atomic_t handled, spinning;

static int wake[2]; /* another */
static pid_t poller_tid;

/* Is the thread in this system call?  It is asked of /proc, so that nothing
 * but the call itself is waited for. */
static void
await_call(pid_t tid, long nr)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)tid);
	for (;;) {
		int fd = open(path, O_RDONLY);
		ssize_t n = read(fd, text, sizeof(text) - 1);
		close(fd);
		text[n > 0 ? n : 0] = '\0';
		if (n > 0 && text[0] >= '0' && text[0] <= '9' &&
		    strtol(text, NULL, 10) == nr)
			return;
		sched_yield();
	}
}

static sigjmp_buf no_int80;

static void
leave_int80(int sig)
{
	siglongjmp(no_int80, 1);
}

/* A call of the 32-bit table: 20 is getpid there, and writev here.  A kernel
 * without 32-bit programs answers with SIGSEGV: then -1. */
static long
int80_getpid(void)
{
	struct sigaction leave = { .sa_handler = leave_int80 }, found;
	volatile long result = -1;
	long r;

	sigaction(SIGSEGV, &leave, &found);
	if (sigsetjmp(no_int80, 1) == 0) {
		__asm__ volatile("int $0x80" : "=a"(r) : "0"(20L) : "memory");
		result = r;
	}
	sigaction(SIGSEGV, &found, NULL);
	return result;
}

static void
calls(void)
{
	for (int i = 0; i < 10; i++)
		getppid();
	for (int i = 0; i < 3; i++)
		if (syscall(SYS_read, -1, NULL, 7L) == 0 || errno != EBADF)
			exit(4);
	syscall(SYS_mmap, 0, 1, 2, 3, -1, 0x12345678UL);
	if (open("/nonexistent", O_RDWR) >= 0)
		exit(4);
	long r = int80_getpid();
	syscall(0x40000000 | SYS_writev, -1, NULL, 0);
	printf("int80 %d\n", r == getpid() ? 1 : 0);
}

static void *
caller(void *arg)
{
	for (long i = (long)arg; i > 0; i--)
		getppid();
	return NULL;
}

static void
threads(long n)
{
	pthread_t thread[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, caller, (void *)n);
	for (int i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
}

static void
on_signal(int sig)
{
	handled++;
}

static void *
interrupter(void *arg)
{
	for (long i = 0; i < (long)arg; i++) {
		await_call(main_tid, SYS_read);
		syscall(SYS_tgkill, getpid(), main_tid, SIGUSR1);
		while (handled <= i)
			sched_yield();
	}
	if (write(ends[1], "x", 1) != 1)
		exit(4);
	return NULL;
}

static void
signals(long n)
{
	struct sigaction sa = { .sa_handler = on_signal,
		.sa_flags = SA_RESTART };
	pthread_t t;
	char c;

	sigaction(SIGUSR1, &sa, NULL);
	pthread_create(&t, NULL, interrupter, (void *)n);
	if (read(ends[0], &c, 1) != 1 || handled != n)
		exit(4);
	pthread_join(t, NULL);
}

static void *
executor(void *arg)
{
	char *argv[] = { arg, "calls", NULL };

	while (!spinning)
		;
	execv(arg, argv);
	exit(4);
}

static void *
reader(void *arg)
{
	char c;

	reader_tid = gettid();
	if (read(ends[0], &c, 1) != 1)
		exit(4);
	return NULL;
}

static void *
sleeper(void *arg)
{
	const struct timespec year = { 365 * 86400, 0 };

	sleeper_tid = gettid();
	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &year, NULL);
	return NULL;
}

/* A call that goes on as restart_syscall() when it was interrupted. */
static void *
poller(void *arg)
{
	struct pollfd fd = { .fd = wake[0], .events = POLLIN };

	poller_tid = gettid();
	if (syscall(SYS_poll, &fd, 1, 365 * 86400) != 1)
		exit(4);
	return NULL;
}

static void
come_and_go(long n, const char *lib)
{
	for (long i = 0; i < n; i++) {
		void *h = dlopen(lib, RTLD_NOW);
		if (h == NULL || dlclose(h) != 0)
			exit(4);
	}
}

static volatile int enough;

static void *
spinner(void *arg)
{
	long *calls = arg;

	for (; !enough; ++*calls)
		if (getppid() <= 0)
			exit(4);
	return NULL;
}

static void
busyloads(long n, const char *lib)
{
	long calls = 0;
	pthread_t t;

	pthread_create(&t, NULL, spinner, &calls);
	come_and_go(n, lib);
	enough = 1;
	pthread_join(t, NULL);
	printf("getppid %ld\n", calls);
}

static void
loads(long n, const char *lib)
{
	pthread_t r, s, p;

	if (pipe(wake) < 0)
		exit(4);
	pthread_create(&r, NULL, reader, NULL);
	pthread_create(&s, NULL, sleeper, NULL);
	pthread_create(&p, NULL, poller, NULL);
	while (*(volatile pid_t *)&reader_tid == 0 ||
	    *(volatile pid_t *)&sleeper_tid == 0 ||
	    *(volatile pid_t *)&poller_tid == 0)
		sched_yield();
	await_call(reader_tid, SYS_read);
	await_call(sleeper_tid, SYS_clock_nanosleep);
	await_call(poller_tid, SYS_poll);
	come_and_go(n, lib);
	if (write(ends[1], "x", 1) != 1 || write(wake[1], "x", 1) != 1)
		exit(4);
	pthread_join(r, NULL);
	pthread_join(p, NULL);
}

static void
refused(long n)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(*code), code };
	long count = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) != 0)
		exit(77);
	for (long i = 0; i < n; i++)
		count += syscall(SYS_getppid) == -1 && errno == EPERM;
	getuid();
	printf("refused %ld\n", count);
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	pthread_t t;
	char c;

	trigger_init();
	main_tid = gettid();
	if (pipe(ends) < 0)
		return 4;
	if (strcmp(mode, "calls") == 0) {
		calls();
	} else if (strcmp(mode, "threads") == 0) {
		threads(n);
	} else if (strcmp(mode, "signals") == 0) {
		signals(n);
	} else if (strcmp(mode, "exec") == 0 && argc > 2) {
		/* The leader is in no system call then. */
		pthread_create(&t, NULL, executor, argv[2]);
		spinning = 1;
		for (;;)
			;
	} else if (strcmp(mode, "blocked") == 0) {
		printf("ready %d\n", (int)getpid());
		if (read(0, &c, 1) != 1)
			return 4;
	} else if (strcmp(mode, "busyloads") == 0 && argc > 3) {
		busyloads(n, argv[3]);
	} else if (strcmp(mode, "loads") == 0 && argc > 3) {
		loads(n, argv[3]);
	} else if (strcmp(mode, "refused") == 0) {
		refused(n);
	} else {
		return 2;
	}
	return 0;
}
