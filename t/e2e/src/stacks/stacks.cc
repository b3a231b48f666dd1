/*
 * here() called where C++ runs code on its own: destructors of an exception's
 * way, catch, function objects, virtual functions, constructors of statics.
 */
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define KEEP __attribute__((noinline, noclone))

volatile int sink;

extern "C" KEEP int
leaf(int a, int b)
{
	__asm__ volatile("" ::: "memory");
	return a * b + sink;
}

extern "C" KEEP int
here(int n)
{
	int a = leaf(n, 1), b = leaf(a, 2), c = leaf(b, 3);

	return leaf(a, b) + leaf(c, n);
}

struct guard {
	int n;
	guard(int n) : n(n) {}
	KEEP ~guard() { sink = sink + here(n); }
};

struct shape {
	virtual int side(const std::string &unit) = 0;
	virtual ~shape() {}
};

template <typename T> struct square : shape {
	T size;
	square(T size) : size(size) {}
	KEEP int
	side(const std::string &unit) override
	{
		return here((int)size) + (int)unit.size();
	}
};

KEEP void
throws(int n)
{
	guard g(n);

	if (n == 0)
		throw std::runtime_error("at the bottom");
	throws(n - 1);
	sink = sink + 1;
}

KEEP void
catches()
{
	try {
		throws(3);
	} catch (const std::exception &e) {
		sink = sink + here(e.what()[0]);
		try {
			throw;
		} catch (...) {
			sink = sink + here(5);
		}
	}
}

KEEP void
filters() noexcept(false)
{
	try {
		throw 5;
	} catch (const std::string &) {
	}
}

KEEP void
sorts()
{
	std::vector<int> v = { 3, 1, 2 };

	std::sort(v.begin(), v.end(),
	    [](int a, int b) { return (sink = here(a)), a < b; });
}

static guard global(7);

int
main()
{
	std::map<std::string, std::function<int(int)>> calls;
	square<double> s(2);
	shape *p = &s;
	int out = 0;

	calls["lambda"] = [&out](int n) { return out += here(n); };
	calls["lambda"](3);
	sink = sink + p->side("m");
	catches();
	try {
		filters();
	} catch (int n) {
		sink = sink + here(n);
	}
	sorts();
	std::thread([] { catches(); }).join();
	return sink == 1;
}
