/*
 * fastload: calls look() with addresses of memory of each kind: constants, the
 * heap, a page's end, memory that comes while it is traced and memory that goes,
 * the code of look() itself, bad addresses.  SIGSEGV and SIGBUS are handled and
 * counted: "wrong N" is how many came.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE  4096
#define CALLS 300

static volatile sig_atomic_t faults;

static void
on_fault(int sig)
{
	faults++;
	_exit(3);
}

__attribute__((noinline)) int
look(const char *s, uint64_t n)
{
	static volatile uint64_t sum;

	sum += n;
	return s != NULL;
}

static void
look_often(const char *s)
{
	for (uint64_t n = 0; n < CALLS; n++)
		look(s, n);
}

static char *
page(const char *text, int fd)
{
	char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
	    fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE, fd, 0);

	if (p == MAP_FAILED)
		exit(1);
	strcpy(p + PAGE - strlen(text) - 1, text);
	return p;
}

static const char *
end_of(const char *p, const char *text)
{
	return p + PAGE - strlen(text) - 1;
}

int
main(void)
{
	char *heap = strdup("on the heap");
	char name[] = "/tmp/dtrap-fastload-XXXXXX";
	int fd = mkstemp(name);
	char *early = page("at the end", -1), *late, *file;

	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	if (heap == NULL || fd < 0 || unlink(name) != 0 ||
	    ftruncate(fd, PAGE) != 0)
		return 1;
	file = page("in a file", fd);
	look_often("a constant");
	look_often(heap);
	look_often(end_of(early, "at the end"));
	late = page("come later", -1);
	look_often(end_of(late, "come later"));
	look((const char *)(uintptr_t)look, 0);
	look_often(end_of(file, "in a file"));
	/* Gone, and nobody was told. */
	for (uint64_t n = 0; n < 5; n++) {
		munmap(early, PAGE);
		look(end_of(early, "at the end"), n);
		mprotect(late, PAGE, PROT_NONE);
		look(end_of(late, "come later"), n);
		look(NULL, n);
		look((const char *)1, n);
		look((const char *)(UINT64_C(1) << 63), n);
		look_often("a constant");
	}
	printf("wrong %d\n", (int)faults);
	return 0;
}
