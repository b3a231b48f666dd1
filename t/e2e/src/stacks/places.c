/*
 * Stacks at odd places: what to run is the first argument.
 *
 *	plt	calls through stubs, for the first time and again
 *	vdso	the kernel's functions
 *	futex	threads that wait for one another, until a line is read
 *	born	a thread, a fork and a vfork
 *	asm	functions without unwind rules
 *	wild	a stack pointer that points to nonsense, several times
 *	dlopen	a callback from the library that is the second argument
 *	names	functions one below the other, for ever
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../trigger.h"

volatile int sink;

NOINLINE int
leaf(int a, int b)
{
	__asm__ volatile("" ::: "memory");
	return a * b + sink;
}

NOINLINE int
here(int n)
{
	return leaf(n, 2) + leaf(n, 3);
}

/* ---- calls through stubs ---- */

NOINLINE int
through_stubs(const char *text)
{
	int n = atoi(text) + abs(sink);

	return n + atoi(text + 1);
}

/* ---- the kernel's functions ---- */

NOINLINE int
ask_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int)ts.tv_nsec + sink;
}

/* ---- threads that wait ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;

NOINLINE int
wait_for_lock(void)
{
	pthread_mutex_lock(&lock);
	sink++;
	pthread_mutex_unlock(&lock);
	return sink;
}

static void *
locker(void *arg)
{
	pthread_barrier_wait(&barrier);
	sink += wait_for_lock();
	return arg;
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static int awake;

NOINLINE int
wait_for_word(void)
{
	pthread_mutex_lock(&held);
	pthread_barrier_wait(&barrier);
	while (!awake)
		pthread_cond_wait(&cond, &held);
	pthread_mutex_unlock(&held);
	return sink;
}

static void *
sleeper(void *arg)
{
	sink += wait_for_word();
	return arg;
}

static int
waiters(void)
{
	pthread_t t[3];

	pthread_barrier_init(&barrier, NULL, 4);
	pthread_mutex_lock(&lock);
	pthread_create(&t[0], NULL, locker, NULL);
	pthread_create(&t[1], NULL, locker, NULL);
	pthread_create(&t[2], NULL, sleeper, NULL);
	pthread_barrier_wait(&barrier);
	trigger_wait();
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&held);
	awake = 1;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&held);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return sink;
}

/* ---- births ---- */

static void *
empty(void *arg)
{
	return arg;
}

NOINLINE int
forks(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(3);
	waitpid(pid, NULL, 0);
	return sink;
}

NOINLINE int
vforks(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(3);
	waitpid(pid, NULL, 0);
	return sink;
}

NOINLINE int
threads(void)
{
	pthread_t t;

	pthread_create(&t, NULL, empty, NULL);
	pthread_join(t, NULL);
	return sink;
}

/* ---- assembly ---- */

__asm__(".text\n"
	".globl bare_framed\n.type bare_framed, @function\n"
	"bare_framed:\n"
	"	push %rbp\n	mov %rsp, %rbp\n	push %rbx\n"
	"	sub $8, %rsp\n	call here\n	add $8, %rsp\n"
	"	pop %rbx\n	pop %rbp\n	ret\n"
	".size bare_framed, . - bare_framed\n"
	".globl bare_frameless\n.type bare_frameless, @function\n"
	"bare_frameless:\n"
	"	push %rbx\n	push %r12\n	sub $8, %rsp\n"
	"	call here\n"
	"	add $8, %rsp\n	pop %r12\n	pop %rbx\n	ret\n"
	".size bare_frameless, . - bare_frameless\n");
int bare_framed(int);
int bare_frameless(int);

NOINLINE int
call_framed(void)
{
	return bare_framed(1) + 1;
}

NOINLINE int
call_frameless(void)
{
	return bare_frameless(2) + 1;
}

/* ---- nonsense ---- */

/* Runs one instruction with another stack and frame pointer, and back. */
__asm__(
    ".text\n.globl astray\n.type astray, @function\n"
    "astray:\n.cfi_startproc\n"
    "	push %rbp\n"
    ".cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"
    "	mov %rsp, %rax\n	mov %rdi, %rsp\n	mov %rsi, %rbp\n"
    ".globl lost\nlost:\n"
    "	nop\n"
    "	mov %rax, %rsp\n"
    "	pop %rbp\n"
    ".cfi_def_cfa_offset 8\n"
    "	ret\n"
    ".cfi_endproc\n.size astray, . - astray\n");
void astray(void *sp, void *bp);

#define AREA (1 << 20)

static int
wild(void)
{
	uint64_t *a = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		 seed = 1;
	size_t n = AREA / sizeof(*a);

	/* A frame that is its own caller; frames that lead nowhere, back, to
	 * the end of what is mapped; and words that could be anything. */
	for (size_t i = 0; i < n; i += 2) {
		a[i] = (uint64_t)&a[i];
		a[i + 1] = (uint64_t)here + 5;
	}
	astray(a, a);
	for (size_t i = 0; i < n; i += 2)
		a[i] = (uint64_t)&a[(i + 2) % n];
	astray(a, a + 2);
	for (size_t i = 0; i < n; i++) {
		seed = seed * 6364136223846793005 + 1442695040888963407;
		a[i] = seed % 3 == 0 ? (uint64_t)a + seed % AREA :
				       (uint64_t)here - 64 + seed % 4096;
	}
	astray(a, a + 100);
	astray(a + n - 1, a + n - 1);
	astray(NULL, NULL);
	astray((void *)-8, (void *)-8);
	astray((void *)0x123456789abcdef0, a);
	return 0;
}

/* ---- a library's callback ---- */

static int
by_library(const char *path)
{
	void *h = dlopen(path, RTLD_NOW);
	int (*each)(int (*)(int)) = NULL;

	if (h != NULL)
		each = (int (*)(int (*)(int)))dlsym(h, "each");
	if (each == NULL)
		return 2;
	sink += each(here);
	dlclose(h);
	return 0;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	trigger_init();
	if (strcmp(what, "plt") == 0)
		return through_stubs("12") == 5;
	if (strcmp(what, "vdso") == 0)
		return ask_time() == 5;
	if (strcmp(what, "futex") == 0)
		return waiters() == 0;
	if (strcmp(what, "born") == 0)
		return threads() + forks() + vforks() == 5;
	if (strcmp(what, "asm") == 0)
		return call_framed() + call_frameless() == 5;
	if (strcmp(what, "wild") == 0)
		return wild();
	if (strcmp(what, "dlopen") == 0)
		return by_library(argv[2]);
	return 1;
}
