/*
 * hotcool: a thread calls hot() and getppid() without end, as does every child
 * that is forked; cool() is called when it is asked for.  Says "ready PID
 * ADDRESS", of hot().  Commands:
 *
 *	cool N	call cool() N times: "cool"
 *	spin N	wait until hot() has been called N times more: "spun"
 *	fork	a child calls both: "child STATUS"
 *
 * hotcool forks N: N children at a time; then a call of hot(), until nobody
 * traces it any more; then cool() in each: how many came back.  `sleepers': each
 * sleeps as after vfork(), until a child of its own with memory of its own has
 * called cool().
 *
 * hotcool N M: "begun", hot() N times and cool() M times, "ended", and the end.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "trigger.h"

static atomic_long calls;

NOINLINE long
hot(long n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

NOINLINE long
cool(long n)
{
	__asm__ volatile("" ::: "memory");
	return n + 2;
}

static void *
run(void *arg)
{
	for (long n = 0;; calls++) {
		n = hot(n);
		if (n % 8 == 0)
			syscall(SYS_getppid);
	}
	return NULL;
}

static void
child(void)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		long n = 0;
		for (int i = 0; i < 1000; i++)
			n = cool(hot(n));
		_exit(n == 3000 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	printf("child %d\n", status);
}

static int
traced(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	int pid = 0;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		sscanf(line, "TracerPid: %d", &pid);
	if (f != NULL)
		fclose(f);
	return pid != 0;
}

/* Does cool() work?  In a child as well, for which we sleep so that no signal
 * wakes us, if `sleeps'. */
static int
cool_when(int go, int sleeps)
{
	int status = 0;
	pid_t pid;
	char c;

	if (sleeps &&
	    (pid = (pid_t)syscall(
		 SYS_clone, CLONE_VFORK | SIGCHLD, 0L, 0L, 0L, 0L)) != 0)
		return pid > 0 && waitpid(pid, &status, 0) == pid &&
		    status == 0 && cool(1) == 3;
	return read(go, &c, 1) == 0 && cool(1) == 3;
}

static void
many(long n, int sleep)
{
	int go[2], status;
	long good = 0;

	if (pipe(go) != 0)
		exit(2);
	for (long i = 0; i < n; i++)
		if (fork() == 0) {
			close(go[1]);
			_exit(cool_when(go[0], sleep) ? 0 : 1);
		}
	hot(n);
	while (traced())
		usleep(1000);
	close(go[1]);
	while (wait(&status) > 0)
		good += status == 0;
	printf("%ld came back\n", good);
}

int
main(int argc, char **argv)
{
	pthread_t thread;
	char line[80];
	long n = 0;

	trigger_init();
	if (argc > 2 &&
	    (strcmp(argv[1], "forks") == 0 ||
		strcmp(argv[1], "sleepers") == 0)) {
		many(atol(argv[2]), argv[1][0] == 's');
		return 0;
	}
	if (argc > 2) {
		puts("begun");
		for (long i = 0; i < atol(argv[1]); i++)
			n = hot(n);
		for (long i = 0; i < atol(argv[2]); i++)
			n = cool(n);
		puts("ended");
		return n == atol(argv[1]) + 2 * atol(argv[2]) ? 0 : 1;
	}
	printf("ready %d %p\n", (int)getpid(), (void *)hot);
	if (pthread_create(&thread, NULL, run, NULL) != 0)
		return 2;
	while (fgets(line, sizeof(line), stdin) != NULL) {
		long from = calls, more = atol(line + 4);
		if (strncmp(line, "cool", 4) == 0) {
			for (n = 0; n < 2 * more;)
				n = cool(n);
			puts("cool");
		} else if (strncmp(line, "spin", 4) == 0) {
			while (calls - from < more)
				usleep(1000);
			puts("spun");
		} else {
			child();
		}
	}
	return 0;
}
