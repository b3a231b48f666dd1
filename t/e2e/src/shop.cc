/*
 * Functions of C++ by every kind of name: overloaded, of templates, operators,
 * constructors and destructors, nameless namespaces.  It prints how often each
 * was called.
 */
#include <cstdio>
#include <cstdlib>

#include "trigger.h"

#define KEEP NOINLINE __attribute__((noclone)) __attribute__((used))
#define HERE __asm__ volatile("" ::: "memory")

namespace shop {

template <class T>
KEEP T
most(T a, T b)
{
	HERE;
	return a > b ? a : b;
}

struct Base {
	virtual ~Base();
	virtual int cost() const;
};

struct Box : Base {
	int n;

	KEEP explicit Box(int i) : n(i) { HERE; }
	KEEP ~Box() { HERE; }
	KEEP int put(int i) { HERE; return n += i; }
	KEEP int put(const char *s) { HERE; return n += *s; }
	KEEP int get(int a, int b) const { HERE; return n + a - b; }
	KEEP bool operator<(const Box &o) const { HERE; return n < o.n; }
	KEEP int operator*(int by) const { HERE; return n * by; }
	KEEP int operator[](int at) const { HERE; return n + at; }
	int cost() const;
};

Base::~Base() { HERE; }
int Base::cost() const { HERE; return 0; }
int Box::cost() const { HERE; return n; }

namespace {
KEEP int
hidden(int i)
{
	HERE;
	return i + 1;
}
}

KEEP int
alone(int i)
{
	HERE;
	return i + hidden(i);
}

}

int
main()
{
	using namespace shop;
	int sum = 0;

	trigger_init();
	Base *first = new Box(1);
	Box second(2);
	for (int i = 0; i < 3; i++)
		sum += second.put(i);
	sum += second.put("a") + second.get(1, 2) + (second * 2) + second[3];
	sum += second < second;
	sum += most(1, 2) + static_cast<int>(most(1.5, 2.5) + most(2.5, 0.5));
	sum += alone(1) + alone(2) + first->cost() + second.cost();
	delete first;
	printf("sum %d\n", sum);
	return 0;
}
