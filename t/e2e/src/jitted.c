/*
 * Code made at run time, with the file that tells perf of it: leaf() is called
 * by code that the file names more than once, as the code of before was thrown
 * away.  The names come from the command line, so that the test knows them:
 * FIRST is the function's at first, then SECOND.  With UID, the file is given
 * to that user.
 */
#include <sys/mman.h>

#include "trigger.h"

static volatile int sink;

NOINLINE void
leaf(void)
{
	sink++;
}

/* push %rbp; mov %rsp,%rbp; mov $leaf,%rax; call *%rax; pop %rbp; ret */
static size_t
emit(unsigned char *p)
{
	static const unsigned char head[] = { 0x55, 0x48, 0x89, 0xe5, 0x48,
		0xb8 };
	static const unsigned char tail[] = { 0xff, 0xd0, 0x5d, 0xc3 };
	void (*to)(void) = leaf;

	memcpy(p, head, sizeof(head));
	memcpy(p + sizeof(head), &to, sizeof(to));
	memcpy(p + sizeof(head) + sizeof(to), tail, sizeof(tail));
	return sizeof(head) + sizeof(to) + sizeof(tail);
}

static void
say(const char *how, void *code, size_t size, const char *name)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	if ((f = fopen(path, how)) == NULL)
		abort();
	fprintf(f, "%lx %zx %s\n", (unsigned long)code, size, name);
	fclose(f);
}

int
main(int argc, char **argv)
{
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	void (*run)(void);

	trigger_init();
	if (argc < 3 || code == MAP_FAILED)
		return 2;
	/* Some way into its page, as the last of several. */
	unsigned char *at = code + 0x123;
	size_t size = emit(at);
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
	memcpy(&run, &at, sizeof(run));
	run();
	say("w", code, 4096, "everything before");
	say("a", at, size, argv[1]);
	say("a", at + size, 0x100, "behind");
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	if (argc > 3 && chown(path, (uid_t)atoi(argv[3]), (gid_t)-1) != 0)
		abort();
	run();
	say("a", at, size, argv[2]);
	run();
	unlink(path);
	return 0;
}
