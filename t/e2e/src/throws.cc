/*
 * Exceptions: at the start, and again for every line of input if there is an
 * argument: 5 ints thrown, 3 runtime_errors, of which 2 are thrown again (one
 * across a frame), and one that is caught by the catch-all.
 */
#include <stdexcept>

#include "trigger.h"

static void
twice(int n)
{
	try {
		throw std::runtime_error("known");
	} catch (const std::runtime_error &e) {
		if (n > 0)
			throw;
	}
}

static void
all()
{
	for (int i = 0; i < 5; i++) {
		try {
			throw i;
		} catch (int n) {
		}
	}
	for (int i = 0; i < 3; i++) {
		try {
			twice(i);
		} catch (const std::exception &e) {
		}
	}
	try {
		throw "text";
	} catch (...) {
	}
}

int
main(int argc, char **)
{
	char line[80];

	if (argc == 1) {
		all();
		return 0;
	}
	trigger_init();
	printf("ready\n");
	while (fgets(line, sizeof(line), stdin) != NULL) {
		all();
		printf("done %s", line);
	}
	return 0;
}
