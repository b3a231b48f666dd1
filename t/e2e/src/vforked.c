/*
 * vforked [alt]: for each line read, a vfork child that says "child PID" and
 * lives in its parent's memory until it has read a line itself; then the parent
 * says "parent STATUS".  SIGUSR1 has a handler, on an alternate stack if asked
 * for, that says "handler" and returns when it has read a line.
 */
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
