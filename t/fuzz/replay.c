/*
 * A fuzzer's corpus once more, without libFuzzer: part of `make check'.
 *
 *	replay [FILE...]
 *
 * Linked with a fuzzer, whose name the program has; without files it takes all
 * of t/fuzz/corpus/NAME, of which there must be some.
 */
#include <dirent.h>
#include <libgen.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/mem.h"

int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *now = "the beginning"; /* what is replayed */

static void
say(int sig)
{
	fprintf(stderr, "replay: signal %d at %s\n", sig, now);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* In memory of its own size, so that a sanitizer sees a byte too far. */
static int
replay(const char *path)
{
	FILE *f = fopen(path, "rb");
	long size;

	now = path;
	if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0) {
		perror(path);
		return -1;
	}
	rewind(f);
	uint8_t *data = mem_alloc((size_t)size + (size == 0));
	if (fread(data, 1, (size_t)size, f) != (size_t)size) {
		perror(path);
		return -1;
	}
	fclose(f);
	LLVMFuzzerTestOneInput(data, (size_t)size);
	mem_free(data);
	return 0;
}

static int
is_file(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static int
replay_all(const char *dir)
{
	struct dirent **list;
	int n = scandir(dir, &list, is_file, alphasort), err = 0;

	if (n <= 0) {
		fprintf(stderr, "replay: nothing in %s\n", dir);
		return 1;
	}
	for (int i = 0; i < n; i++) {
		char *path = mem_printf("%s/%s", dir, list[i]->d_name);
		err |= replay(path);
		mem_free(path);
		free(list[i]);
	}
	free(list);
	printf("%s: %d files\n", dir, n);
	return err != 0;
}

int
main(int argc, char **argv)
{
	int err = 0;

	signal(SIGABRT, say);
	if (LLVMFuzzerInitialize != NULL)
		LLVMFuzzerInitialize(&argc, &argv);
	if (argc > 1) {
		for (int i = 1; i < argc; i++)
			err |= replay(argv[i]);
	} else {
		char *dir = mem_printf("t/fuzz/corpus/%s", basename(argv[0]));
		err = replay_all(dir);
		mem_free(dir);
	}
	return err != 0;
}
