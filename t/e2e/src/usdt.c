/*
 * usdt [LIBRARY]: static probes on command, one a line of standard input:
 *
 *	hit	each probe of the program; the watched one if somebody watches
 *	sem	print the watched probe's semaphore
 *	fork	a child prints its own
 *	load	the library, and call it; unload
 */
#include <dlfcn.h>
#include <sys/wait.h>

#include "trigger.h"
#include "usdt-d.h"

struct thing {
	int number;
	char *text;
};

static int hits;

static void NOINLINE
hit(void)
{
	char text[16];
	struct thing t = { 10 + hits, text };

	hits++;
	snprintf(text, sizeof(text), "t%d", hits);
	MY_APP_PLAIN();
	MY_APP_ARGS(hits, "three", &t);
	MY_APP_MAPPED(hits, text);
	if (MY_APP_UN_WATCHED_ENABLED())
		MY_APP_UN_WATCHED(-hits);
	if (MY_APP_NEVER_ENABLED())
		MY_APP_NEVER();
	/* A second place of the same probe. */
	MY_APP_PLAIN();
	printf("hit %d\n", hits);
}

static void
show(const char *who)
{
	printf("%s %u\n", who, (unsigned)my__app_un__watched_semaphore);
	fflush(stdout);
}

static void
forked(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		hits = 100;
		hit();
		show("child");
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void
load(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*fn)(int) = lib != NULL ? (int (*)(int))dlsym(lib, "lib") : NULL;

	if (fn == NULL) {
		printf("%s\n", dlerror());
		return;
	}
	printf("lib %d\n", fn(hits));
	dlclose(lib);
}

int
main(int argc, char **argv)
{
	char line[80];

	trigger_init();
	printf("ready\n");
	while (fgets(line, sizeof(line), stdin) != NULL) {
		switch (line[0]) {
		case 'h': hit(); break;
		case 's': show("sem"); break;
		case 'f': forked(); break;
		case 'l': load(argc > 1 ? argv[1] : ""); break;
		default: break;
		}
	}
	return 0;
}
