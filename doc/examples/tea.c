/*
 * A tea house, to be traced: tea [GUESTS] serves so many (12), and ends; if they
 * are 0 it says when it is open, and goes on.  What is served, and in which order,
 * is always the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct order {
	int guest;
	const char *tea;
	int grams;
	int cents;
};

static const char *const teas[] = {"assam", "sencha", "oolong"};

/* What it costs: -1 if there is no such tea. */
__attribute__((noinline)) int
price(const char *tea, int grams)
{
	switch (tea[0]) {
	case 'a':
		return 3 * grams;
	case 's':
		return 5 * grams;
	default:
		return -1;
	}
}

/* It takes a millisecond a gram. */
__attribute__((noinline)) void
brew(const struct order *o)
{
	usleep(o->grams * 1000);
}

__attribute__((noinline)) int
serve(struct order *o)
{
	o->cents = price(o->tea, o->grams);
	if (o->cents < 0)
		return 0;
	brew(o);
	return o->cents;
}

int
main(int argc, char **argv)
{
	int guests = argc > 1 ? atoi(argv[1]) : 12, cents = 0;

	if (guests == 0) {
		printf("the house is open\n");
		fflush(stdout);
	}
	for (int i = 1; guests == 0 || i <= guests; i++) {
		struct order o = {i, teas[i % 3], 2 + i % 4 * 2, 0};

		cents += serve(&o);
	}
	return cents < 0;
}
