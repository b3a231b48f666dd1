/*
 * A child that treats nothing specially is sent each signal, in each way, as
 * soon as it is there, or has executed a program: how does it end?
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "sigtable.h"

enum { AT_ONCE, FORKED, EXECED, MOMENTS };
static const char *const moments[] = { "at once", "forked", "executed" };

enum { BY_KILL, BY_QUEUE, BY_TGKILL, BY_ITSELF, WAYS };
static const char *const ways[] = { "kill", "sigqueue", "tgkill", "itself" };

/* "r": it raises the signal that follows.  At the end of input it exits. */
static int
obey(void)
{
	unsigned char c;

	while (read(STDIN_FILENO, &c, 1) == 1)
		if (c != 0)
			syscall(SYS_tgkill, getpid(), gettid(), c);
	return 5;
}

int
victim(void)
{
	unsigned char c = 1;

	write_all(STDOUT_FILENO, &c, 1);
	return obey();
}

static void
be_child(int moment, const int *to, const int *from)
{
	unsigned char c = 1;

	dup2(to[0], STDIN_FILENO);
	dup2(from[1], STDOUT_FILENO);
	close(to[1]);
	if (moment == FORKED)
		write_all(STDOUT_FILENO, &c, 1);
	if (moment != EXECED)
		_exit(obey());
	execl(self_path, self_path, "victim", NULL);
	_exit(3);
}

static void
send_by(int way, int sig, int to)
{
	union sigval v = { .sival_int = sig };
	unsigned char c = (unsigned char)sig;

	switch (way) {
	case BY_KILL: kill(child, sig); break;
	case BY_QUEUE: sigqueue(child, sig, v); break;
	case BY_TGKILL: syscall(SYS_tgkill, child, child, sig); break;
	default: write_all(to, &c, 1);
	}
}

static void
one(int moment, int way, int sig)
{
	int to[2], from[2], status;
	char c;

	if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
		die("pipe");
	child = fork();
	if (child == 0)
		be_child(moment, to, from);
	if (moment != AT_ONCE)
		read_all(from[0], &c, 1);
	send_by(way, sig, to[1]);
	close(to[1]);
	waitpid(child, &status, WUNTRACED);
	if (WIFSTOPPED(status)) {
		say("%s %s %d: stopped by %d\n", moments[moment], ways[way],
		    sig, WSTOPSIG(status));
		kill(child, SIGCONT);
		waitpid(child, &status, 0);
	}
	if (WIFSIGNALED(status))
		say("%s %s %d: killed by %d\n", moments[moment], ways[way], sig,
		    WTERMSIG(status));
	else
		say("%s %s %d: exited %d\n", moments[moment], ways[way], sig,
		    WEXITSTATUS(status));
	close(to[0]);
	close(from[0]);
	close(from[1]);
}

int
deaths(void)
{
	const struct rlimit no_core = { 0 };

	setrlimit(RLIMIT_CORE, &no_core);
	for (int moment = 0; moment < MOMENTS; moment++)
		for (int way = 0; way < WAYS; way++)
			for (int sig = 1; sig <= LAST_SIGNAL; sig++)
				one(moment, way, sig);
	return 0;
}
