/*
 * stalls THREADS [signals]: how long does a client wait for its server?  The server, a
 * process of so many threads and 10,000 functions that it does not call, is to be
 * traced; the client, another process, asks each of its threads in turn, without
 * end.  With `signals' the server gets one each millisecond.
 *
 * Says "ready PID" of the server, and for each line of input "longest US": the
 * longest that an answer has taken since the line before.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "trigger.h"

#define THREADS_MAX 480

static int asks[THREADS_MAX], answers[THREADS_MAX];
static long threads;
static _Atomic uint64_t longest;
static atomic_bool all_asked, over;

/* As compilers begin functions, and as long as they are. */
asm(".pushsection .text\n"
    ".altmacro\n"
    ".macro site n\n"
    "	.p2align 7, 0x90\n"
    "	.type site_\\n, @function\n"
    "site_\\n:\n"
    "	.if (\\n % 4) == 0\n"
    "	push %rbx\n"
    "	mov %rdi, %rbx\n"
    "	lea 1(%rbx), %rax\n"
    "	pop %rbx\n"
    "	.elseif (\\n % 4) == 1\n"
    "	mov %rdi, %rax\n"
    "	.elseif (\\n % 4) == 2\n"
    "	endbr64\n"
    "	lea 1(%rdi), %rax\n"
    "	.else\n"
    "	test %rdi, %rdi\n"
    "	sete %al\n"
    "	.endif\n"
    "	.rept 40\n"
    "	add %rdi, %rax\n"
    "	.endr\n"
    "	ret\n"
    "	.size site_\\n, . - site_\\n\n"
    ".endm\n"
    ".set number, 0\n"
    ".rept 10000\n"
    "	site %number\n"
    "	.set number, number + 1\n"
    ".endr\n"
    ".noaltmacro\n"
    ".popsection\n");

static uint64_t
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void *
serve(void *arg)
{
	int fd = answers[(intptr_t)arg];
	char c;

	while (read(fd, &c, 1) == 1 && write(fd, &c, 1) == 1)
		;
	_exit(0);
}

static void *
ask(void *arg)
{
	char c = 0;

	for (long t = 0;; t = (t + 1) % threads, all_asked |= t == 0) {
		uint64_t from = now();
		if (write(asks[t], &c, 1) != 1 || read(asks[t], &c, 1) != 1) {
			if (over)
				return NULL;
			fprintf(stderr, "the server is gone\n");
			_exit(4);
		}
		uint64_t took = now() - from;
		if (took > longest)
			longest = took;
	}
	return NULL;
}

static void
on_signal(int sig)
{
}

static void
send_signals(void)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction sa = { .sa_handler = on_signal,
		.sa_flags = SA_RESTART };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

static int
server(bool signals)
{
	pthread_attr_t attr;
	pthread_t thread;

	trigger_init();
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	if (signals)
		send_signals();
	for (intptr_t t = 1; t < threads; t++)
		if (pthread_create(&thread, &attr, serve, (void *)t) != 0)
			return 2;
	serve(NULL);
	return 0;
}

int
main(int argc, char **argv)
{
	pthread_t thread;
	char line[80];

	threads = argc > 1 ? atol(argv[1]) : 8;
	if (threads < 1 || threads > THREADS_MAX)
		return 2;
	for (long t = 0; t < threads; t++) {
		int pair[2];
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
			return 2;
		asks[t] = pair[0];
		answers[t] = pair[1];
	}
	pid_t pid = fork();
	if (pid == 0)
		return server(argc > 2 && strcmp(argv[2], "signals") == 0);
	for (long t = 0; t < threads; t++)
		close(answers[t]);
	trigger_init();
	if (pthread_create(&thread, NULL, ask, NULL) != 0)
		return 2;
	while (!all_asked)
		sched_yield();
	printf("ready %d\n", (int)pid);
	while (fgets(line, sizeof(line), stdin) != NULL)
		printf("longest %lu\n",
		    (unsigned long)(atomic_exchange(&longest, 0) / 1000));
	/* It has our files, and whoever waits for our end may want them. */
	over = true;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}
