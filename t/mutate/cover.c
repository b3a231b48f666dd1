/*
 * Which code a program has run, told also when it was killed: linked with what
 * `gcc -fsanitize-coverage=trace-pc' made, which calls
 * __sanitizer_cov_trace_pc() at the beginning of each basic block.
 *
 * With MUTATE_COVER=DIR in the environment, byte N of the file DIR/NAME.cov is 1
 * after the program has returned to address N of what this is linked into from
 * such a call.  NAME is COVER_NAME, or the program's.  All processes share the
 * file.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A library and the program that uses it each have their own of all these. */
#define OWN __attribute__((visibility("hidden")))

extern const char __ehdr_start OWN, etext OWN;
extern char *program_invocation_short_name;

#ifndef COVER_NAME
#define COVER_NAME program_invocation_short_name
#endif

void __sanitizer_cov_trace_pc(void) OWN;

static unsigned char *seen;

__attribute__((constructor)) static void
cover_open(void)
{
	const char *dir = getenv("MUTATE_COVER");
	size_t size = (size_t)(&etext - &__ehdr_start);
	char path[4096];

	if (!dir)
		return;
	snprintf(path, sizeof(path), "%s/%s.cov", dir, COVER_NAME);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return;
	if (ftruncate(fd, (off_t)size) == 0) {
		void *map =
		    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (map != MAP_FAILED)
			seen = map;
	}
	close(fd);
}

void
__sanitizer_cov_trace_pc(void)
{
	if (seen)
		seen[(uintptr_t)__builtin_return_address(0) -
		    (uintptr_t)&__ehdr_start] = 1;
}
