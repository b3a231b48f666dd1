/* dlo LIBRARY: loads a library, calls its function, unloads it; twice. */
#include <dlfcn.h>

#include "trigger.h"

int
main(int argc, char **argv)
{
	long (*fn)(long);
	void *lib;
	long sum = 0;

	trigger_init();
	for (int i = 0; i < 2 && argc > 1; i++) {
		lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		if (lib == NULL) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		fn = (long (*)(long))dlsym(lib, "from_ctor");
		if (fn == NULL)
			return 1;
		sum += fn(100 + i);
		dlclose(lib);
	}
	printf("sum %ld\n", sum);
	return 0;
}
