/*
 * The same in C++: members, references, templates that are inlined, names in
 * namespaces.
 */
#include "t/e2e/src/trigger.h"

#define HERE	   __asm__ volatile("nop")
#define KEEP(x)	   __asm__ volatile("" : : "r"(x))
#define KEEPMEM(x) __asm__ volatile("" : : "r"(&(x)) : "memory")

namespace ns
{
struct point {
	int x, y;
	long wide[3];
};

template <typename T>
static inline __attribute__((always_inline)) T
add(T one, T other)
{
	T both = one + other;
	HERE; /* ADD */
	printf("add %ld %d\n", (long)both, (int)sizeof(T));
	KEEP(both);
	return both;
}

class conn
{
	int fd;

      public:
	explicit conn(int f) : fd(f)
	{
	}

	__attribute__((noinline)) int
	send(const point &where, const char *what, bool urgent)
	{
		point copy = where;
		unsigned char low = (unsigned char)(where.x + 250);

		KEEPMEM(copy);
		copy.wide[2] = add(where.x, where.y);
		HERE; /* SEND */
		printf("send %d %d %s %d %u %ld\n", fd, where.y, what, urgent,
		    low, copy.wide[2]);
		KEEP(this);
		KEEP(&where);
		KEEP(what);
		KEEP((int)urgent);
		KEEP(low);
		KEEPMEM(copy);
		return (int)copy.wide[2] + (int)add<long>(fd, 3);
	}
};
}

int
main()
{
	ns::conn c(7);
	int sum = 0;

	trigger_init();
	for (int i = 0; i < 3; i++) {
		ns::point p = { i, i * 2, { 1, 2, 3 } };
		KEEPMEM(p);
		KEEPMEM(c);
		sum += c.send(p, i == 1 ? "one" : "other", i == 2);
	}
	return sum == 0;
}
