/*
 * typedcc: what C++ adds to the arguments of functions.  Before each call it
 * says what the arguments are, after it what the result is.
 */
#include <string>

#include "trigger.h"

#define FN __attribute__((noipa, noinline))

namespace shop {

enum class state : unsigned char { open, closed = 7 };

struct empty {
};

struct point {
	int x, y;
};

/* Copied by a function of its own: passed by address. */
struct handle {
	long id;
	FN handle(long n) : id(n)
	{
	}
	FN handle(const handle &other) : id(other.id + 1000)
	{
	}
};

/* Its destructor alone makes it so. */
struct guard {
	int level;
	FN ~guard()
	{
		__asm__ volatile("" : : "r"(this) : "memory");
	}
};

struct holder {
	handle held;
	short tail;
};

class item
{
      public:
	FN item(const char *n, int c) : label(n), cents(c)
	{
	}
	virtual ~item() = default;
	FN virtual int price(int times) const;
	FN static long made(long a, const item &from);
	FN point where(state s, empty, int dx) const;

      protected:
	const char *label;
	int cents;
};

class offer : public item
{
      public:
	offer(const char *n, int c, int o) : item(n, c), off(o)
	{
	}
	FN int price(int times) const override;
	int off;
};

int
item::price(int times) const
{
	return cents * times;
}

int
offer::price(int times) const
{
	return (cents - off) * times;
}

long
item::made(long a, const item &from)
{
	return a * from.cents;
}

point
item::where(state s, empty, int dx) const
{
	return { cents + dx, (int)s };
}

FN handle
swap(handle h, long n, guard g, holder &&keep)
{
	return handle(h.id * n + g.level + keep.held.id + keep.tail);
}

FN std::string
repeat(const std::string &s, int n, std::string last)
{
	std::string all;

	while (n-- > 0)
		all += s;
	return all + last;
}

FN long
seventh(long a, long b, long c, long d, long e, long f, handle h)
{
	return a + b + c + d + e + f + h.id;
}

template <typename T>
FN T
twice(T value, T *where, int (item::*how)(int) const, int item::*)
{
	*where = value;
	return how != nullptr ? value + value : value;
}

static void
say(int n)
{
	item plain("tea", 250 + n);
	offer cheap("cup", 900 + n, 100);
	item *any = &cheap;

	printf("offer price %s %d %d %d\n", "cup", 900 + n, 100, n);
	printf("offer price = %d\n", any->price(n));
	printf("item price %s %d %d\n", "tea", 250 + n, n + 1);
	printf("item price = %d\n", plain.price(n + 1));
	printf("made %d %s\n", n * 5, "tea");
	printf("made = %ld\n", item::made(n * 5, plain));
	printf("where %d %d %d\n", 250 + n, n % 2 ? 7 : 0, n * 3);
	point p = plain.where(
	    n % 2 ? state::closed : state::open, empty(), n * 3);
	printf("where = %d %d\n", p.x, p.y);
	printf("swap %d %d %d %d %d\n", 1000 + n, n, n + 5, n + 6, n + 7);
	{
		handle h(n);
		handle r = swap(h, n, guard{ n + 5 },
		    holder{ { n + 6 }, (short)(n + 7) });
		printf("swap = %ld\n", r.id);
	}
	printf("seventh %d %d\n", n + 6, n + 2000);
	printf("seventh = %ld\n",
	    seventh(n, 2, 3, 4, 5, n + 6, handle(n + 2000)));
	std::string s = repeat(std::string("ab"), n, "end");
	printf("twice %d\n", n);
	long at;
	printf("twice = %ld\n", twice<long>(n, &at, &item::price, nullptr));
}

} // namespace shop

int
main()
{
	trigger_init();
	for (int n = 1; n <= 3; n++)
		shop::say(n);
	return 0;
}
