// Stacks of C++, with known counts: main calls left() 30 times and right() 10
// times; both call shape::side(), and that leaf(), which right() calls itself,
// too.  In the end over() is called as the last instruction of last().
#include <cstdio>
#include <string>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

extern "C" KEEP int
leaf(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

namespace shapes
{
template <typename T> struct shape {
	KEEP static int
	side(T x, const char *unit)
	{
		return leaf((int)x) + unit[0]; /* line of side */
	}
};
}

KEEP static int
left(int n)
{
	return shapes::shape<int>::side(n, "m") + 1;
}

KEEP static int
right(int n)
{
	return shapes::shape<int>::side(n, "m") + leaf(n) + 1;
}

extern "C" [[noreturn]] KEEP void
over(int n)
{
	_exit(leaf(-n) == 1 - n ? 0 : 1);
}

extern "C" KEEP void
last(int n)
{
	over(n);
}

int
main()
{
	int sum = 0;

	for (int i = 0; i < 30; i++)
		sum += left(i);
	for (int i = 0; i < 10; i++)
		sum += right(i);
	last(sum);
}
