/*
 * Makes static probes while it runs, as it is told on its input:
 *
 *	load, unload	of provider "shop" (or the name in SHOP) with probes sold(n, text), all12(...)
 *			and idle(), and two(text) and two(n, text) in two functions
 *	fire N T	in T threads each sold(0, "T-0") to sold(N - 1, ...)
 *	all		all12 with a value at each end of its type
 *	fork N		a child fires sold N times and ends
 *	stay		a child goes on in our place, without its descriptors
 *	many N		makes N providers and drops them; what is left of them?
 *
 * With arguments it does these without being told: provider load "fire 10 4".  Each
 * is answered by a line.
 */
#include <dirent.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dtrap-provider.h>

#include "trigger.h"

static dtrap_provider *shop;
static dtrap_probe *sold, *two_text, *two_both, *idle, *all12;

static void
must(int error)
{
	if (error == 0)
		return;
	printf("error: %s\n", dtrap_provider_strerror(error));
	exit(1);
}

static void
make_shop(void)
{
	static const enum dtrap_arg types[] = { DTRAP_INT32, DTRAP_STRING };
	static const enum dtrap_arg all[] = { DTRAP_INT8, DTRAP_UINT8,
		DTRAP_INT16, DTRAP_UINT16, DTRAP_INT32, DTRAP_UINT32,
		DTRAP_INT64, DTRAP_UINT64, DTRAP_STRING, DTRAP_POINTER,
		DTRAP_INT8, DTRAP_STRING };

	const char *name = getenv("SHOP");

	must(dtrap_provider_create(name != NULL ? name : "shop", &shop));
	must(dtrap_provider_probe(shop, "sell", "sold", 2, types, &sold));
	must(dtrap_provider_probe(
	    shop, "Shop.sell", "two", 1, types + 1, &two_text));
	must(
	    dtrap_provider_probe(shop, "Shop.buy", "two", 2, types, &two_both));
	must(dtrap_provider_probe(shop, NULL, "idle__time", 0, NULL, &idle));
	must(dtrap_provider_probe(shop, NULL, "all12", 12, all, &all12));
}

/* ---- firing ---- */

struct job {
	pthread_t thread;
	int id, count;
};

static void *
fire(void *arg)
{
	const struct job *j = arg;
	char text[32];

	for (int i = 0; i < j->count; i++) {
		snprintf(text, sizeof(text), "%d-%d", j->id, i);
		const uint64_t args[] = { (uint64_t)-i, (uintptr_t)text };
		if (dtrap_probe_watched(sold))
			dtrap_probe_fire(sold, args);
		/* The probe has returned: the text may go. */
		memset(text, 'x', sizeof(text));
	}
	return NULL;
}

static void
fire_in_threads(int count, int threads)
{
	struct job jobs[64] = { { 0 } };

	for (int t = 0; t < threads; t++) {
		jobs[t].id = t;
		jobs[t].count = count;
		pthread_create(&jobs[t].thread, NULL, fire, &jobs[t]);
	}
	for (int t = 0; t < threads; t++)
		pthread_join(jobs[t].thread, NULL);
	printf("fired, watched %d\n", dtrap_probe_watched(sold));
}

static void
fire_all(void)
{
	static const char text[] = "by function";
	const uint64_t args[] = { (uint64_t)INT8_MIN, UINT8_MAX,
		(uint64_t)INT16_MIN, UINT16_MAX, (uint64_t)INT32_MIN,
		UINT32_MAX, (uint64_t)INT64_MIN, UINT64_MAX, (uintptr_t) "text",
		(uintptr_t)args, 127, (uintptr_t) "last" };
	const uint64_t both[] = { (uint64_t)-1, (uintptr_t)text };

	dtrap_probe_fire(all12, args);
	dtrap_probe_fire(two_text, both + 1);
	dtrap_probe_fire(two_both, both);
	dtrap_probe_fire(idle, NULL);
	printf("all at %" PRIxPTR "\n", (uintptr_t)args);
}

/* ---- children ---- */

static void
fork_and_fire(int count)
{
	pid_t child = fork();

	if (child == 0) {
		struct job j = { .id = 9, .count = count };
		fire(&j);
		_exit(dtrap_probe_watched(sold) ? 3 : 4);
	}
	int status = 0;
	waitpid(child, &status, 0);
	printf("child %d %d\n", (int)child, WEXITSTATUS(status));
}

/* The parent waits until the child has read everything. */
static void
stay(void)
{
	pid_t child = fork();

	if (child == 0) {
		trigger_init();
		for (int fd = 3; fd < 64; fd++)
			close(fd);
		printf("stays %d\n", (int)getpid());
		return;
	}
	waitpid(child, NULL, 0);
	_exit(0);
}

/* ---- what is left ---- */

static int
count_lines(const char *path)
{
	FILE *f = fopen(path, "r");
	int n = 0, c;

	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

static int
count_files(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

struct left {
	int maps, fds;
	size_t bytes;
};

static struct left
look(void)
{
	return (struct left){ count_lines("/proc/self/maps"),
		count_files("/proc/self/fd"), mallinfo2().uordblks };
}

static void
make_and_drop(int count)
{
	static const enum dtrap_arg types[] = { DTRAP_INT32, DTRAP_STRING };
	dtrap_provider *p[1000];
	dtrap_probe *probe;
	char name[32];

	if (count > 1000)
		count = 1000;
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "many%d_", i);
		must(dtrap_provider_create(name, &p[i]));
		must(dtrap_provider_probe(p[i], NULL, "one", 2, types, &probe));
		must(dtrap_provider_load(p[i]));
		const uint64_t args[] = { (uint64_t)i, (uintptr_t)name };
		dtrap_probe_fire(probe, args);
	}
	for (int i = 0; i < count; i++)
		dtrap_provider_destroy(p[i]);
}

static void
many(int count)
{
	/* What the C library keeps for itself is there after the first. */
	make_and_drop(count);
	const struct left before = look();
	make_and_drop(count);
	const struct left after = look();
	printf("left: %d mappings, %d descriptors, %zd bytes\n",
	    after.maps - before.maps, after.fds - before.fds,
	    after.bytes - before.bytes);
}

/* ---- what it is told ---- */

static void
obey(const char *line)
{
	int n = 0, t = 0;

	if (strncmp(line, "load", 4) == 0)
		printf("load: %s\n",
		    dtrap_provider_strerror(dtrap_provider_load(shop)));
	else if (strncmp(line, "unload", 6) == 0)
		printf("unload: %s\n",
		    dtrap_provider_strerror(dtrap_provider_unload(shop)));
	else if (sscanf(line, "fire %d %d", &n, &t) == 2)
		fire_in_threads(n, t);
	else if (strncmp(line, "all", 3) == 0)
		fire_all();
	else if (sscanf(line, "fork %d", &n) == 1)
		fork_and_fire(n);
	else if (strncmp(line, "stay", 4) == 0)
		stay();
	else if (sscanf(line, "many %d", &n) == 1)
		many(n);
	else
		printf("what is %s?\n", line);
}

int
main(int argc, char **argv)
{
	char line[80];

	trigger_init();
	make_shop();
	for (int i = 1; i < argc; i++)
		obey(argv[i]);
	if (argc == 1)
		printf("ready\n");
	while (argc == 1 && fgets(line, sizeof(line), stdin) != NULL)
		obey(line);
	dtrap_provider_destroy(shop);
	return 0;
}
