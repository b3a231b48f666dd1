/*
 * elder: has a child when it says "ready PID CHILD"; for each line both write
 * one back, then it forks another, which writes one as well.
 */
#include <sys/wait.h>

#include "trigger.h"

static void
say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(1);
}

int
main(void)
{
	int to[2], from[2];
	char c, line[80];

	trigger_init();
	if (pipe(to) != 0 || pipe(from) != 0)
		return 1;
	pid_t child = fork();
	if (child == 0) {
		trigger_init();
		close(to[1]);
		while (read(to[0], &c, 1) == 1) {
			say("child\n");
			if (write(from[1], &c, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	close(to[0]);
	printf("ready %d %d\n", (int)getpid(), (int)child);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (write(to[1], "x", 1) != 1 || read(from[0], &c, 1) != 1)
			return 1;
		if (fork() == 0) {
			say("young\n");
			_exit(0);
		}
		wait(NULL);
		say("done\n");
	}
	close(to[1]);
	wait(NULL);
	return 0;
}
