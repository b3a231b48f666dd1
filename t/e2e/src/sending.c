/*
 * Signals between two processes, in every way that they are sent and taken,
 * with the lines that a script over the proc provider should write of them
 * (73-signals.sh).  With an argument: wait for
 * a SIGUSR1 from anybody.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "trigger.h"

static volatile sig_atomic_t got;
static char *volatile hole; /* an address where nothing is */

static void
on_signal(int sig)
{
	got = sig;
}

static void
on_fault(int sig, siginfo_t *si, void *uc)
{
	mprotect(hole, 4096, PROT_READ | PROT_WRITE);
}

static void catch (int sig)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(sig, &sa, NULL);
}

static void
send_line(pid_t from, pid_t to, int sig)
{
	printf("send %d by %d to %d\n", sig, from, to);
	fflush(stdout);
}

static void
handle_line(pid_t by, int sig, pid_t from)
{
	printf("handle %d by %d from %d\n", sig, by, from);
	fflush(stdout);
}

/* A child that sends by `how', once; the parent waits for its end, with
 * SIGCHLD (default: ignored) told as well. */
static void
sent_by_child(int how, int sig)
{
	pid_t me = getpid(), pid = fork();

	if (pid == 0) {
		union sigval v = { .sival_int = 7 };
		switch (how) {
		case SYS_kill: kill(me, sig); break;
		case SYS_tgkill: syscall(SYS_tgkill, me, me, sig); break;
		case SYS_tkill: syscall(SYS_tkill, me, sig); break;
		default: sigqueue(me, sig, v);
		}
		_exit(0);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	send_line(pid, me, sig);
	handle_line(me, sig, pid);
	printf("discard 17 by %d\n", me);
	send_line(me, me, SIGCHLD);
}

static void
taken(void)
{
	pid_t me = getpid();
	sigset_t set;
	struct signalfd_siginfo si[2];

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigaddset(&set, SIGRTMIN + 1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(me, SIGRTMIN);
	sigwaitinfo(&set, NULL);
	send_line(me, me, SIGRTMIN);
	printf("clear %d by %d\n", SIGRTMIN, me);

	int fd = signalfd(-1, &set, 0);
	kill(me, SIGRTMIN);
	kill(me, SIGRTMIN + 1);
	if (read(fd, si, sizeof(si)) != sizeof(si))
		exit(1);
	close(fd);
	for (int i = 0; i < 2; i++) {
		send_line(me, me, SIGRTMIN + i);
		printf("clear %d by %d\n", SIGRTMIN + i, me);
	}
}

static void
failed(void)
{
	if (kill(getpid(), 0) != 0 || kill(0x3fffffff, SIGUSR1) == 0)
		exit(1); /* nothing was sent by either */
}

static void
ignored(void)
{
	signal(SIGUSR2, SIG_IGN);
	kill(getpid(), SIGUSR2);
	send_line(getpid(), getpid(), SIGUSR2);
	printf("discard %d by %d\n", SIGUSR2, getpid());
	fflush(stdout);
}

static void
fault(void)
{
	struct sigaction sa = { .sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &sa, NULL);
	hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*(volatile char *)(hole + 8) = 1;
	printf("fault %d at %p\n", SIGSEGV, (void *)(hole + 8));
	send_line(getpid(), getpid(), SIGSEGV);
	printf("handle %d by %d code %d\n", SIGSEGV, getpid(), SEGV_ACCERR);
	fflush(stdout);
}

/* It sends to its group, which is its own, and to itself what ends it. */
static void
suicide(void)
{
	pid_t me = getpid(), pid = fork();

	if (pid == 0) {
		signal(SIGUSR2, SIG_IGN);
		setpgid(0, 0);
		kill(0, SIGUSR2);
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, NULL, 0);
	send_line(pid, pid, SIGUSR2);
	printf("discard %d by %d\n", SIGUSR2, pid);
	send_line(pid, pid, SIGKILL);
	printf("discard 17 by %d\n", me);
	send_line(me, me, SIGCHLD);
}

int
main(int argc, char **argv)
{
	trigger_init();
	catch (SIGUSR1);
	if (argc > 1) {
		sigset_t set, old;
		/* It comes when nothing else is waited for. */
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigprocmask(SIG_BLOCK, &set, &old);
		trigger_wait();
		sigsuspend(&old);
		return got == SIGUSR1 ? 0 : 1;
	}
	sent_by_child(SYS_kill, SIGUSR1);
	sent_by_child(SYS_tgkill, SIGUSR1);
	sent_by_child(SYS_tkill, SIGUSR1);
	sent_by_child(SYS_rt_sigqueueinfo, SIGUSR1);
	ignored();
	failed();
	taken();
	fault();
	suicide();
	return 0;
}
