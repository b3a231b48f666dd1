/* Parents and children: how they are made, stopped, awaited, and end. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "behave.h"

extern char **environ;

static volatile int count, code, status_seen;

static void
on_child(int sig, siginfo_t *si, void *uc)
{
	count = work(count);
	code = si->si_code;
	status_seen = si->si_status;
}

/* Every kind of report of a child that is stopped, continued and ended. */
static int
waits(void)
{
	siginfo_t si = { 0 };
	int p[2], status;
	char c = 'x';

	if (pipe(p) != 0)
		return 1;
	catch_signal(SIGCHLD, on_child, SA_RESTART);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 3; i++) {
			hot(20);
			raise(SIGSTOP);
			if (read(p[0], &c, 1) != 1)
				_exit(1);
		}
		hot(20);
		_exit(7);
	}
	for (int i = 0; i < 3; i++) {
		waitpid(pid, &status, WUNTRACED);
		say_status("child", status);
		/* Two that are not handled are one. */
		while (code != CLD_STOPPED)
			work(1);
		printf("report %d %d\n", code, status_seen);
		if (waitid(P_PID, (id_t)pid, &si,
			WSTOPPED | WNOHANG | WNOWAIT) == 0)
			printf("again %d\n", si.si_pid == pid);
		kill(pid, SIGCONT);
		while (code != CLD_CONTINUED)
			work(1);
		waitid(P_PID, (id_t)pid, &si, WCONTINUED);
		printf("waitid: %d %d %d\n", si.si_pid == pid, si.si_code,
		    si.si_status);
		hot(20);
		if (write(p[1], &c, 1) != 1)
			return 1;
	}
	waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT);
	printf(
	    "waitid: %d %d %d\n", si.si_pid == pid, si.si_code, si.si_status);
	say_end("child", pid);
	printf("no more %d\n", waitpid(-1, &status, WNOHANG) < 0);
	return 0;
}

static int
unwaited(void)
{
	struct sigaction sa = { .sa_sigaction = on_child,
		.sa_flags = SA_SIGINFO | SA_NOCLDWAIT | SA_NOCLDSTOP };
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &old);
	sigaction(SIGCHLD, &sa, NULL);
	for (int i = 0; i < 5; i++) {
		pid_t pid = fork();
		if (pid == 0)
			_exit((int)hot(10) & 63);
		while (count <= i)
			sigsuspend(&old);
		printf("%d %d\n", code, status_seen);
	}
	printf("none %d\n", waitpid(-1, NULL, 0) < 0 && errno == ECHILD);
	return 0;
}

static int
forks(void)
{
	for (int i = 0; i < 10; i++) {
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0) {
			pid = fork();
			if (pid == 0)
				_exit(hot(20) == 210 ? i : 99);
			int status = 0;
			waitpid(pid, &status, 0);
			_exit(WEXITSTATUS(status) + work(1));
		}
		work(i);
		say_end("child", pid);
	}
	return 0;
}

static int
vforks(void)
{
	for (volatile int i = 0; i < 10; i++) {
		fflush(stdout);
		pid_t pid = vfork();
		if (pid == 0) {
			if (i % 2 == 0)
				_exit(work(i));
			work(i);
			execl("/bin/sh", "sh", "-c", "exit 40", NULL);
			_exit(99);
		}
		work(i);
		say_end("child", pid);
	}
	return 0;
}

static volatile long shared_sum;

static int
shared_child(void *arg)
{
	for (int i = 0; i < 100; i++)
		shared_sum += work(i);
	return (int)(intptr_t)arg;
}

static int
shares_memory(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	for (int i = 0; i < 5; i++) {
		pid_t pid = clone(shared_child, stack + sizeof(stack),
		    CLONE_VM | CLONE_FILES | SIGCHLD, (void *)(intptr_t)i);
		hot(100);
		say_end("child", pid);
	}
	printf("sum %ld\n", shared_sum);
	return 0;
}

static int
spawns(void)
{
	char *words[] = { "sh", "-c", "exit 3", NULL };
	posix_spawnattr_t attr;
	sigset_t set;
	pid_t pid;

	posix_spawnattr_init(&attr);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	posix_spawnattr_setsigmask(&attr, &set);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	for (int i = 0; i < 10; i++) {
		int r =
		    posix_spawn(&pid, "/bin/sh", NULL, &attr, words, environ);
		work(i);
		if (r != 0)
			printf("posix_spawn: %s\n", strerror(r));
		else
			say_end("child", pid);
	}
	printf("missing: %d\n",
	    posix_spawn(&pid, "/nowhere", NULL, NULL, words, environ));
	return 0;
}

static void *
fork_in_thread(void *arg)
{
	for (int i = 0; i < 5; i++) {
		pid_t pid = fork();
		int status = 0;
		if (pid == 0)
			_exit(work(i));
		waitpid(pid, &status, 0);
		if (WEXITSTATUS(status) == i + 1)
			__sync_fetch_and_add(&count, 1);
	}
	return NULL;
}

static int
thread_forks(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, fork_in_thread, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("children %d\n", count);
	return 0;
}

static void *
exec_in_thread(void *arg)
{
	hot(50);
	execl(behave_self, "behave", "exec-ed", NULL);
	_exit(9);
}

static void *
run_for_ever(void *arg)
{
	for (;;)
		work(1);
	return NULL;
}

static int
exec_ed(void)
{
	printf(
	    "new program, leader %d, sum %ld\n", getpid() == gettid(), hot(50));
	return 6;
}

static int
thread_exec(void)
{
	pthread_t t;

	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 3; i++)
			pthread_create(&t, NULL, run_for_ever, NULL);
		pthread_create(&t, NULL, exec_in_thread, NULL);
		for (;;)
			pause();
	}
	say_end("child", pid);
	return 0;
}

static void *
after_leader(void *arg)
{
	char path[64];
	char state = 'S';

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)getpid());
	while (state != 'Z') {
		char text[256];
		int fd = open(path, O_RDONLY);
		ssize_t n = read(fd, text, sizeof(text) - 1);
		close(fd);
		text[n > 0 ? n : 0] = '\0';
		const char *at = strrchr(text, ')');
		state = at != NULL ? at[2] : 'Z';
	}
	printf("leader gone, sum %ld\n", hot(100));
	exit(8);
}

static int
leaderless(void)
{
	pthread_t t;

	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		pthread_create(&t, NULL, after_leader, NULL);
		pthread_exit((void *)hot(10));
	}
	say_end("child", pid);
	return 0;
}

static volatile int *shared;

static int
parent_death(void)
{
	int p[2], q[2];
	char c = 'x';

	if (pipe(p) != 0 || pipe(q) != 0)
		return 1;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		if (fork() == 0) {
			catch_signal(SIGUSR1, on_child, 0);
			prctl(PR_SET_PDEATHSIG, SIGUSR1);
			if (write(q[1], &c, 1) != 1)
				_exit(1);
			close(p[1]);
			while (count == 0 && read(p[0], &c, 1) != 1)
				work(1);
			while (count == 0)
				work(1);
			dprintf(q[1], "told by its end %d\n", count);
			_exit(0);
		}
		if (read(q[0], &c, 1) != 1)
			_exit(1);
		hot(20);
		_exit(4);
	}
	close(q[1]);
	say_end("parent", pid);
	char text[80];
	ssize_t n, len = 0;
	while ((n = read(q[0], text + len, sizeof(text) - 1 - len)) > 0)
		len += n;
	text[len] = '\0';
	printf("%s", text);
	return 0;
}

/* Orphans come to the nearest who has asked for them. */
static int
orphans(void)
{
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		int status, ends = 0;
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		for (int i = 0; i < 3; i++)
			if (fork() == 0) {
				if (fork() == 0)
					_exit(20 + work(0));
				_exit(10);
			}
		while (wait(&status) > 0)
			ends += WEXITSTATUS(status);
		_exit(ends);
	}
	say_end("reaper", pid);
	return 0;
}

/* A group that is stopped and goes on, by its leader's leave. */
static int
job_control(void)
{
	int status;

	fflush(stdout);
	pid_t leader = fork();
	if (leader == 0) {
		setpgid(0, 0);
		if (fork() == 0) {
			raise(SIGTSTP);
			hot(50);
			_exit(2);
		}
		raise(SIGTSTP);
		hot(50);
		wait(&status);
		_exit(WEXITSTATUS(status));
	}
	setpgid(leader, leader);
	waitpid(leader, &status, WUNTRACED);
	say_status("leader", status);
	/* The other may stop now or later: told to go on until it has. */
	do {
		kill(-leader, SIGCONT);
		work(1);
	} while (waitpid(leader, &status, WNOHANG) == 0);
	say_status("leader", status);
	return 0;
}

static int
daemons(void)
{
	int p[2], status;
	char text[80];

	if (pipe(p) != 0)
		return 1;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		setsid();
		if (fork() != 0)
			_exit(0);
		status = hot(50) == 1275;
		dprintf(p[1], "daemon session %d sum %d\n",
		    getsid(0) != getpid(), status);
		_exit(0);
	}
	close(p[1]);
	say_end("first", pid);
	ssize_t n, len = 0;
	while ((n = read(p[0], text + len, sizeof(text) - 1 - len)) > 0)
		len += n;
	text[len] = '\0';
	printf("%s", text);
	return 0;
}

/* One that is continued and stopped while others watch: stops of all threads. */
static int
stops(void)
{
	pthread_t t;
	int status;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		pthread_create(&t, NULL, run_for_ever, NULL);
		for (;;)
			*shared = work(*shared) & 0xffffff;
	}
	for (int i = 0; i < 10; i++) {
		kill(pid, SIGSTOP);
		waitpid(pid, &status, WUNTRACED);
		int a = *shared;
		hot(50);
		if (!WIFSTOPPED(status) || *shared != a)
			printf("moves while it is stopped\n");
		kill(pid, SIGCONT);
		waitpid(pid, &status, WCONTINUED);
		a = *shared;
		while (*shared == a)
			work(1);
	}
	kill(pid, SIGTERM);
	say_end("child", pid);
	return 0;
}

const struct behaviour behave_family[] = {
	{ "waits", waits },
	{ "unwaited", unwaited },
	{ "forks", forks },
	{ "vforks", vforks },
	{ "shares-memory", shares_memory },
	{ "spawns", spawns },
	{ "thread-forks", thread_forks },
	{ "exec-ed", exec_ed },
	{ "thread-exec", thread_exec },
	{ "leaderless", leaderless },
	{ "parent-death", parent_death },
	{ "orphans", orphans },
	{ "job-control", job_control },
	{ "daemons", daemons },
	{ "stops", stops },
	{ 0 },
};
