/*
 * Exceptions through functions of many shapes: with clean-ups, caught and thrown
 * again, out of virtual functions, constructors, recursion.
 */
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#define KEEP __attribute__((noinline))

struct shape {
	virtual ~shape() {}
	virtual double area() const = 0;
	virtual void check(int n)
	{
		if (n % 7 == 3)
			throw std::runtime_error("bad " + std::to_string(n));
	}
};

struct square : shape {
	double side;
	explicit square(double s) : side(s) {}
	double area() const override { return side * side; }
};

struct disc : shape {
	double radius;
	std::string name;
	explicit disc(double r) : radius(r), name("disc")
	{
		if (r > 90)
			throw std::invalid_argument("too large");
	}
	double area() const override { return 3 * radius * radius; }
	void check(int n) override
	{
		shape::check(n);
		if (n % 5 == 4)
			throw n;
	}
};

KEEP int
parse(const std::string &s)
{
	std::istringstream in(s);
	int v;

	if (!(in >> v))
		throw std::domain_error(s);
	return v;
}

KEEP int
deep(int n)
{
	std::string room(n, 'x');

	if (n == 0)
		throw std::logic_error("bottom");
	try {
		return deep(n - 1) + (int)room.size();
	} catch (const std::logic_error &) {
		if (n % 3)
			throw;
		return n;
	}
}

KEEP double
sum(const std::vector<std::unique_ptr<shape>> &all,
    const std::function<double(const shape &)> &of)
{
	double total = 0;

	for (auto &s : all)
		total += of(*s);
	return total;
}

int
main()
{
	std::vector<std::unique_ptr<shape>> all;
	std::map<std::string, int> seen;
	int bad = 0;

	for (int i = 0; i < 100; i++) {
		try {
			if (i % 2)
				all.push_back(std::make_unique<square>(i));
			else
				all.push_back(std::make_unique<disc>(i));
			all.back()->check(i);
			seen[std::to_string(i % 13)] +=
			    parse(i % 11 ? std::to_string(i) : "none");
		} catch (const std::exception &e) {
			seen[e.what()]++;
		} catch (int n) {
			bad += n;
		}
	}
	std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) {
		return a->area() < b->area();
	});
	std::printf("%.0f %d %zu %d\n",
	    sum(all, [](const shape &s) { return s.area(); }), bad, seen.size(),
	    deep(10));
	return 0;
}
