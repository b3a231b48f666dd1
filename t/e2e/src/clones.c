/*
 * Functions by the names that compilers give to the copies they make, and one
 * that is a part of another.  The names are written out, since a compiler makes
 * copies as it likes.
 */
#include "trigger.h"

#define NAMED(name) __asm__(name) NOINLINE

static long lonely(long n) NAMED("lonely.constprop.0.isra.1");
static long shared(long n) NAMED("shared");
static long shared_copy(long n) NAMED("shared.constprop.0");
static long twin_a(long n) NAMED("twin.isra.0");
static long twin_b(long n) NAMED("twin.lto_priv.1");
static long split(long n) NAMED("split.part.0");
static long imported(long n) NAMED("imported.llvm.1234567890");
static long piece(long n) NAMED("shared.cold");
static long dotted(long n) NAMED("dotted.name");

#define BODY(name, value)                          \
	static long name(long n)                   \
	{                                          \
		__asm__ volatile("" ::: "memory"); \
		return n + (value);                \
	}

BODY(lonely, 1)
BODY(shared, 2)
BODY(shared_copy, 3)
BODY(twin_a, 4)
BODY(twin_b, 5)
BODY(split, 6)
BODY(imported, 7)
BODY(piece, 8)
BODY(dotted, 9)

int
main(void)
{
	long r = 0;

	trigger_init();
	r += lonely(r) + shared(r) + shared_copy(r) + shared_copy(r) +
	    twin_a(r) + twin_b(r) + split(r) + imported(r) + piece(r) +
	    dotted(r);
	printf("sum %ld\n", r);
	return 0;
}
