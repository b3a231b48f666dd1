/*
 * dls LIBRARY...: waits for a line, then for each library: dlopen() twice,
 * dlmopen() into a list of its own, from_ctor() called in each, dlclose(); all
 * of that three times, and by four threads at once.  Says how often from_ctor()
 * was called by its name; each constructor calls it once with 14.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "trigger.h"

#define ROUNDS 3

static char **names;
static long calls;

static void
call(void *lib, long arg)
{
	long (*fn)(long);

	fn = lib != NULL ? (long (*)(long))dlsym(lib, "from_ctor") : NULL;
	if (fn == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	fn(arg);
	__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
}

static void
use(const char *name)
{
	void *a = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	call(a, 100);
	void *b = dlopen(name, RTLD_LAZY | RTLD_GLOBAL); /* the same */
	call(b, 101);
	dlclose(a);
	call(b, 102);
	void *c = dlmopen(LM_ID_NEWLM, name, RTLD_NOW); /* another copy */
	call(c, 103);
	dlclose(b);
	call(c, 104);
	dlclose(c);
}

static void *
use_all(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		for (char **name = names; *name != NULL; name++)
			use(*name);
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t t[4];

	trigger_init();
	names = argv + 1;
	trigger_wait();
	use_all(NULL);
	printf("alone %ld\n", calls);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, use_all, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("all %ld\n", calls);
	return 0;
}
