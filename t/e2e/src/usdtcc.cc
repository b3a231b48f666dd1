/* Static probes in C++: templates, inlined copies, objects on the stack. */
#include <cstdio>
#include <stdexcept>
#include <string>

#include "usdt-d.h"

template <typename T>
static void
probe(T value)
{
	std::string s = "v" + std::to_string(static_cast<int>(value));

	MY_APP_MAPPED(value, s.c_str());
}

namespace shop {
__attribute__((noinline)) static void
buy(int n)
{
	MY_APP_MAPPED(n, "buy");
}
}

enum class color : short { red = -7 };

int
main()
{
	probe(1);
	probe(-2L);
	probe(static_cast<unsigned char>(255));
	probe(true);
	probe(color::red);
	shop::buy(5);
	try {
		throw std::runtime_error("x");
	} catch (const std::exception &e) {
		std::puts(e.what());
	}
	return 0;
}
