/* ending exit N | signal N | exec FILE...: ends as it is told. */
#include <signal.h>
#include <sys/resource.h>

#include "trigger.h"

NOINLINE int
work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

int
main(int argc, char **argv)
{
	struct rlimit none = { 0, 0 };

	trigger_init();
	work(1);
	if (argc < 3)
		return 0;
	if (strcmp(argv[1], "exit") == 0)
		return atoi(argv[2]);
	if (strcmp(argv[1], "signal") == 0) {
		setrlimit(RLIMIT_CORE, &none);
		raise(atoi(argv[2]));
		return 1;
	}
	execvp(argv[2], argv + 2);
	return 127;
}
