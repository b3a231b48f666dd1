/*
 * spends MS THREADS: after a line, each thread spends MS of its own clock in
 * compute(), which makes few system calls, as much in call(), which makes hardly
 * anything else, and half of that in fill() and in touch(), which are in the kernel
 * for longer calls and for page faults.
 *
 * Says "NAME N" for each, the share by the threads' clocks in percent, and "gap N",
 * the longest time in us between two looks of compute() at the clock.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "trigger.h"

enum { COMPUTE, CALL, FILL, TOUCH, PARTS };

static const char *const names[PARTS] = { "compute", "call", "fill", "touch" };
static double spent[PARTS]; /* by all threads */
static long long longest;
static double ms;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static double
own_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static long long
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void
note_gap(long long gap)
{
	pthread_mutex_lock(&lock);
	if (gap > longest)
		longest = gap;
	pthread_mutex_unlock(&lock);
}

NOINLINE void
compute(double until)
{
	long long last = now(), most = 0;

	do {
		last = now();
		for (int i = 0; i < 20000; i++) {
			long long t = now();
			if (t - last > most)
				most = t - last;
			last = t;
		}
	} while (own_ms() < until);
	note_gap(most);
}

NOINLINE void
call(double until)
{
	do
		for (int i = 0; i < 1000; i++)
			syscall(SYS_getppid);
	while (own_ms() < until);
}

NOINLINE void
fill(double until)
{
	static __thread char buf[65536];
	int fd = open("/dev/zero", O_RDONLY);

	do
		if (read(fd, buf, sizeof(buf)) < 0)
			exit(1);
	while (own_ms() < until);
	close(fd);
}

NOINLINE void
touch(double until)
{
	const size_t size = 1 << 20;

	do {
		char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (at == MAP_FAILED)
			exit(1);
		for (size_t i = 0; i < size; i += 4096)
			at[i] = 1;
		munmap(at, size);
	} while (own_ms() < until);
}

static void *
spend(void *arg)
{
	static void (*const parts[PARTS])(
	    double) = { compute, call, fill, touch };
	double own[PARTS];

	for (int i = 0; i < PARTS; i++) {
		double from = own_ms();
		parts[i](from + (i < FILL ? ms : ms / 2));
		own[i] = own_ms() - from;
	}
	pthread_mutex_lock(&lock);
	for (int i = 0; i < PARTS; i++)
		spent[i] += own[i];
	pthread_mutex_unlock(&lock);
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t t[64];
	double all = 0;

	trigger_init();
	ms = argc > 1 ? strtod(argv[1], NULL) : 100;
	int n = argc > 2 ? atoi(argv[2]) : 1;
	trigger_wait();
	for (int i = 0; i < n && i < 64; i++)
		pthread_create(&t[i], NULL, spend, NULL);
	for (int i = 0; i < n && i < 64; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < PARTS; i++)
		all += spent[i];
	for (int i = 0; i < PARTS; i++)
		printf("%s %.2f\n", names[i], 100 * spent[i] / all);
	printf("gap %lld\n", longest / 1000);
	return 0;
}
