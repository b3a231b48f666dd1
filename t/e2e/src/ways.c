/*
 * ways: a program to be built in many ways.  It says its calls, their arguments
 * and results, and who called, as 07-built-ways.sh has them traced: through a
 * function of the C library, on the heap, in a structure by value.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT __attribute__((noinline, used))

struct point {
	long x, y;
};

static volatile long seen;

KEPT double
leaf(int n, const char *text, struct point p, double d)
{
	printf("leaf %d %s %ld %ld %.2f\n", n, text, p.x, p.y, d);
	fflush(stdout);
	seen += n;
	return d * 2 + (double)p.x;
}

KEPT int
compare(const void *a, const void *b)
{
	const long *x = a, *y = b;
	char *text = malloc(16);
	double r;

	snprintf(text, 16, "%ld-%ld", *x, *y);
	r = leaf((int)(*x + *y), text, (struct point){ *x, -*y }, 0.25);
	printf("leaf = %.2f\n", r);
	printf("stack leaf compare middle main\n");
	fflush(stdout);
	free(text);
	return (*x > *y) - (*x < *y);
}

KEPT long
middle(long *all, size_t n)
{
	printf("middle %zu\n", n);
	fflush(stdout);
	qsort(all, n, sizeof(*all), compare);
	seen += (long)n;
	return all[0];
}

int
main(int argc, char **argv)
{
	for (int i = 0; i < 3; i++) {
		long all[2] = { 10 + i + argc - 1, i };
		long r = middle(all, 2);
		printf("middle = %ld\n", r);
		fflush(stdout);
	}
	return seen == 0 || argv[0] == NULL;
}
