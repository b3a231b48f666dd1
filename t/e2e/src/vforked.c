/*
 * vforked [alt]: for each line read, a vfork child that says "child PID" and
 * lives in its parent's memory until it has read a line itself; then the parent
 * says "parent STATUS".  SIGUSR1 has a handler, on an alternate stack if asked
 * for, that says "handler" and returns when it has read a line.
 *
 * vforked late LIBRARY: a thread has such a child, and once that lives another
 * loads the library and says "loaded"; its function is called by the child.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "trigger.h"

static void
read_line(void)
{
	char c;

	while (read(0, &c, 1) == 1 && c != '\n')
		;
}

static void
on_signal(int sig)
{
	if (write(1, "handler\n", 8) == 8)
		read_line();
}

static int born[2];
static long (*volatile fn)(long);

static void *
has_child(void *arg)
{
	int status = -1;
	pid_t child = vfork();

	if (child == 0) {
		if (write(born[1], "", 1) != 1)
			_exit(1);
		read_line();
		_exit(fn(100) > 0 ? 7 : 8);
	}
	waitpid(child, &status, 0);
	printf("parent %#x\n", status);
	return arg;
}

static int
late(const char *library)
{
	pthread_t th;
	char c;

	printf("ready %d\n", (int)getpid());
	read_line();
	if (pipe(born) != 0 ||
	    pthread_create(&th, NULL, has_child, NULL) != 0 ||
	    read(born[0], &c, 1) != 1)
		return 2;
	void *lib = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	fn = lib != NULL ? (long (*)(long))dlsym(lib, "from_ctor") : NULL;
	if (fn == NULL)
		return 3;
	printf("loaded\n");
	pthread_join(th, NULL);
	return 0;
}

int
main(int argc, char **argv)
{
	static char stack[65536];
	const stack_t alt = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction sa = { .sa_handler = on_signal,
		.sa_flags = argc > 1 ? SA_ONSTACK : 0 };
	char c, text[32];
	int status = -1;

	trigger_init();
	if (argc > 2)
		return late(argv[2]);
	sigaltstack(&alt, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	printf("ready %d\n", (int)getpid());
	/* Byte by byte: what the child reads is not in the parent's buffer. */
	while (read(0, &c, 1) == 1) {
		if (c != '\n')
			continue;
		pid_t child = vfork();
		if (child == 0) {
			int n = snprintf(
			    text, sizeof(text), "child %d\n", (int)getpid());
			if (write(1, text, (size_t)n) != n)
				_exit(1);
			read_line();
			_exit(7);
		}
		waitpid(child, &status, 0);
		printf("parent %d\n", WEXITSTATUS(status));
	}
	return 0;
}
