/*
 * early [exec]: what a constructor may do before main(): open a library, call a
 * function, and with "exec" (once) execute the program again.
 */
#include <dlfcn.h>
#include <stdbool.h>

#include "trigger.h"

NOINLINE int
early(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

NOINLINE int
work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 2;
}

__attribute__((constructor)) static void
begin(int argc, char **argv, char **envp)
{
	void *lib = dlopen("libdl.so.2", RTLD_NOW);

	if (lib == NULL)
		lib = dlopen("libm.so.6", RTLD_NOW);
	if (lib == NULL || early(1) != 2)
		_exit(9);
	dlclose(lib);
	if (argc > 1 && strcmp(argv[1], "exec") == 0) {
		argv[1] = (char *)"again";
		execv("/proc/self/exe", argv);
		_exit(8);
	}
}

int
main(int argc, char **argv)
{
	trigger_init();
	printf("%s %d\n", argc > 1 ? argv[1] : "plain", work(1));
	return 0;
}
