/*
 * Calls of two threads, with known counts: each thread calls outer() 20 times,
 * which calls inner() twice; then it leaves jumper() and inner() once by
 * longjmp().  At last main() ends the process within ending().
 */
#include <pthread.h>
#include <setjmp.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone, noipa))

KEEP static long
inner(jmp_buf *out, long n)
{
	if (out != NULL)
		longjmp(*out, 1);
	return n + 1;
}

KEEP static long
outer(long n)
{
	return inner(NULL, n) + inner(NULL, -n);
}

KEEP static long
jumper(jmp_buf *out)
{
	return inner(out, 0) + 1;
}

KEEP static long
around(void)
{
	jmp_buf out;

	return setjmp(out) == 0 ? jumper(&out) : 0;
}

KEEP static void *
work(void *arg)
{
	long sum = 0;

	for (long n = 0; n < 20; n++)
		sum += outer(n);
	return (void *)(sum + around());
}

KEEP static void
ending(void)
{
	_exit(0);
}

int
main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, work, NULL) != 0)
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	ending();
}
