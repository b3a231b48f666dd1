/*
 * Words in shared memory that tell whether the tracer is alive, by robust
 * futexes.
 *
 * A thread registers a list of futex words with the kernel.  When the thread
 * ends, even by SIGKILL, the kernel changes each word of the list that contains
 * its tid (Documentation/locking/robust-futexes.rst).  For a tracer it does so
 * before it detaches the traced processes.
 *
 * Targets can write the words, so the list itself is in private memory.  An
 * entry of the list is a page of the tracer; its word is at a constant distance
 * from it, in the page of a target.
 *
 *	entries	| next |      | next |   ...	PAGE bytes each, private
 *	words	| word |      | word |   ...	PAGE bytes each, shared with a target
 *
 * A thread can register one list only.  The C library's is replaced: dtrap uses
 * no robust mutexes.
 */
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer/fast/fast_impl.h"

#define WORDS 1024

struct entry {
	struct robust_list list;
	bool used;
};

static struct robust_list_head head;
static uint8_t *entries, *words;

static struct entry *
entry_at(int n)
{
	return (void *)(entries + (size_t)n * PAGE);
}

uint32_t
alive_owner(void)
{
	return (uint32_t)gettid();
}

static bool
begin(void)
{
	const size_t size = (size_t)WORDS * PAGE;

	if (entries != NULL)
		return true;
	uint8_t *p = mmap(NULL, 2 * size, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return false;
	if (mprotect(p, size, PROT_READ | PROT_WRITE) != 0) {
		munmap(p, 2 * size);
		return false;
	}
	head.list.next = &head.list;
	head.futex_offset = (long)size;
	if (syscall(SYS_set_robust_list, &head, sizeof(head)) != 0) {
		munmap(p, 2 * size);
		return false;
	}
	entries = p;
	words = p + size;
	return true;
}

int
alive_add(int fd)
{
	int n = 0;

	if (!begin())
		return -1;
	while (n < WORDS && entry_at(n)->used)
		n++;
	if (n == WORDS)
		return -1;
	uint32_t *word = mmap(words + (size_t)n * PAGE, PAGE,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	if (word == MAP_FAILED)
		return -1;
	struct entry *e = entry_at(n);
	e->used = true;
	e->list.next = head.list.next;
	head.list.next = &e->list;
	__atomic_store_n(word, alive_owner(), __ATOMIC_RELEASE);
	return n;
}

void
alive_remove(int n)
{
	struct robust_list **at = &head.list.next;
	struct entry *e;

	if (n < 0)
		return;
	e = entry_at(n);
	while (*at != &e->list)
		at = &(*at)->next;
	*at = e->list.next;
	e->used = false;
	uint32_t *word = (void *)(words + (size_t)n * PAGE);
	__atomic_store_n(word, 0, __ATOMIC_RELEASE);
	(void)mmap(word, PAGE, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}
