/*
 * odd LIBRARY: a program whose names are made for terminals: of a function, of
 * itself as the kernel has it, of strings.  Maps LIBRARY; "ready PID"; then for
 * each line a call of the function with an address in the library, "called".
 * Ends without running the library's destructors.
 */
#include <dlfcn.h>

#include "trigger.h"

/* What sets the title of a window, a C1 control, and a bell. */
#define ODD                           \
	"odd\033]0;title\007\xc2\x9b" \
	"31mname"

/* What a test puts other bytes into: names in debug information. */
enum odd_tag_aaaaaaaaaaaaaaaa { odd_enumerator_aaaaaaaaa = 7 };
struct odd_struct_aaaaaaaaaaaaa {
	int odd_member_aaaaaaaaaaaaa;
	enum odd_tag_aaaaaaaaaaaaaaaa tag;
	long (*call)(void *addr, const char *text);
	char end;
};

/* A test gives it that name: no assembler would. */
NOINLINE long
odd(void *addr, const char *text)
{
	__asm__ volatile("" ::"r"(addr), "r"(text) : "memory");
	return (long)strlen(text);
}

/* The same, for what makes one line two, or reads backwards. */
NOINLINE long
turn(const struct odd_struct_aaaaaaaaaaaaa *s, void *addr, const char *text)
{
	long n = s->call(addr, text) + s->odd_member_aaaaaaaaaaaaa;

	__asm__ volatile("" ::: "memory");
	return n;
}

NOINLINE long
turn_back(void *addr, const char *text)
{
	return odd(addr, text) + 1;
}

/* Called by the name that everybody can type. */
NOINLINE long
plain(void *addr)
{
	const struct odd_struct_aaaaaaaaaaaaa s = { 1, odd_enumerator_aaaaaaaaa,
		turn_back, 'e' };
	long n = turn(&s, addr, ODD);

	__asm__ volatile("" ::: "memory");
	return n;
}

int
main(int argc, char **argv)
{
	void *lib = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void *addr = lib != NULL ? dlsym(lib, "from_ctor") : NULL;
	char line[80];

	trigger_init();
	prctl(PR_SET_NAME, "\033]0;x\007y");
	printf("ready %d\n", (int)getpid());
	while (fgets(line, sizeof(line), stdin) != NULL) {
		plain(addr);
		puts("called");
	}
	fflush(stdout);
	_exit(0);
}
