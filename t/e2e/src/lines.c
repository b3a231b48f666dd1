/*
 * Lines, inlined functions and variables, for 88-lines.sh.  A probe on a line
 * that a comment in capitals marks sees what the printf() behind it prints.
 *
 * Built without and with optimisation, by gcc and clang; as a library too.
 * HERE is an instruction of that line and of no other; KEEP() makes a value
 * needed behind it, so that it is somewhere.
 */
#include "t/e2e/src/trigger.h"

#define HERE       __asm__ volatile("nop")
#define KEEP(x)    __asm__ volatile("" : : "r"(x))
#define KEEPMEM(x) __asm__ volatile("" : : "r"(&(x)) : "memory")
#define INLINE     static inline __attribute__((always_inline))

struct item {
	int id;
	short kind;
	const char *name;
	struct item *next;
	long grid[2][2];
	unsigned low : 3, high : 9;
};

enum color { RED = 3, BLUE = -1 };

int calls;

/* Inlined three times, one of them in another inlined function. */
INLINE long
twice(long value)
{
	long result = value * 2;
	HERE; /* TWICE */
	printf("twice %ld %ld\n", value, result);
	KEEP(value);
	return result;
}

INLINE long
outer(long value)
{
	long inner = value + 100;
	long both = twice(inner); /* CALL */
	KEEP(inner);
	return both + inner;
}

/* More parameters than there are registers for, of all sizes. */
NOINLINE static long
wide(signed char a1, unsigned char a2, short a3, unsigned short a4, int a5,
    unsigned a6, long a7, enum color a8, const char *a9)
{
	long sum = a1 + a2 + a3 + a4 + a5 + (long)a6 + a7 + a8;

	HERE; /* WIDE */
	printf("wide %d %u %d %u %d %u %ld %d %s\n", a1, a2, a3, a4, a5, a6, a7,
	    a8, a9);
	KEEP(a1);
	KEEP(a2);
	KEEP(a3);
	KEEP(a4);
	KEEP(a5);
	KEEP(a6);
	KEEP(a7);
	KEEP(a8);
	KEEP(a9);
	return sum;
}

/* Names that hide others, a static one, a struct and an array in memory. */
NOINLINE static long
walk(struct item *list, int step)
{
	static int visits = 40;
	struct item copy = *list;
	long sum = 0;

	KEEPMEM(copy);
	for (struct item *it = list; it != NULL; it = it->next) {
		long squares[3] = { it->id, it->id * it->id, 0 };
		KEEPMEM(squares);
		visits++;
		{
			long step = it->id * 10;
			sum += step;
			HERE; /* INNER */
			printf("inner %ld %d\n", step, it->id);
			KEEP(step);
			KEEP(it);
		}
		HERE; /* WALK */
		printf("walk %d %ld %s %d %ld %d\n", step, sum, it->name,
		    visits, squares[1], copy.id);
		KEEP(step);
		KEEP(sum);
		KEEP(it);
		KEEPMEM(squares);
		KEEPMEM(copy);
	}
	return sum;
}

/* A vector, and what is passed with it. */
NOINLINE static long
floats(double real, int whole)
{
	HERE; /* FLOATS */
	printf("floats %d\n", whole);
	KEEP(whole);
	__asm__ volatile("" : : "x"(real));
	return (long)real + whole;
}

/* Its parameter is gone when it is asked for: the calls clobber where it
 * was. */
NOINLINE static long
gone(long lost)
{
	long kept = lost + calls; /* KEPT */
	__asm__ volatile("" : "+r"(kept) : : "rdi");
	HERE; /* GONE */
	printf("gone %ld\n", kept);
	KEEP(kept);
	return kept;
}

/* A one-line loop, a loop over two lines. */
NOINLINE static int
loops(int n)
{
	int count = 0;

	for (int i = 0; i < n; i++) {
		count += i;
		__asm__ volatile("nop" : "+r"(count)); /* BODY */
	}
	return count;
}

/* The same in a library and in the program that loads it. */
int
lines_main(void)
{
	struct item third = { 3, -3, "three", NULL, { { 1, 2 }, { 3, 4 } }, 5,
		300 };
	struct item second = { 2, -2, "two", &third, { { 0 } }, 6, 200 };
	struct item first = { 1, -1, "one", &second, { { 7 } }, 7, 100 };
	long all = 0;

	for (int turn = 0; turn < 3; turn++) {
		all += twice(turn);
		all += outer(turn);
		all += walk(&first, turn + 5);
		all += wide((signed char)-turn, 200, -300, 60000, -70000,
		    3000000000U, -5000000000L, BLUE, "text");
		all += floats(1.5, turn);
		all += gone(turn);
		all += loops(turn + 4);
		calls++;
	}
	all += twice(all & 7);
	printf("all %ld\n", all);
	return 0;
}

#ifndef LIBRARY
#include <dlfcn.h>
#include <sys/wait.h>

/* With the name of a library: loads it, and calls what is above in there.
 * With `fork': in a child.  With `wait': when it is told to. */
int
main(int argc, char **argv)
{
	trigger_init();
	if (argc > 1 && strcmp(argv[1], "fork") == 0) {
		pid_t pid = fork();
		if (pid == 0)
			return lines_main();
		return waitpid(pid, NULL, 0) != pid;
	}
	if (argc > 1 && strcmp(argv[1], "wait") == 0) {
		trigger_wait();
		return lines_main();
	}
	if (argc > 1) {
		void *lib = dlopen(argv[1], RTLD_NOW);
		int (*run)(void) = NULL;
		if (lib != NULL)
			*(void **)&run = dlsym(lib, "lines_main");
		return run != NULL ? run() : 1;
	}
	return lines_main();
}
#endif
