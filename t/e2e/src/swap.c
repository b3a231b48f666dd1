/*
 * swap LIB LIB [LIB...]: loads each library in turn, calls its work() and
 * unloads it; "exec" in the place of one runs ourselves with what follows.
 * Each work() has tell() called, a few calls deep.  Says where work() was.
 */
#include <dlfcn.h>

#include "trigger.h"

__attribute__((noinline)) int
tell(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

static int
use(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*work)(int (*)(int), int);

	if (lib == NULL || (work = dlsym(lib, "work")) == NULL) {
		printf("%s\n", dlerror());
		exit(1);
	}
	printf("%s %p\n", path, (void *)work);
	fflush(stdout);
	int r = work(tell, 1);
	dlclose(lib);
	return r;
}

int
main(int argc, char **argv)
{
	trigger_init();
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "exec") == 0) {
			argv[i] = argv[0];
			execv("/proc/self/exe", argv + i);
			return 1;
		}
		if (use(argv[i]) != 2 + 1)
			return 1;
	}
	return 0;
}
