/* Control that does not come back the way it went. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unwind.h>

#include "behave.h"

static jmp_buf env;
static volatile int count;

NOINLINE int
deep(int n)
{
	if (n == 0 && work(0) == 1)
		longjmp(env, 1);
	if (n < 0)
		return 0;
	return deep(n - 1) + 1;
}

static int
longjmps(void)
{
	for (volatile int i = 0; i < 100; i++)
		if (setjmp(env) == 0)
			deep(i % 10);
		else
			count = work(count);
	printf("jumps %d\n", count);
	return 0;
}

static ucontext_t contexts[3], home;
static volatile int trace[64], trace_len;

NOINLINE void
coroutine(int me)
{
	for (int i = 0; i < 50; i++) {
		work(i);
		if (trace_len < 64)
			trace[trace_len++] = me;
		swapcontext(&contexts[me], &contexts[(me + 1) % 3]);
	}
}

static int
coroutines(void)
{
	static char stacks[3][65536];

	for (int i = 0; i < 3; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[i];
		contexts[i].uc_stack.ss_size = sizeof(stacks[i]);
		contexts[i].uc_link = &home;
		makecontext(&contexts[i], (void (*)(void))coroutine, 1, i);
	}
	swapcontext(&home, &contexts[0]);
	for (int i = 0; i < trace_len; i++)
		printf("%d", trace[i]);
	printf("\n");
	return 0;
}

/* A function that goes on on another stack by its own hand. */
static char other_stack[65536] __attribute__((aligned(16)));

NOINLINE long
on_stack(char *top, long (*fn)(long), long arg)
{
	long r;

	__asm__ volatile("mov %%rsp, %%rbx\n\t"
			 "mov %1, %%rsp\n\t"
			 "call *%2\n\t"
			 "mov %%rbx, %%rsp"
			 : "=a"(r), "+r"(top), "+r"(fn), "+D"(arg)
			 :
			 : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11",
			 "memory", "cc");
	return r;
}

static long
hot_there(long n)
{
	return hot((int)n);
}

static int
split_stacks(void)
{
	long sum = 0;

	for (int i = 0; i < 50; i++)
		sum +=
		    on_stack(other_stack + sizeof(other_stack), hot_there, 20);
	printf("sum %ld\n", sum);
	return 0;
}

/* Unwinding by the language's runtime, as exceptions do it. */
static struct _Unwind_Exception exception;

static _Unwind_Reason_Code
stop_fn(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
    struct _Unwind_Exception *e, struct _Unwind_Context *context, void *arg)
{
	count = work(count);
	if (_Unwind_GetCFA(context) > (_Unwind_Word)arg ||
	    (actions & _UA_END_OF_STACK) != 0)
		longjmp(env, 1);
	return _URC_NO_REASON;
}

static void
on_leave(int *p)
{
	*p = work(*p);
}

static volatile int left;

NOINLINE int
unwound(int n, void *frame)
{
	__attribute__((cleanup(on_leave))) int guard = n;

	if (n == 0)
		_Unwind_ForcedUnwind(&exception, stop_fn, frame);
	left = work(left);
	if (n < 0)
		return 0;
	int r = unwound(n - 1, frame) + guard;
	return r;
}

static int
unwinds(void)
{
	for (volatile int i = 0; i < 20; i++)
		if (setjmp(env) == 0)
			unwound(i % 5, __builtin_frame_address(0));
	printf("steps %d entered %d\n", count > 0, left);
	return 0;
}

NOINLINE long
fib(long n)
{
	return n < 2 ? work((int)n) - 1 : fib(n - 1) + fib(n - 2);
}

static int
recursion(void)
{
	printf("fib %ld\n", fib(12));
	return 0;
}

/* Flags, the red zone and vector registers around a hit. */
NOINLINE long
registers(void)
{
	long wrong = 0;

	__asm__ volatile("movq $0x1234567, -8(%%rsp)\n\t"
			 "movq $0x7654321, -128(%%rsp)\n\t"
			 "pcmpeqd %%xmm5, %%xmm5\n\t"
			 "std\n\t"
			 "stc\n\t"
			 "nop\n\t"
			 "jc 1f\n\t"
			 "inc %0\n\t"
			 "1: cld\n\t"
			 "cmpq $0x1234567, -8(%%rsp)\n\t"
			 "je 2f\n\t"
			 "inc %0\n\t"
			 "2: cmpq $0x7654321, -128(%%rsp)\n\t"
			 "je 3f\n\t"
			 "inc %0\n\t"
			 "3: pmovmskb %%xmm5, %%eax\n\t"
			 "cmp $0xffff, %%eax\n\t"
			 "je 4f\n\t"
			 "inc %0\n\t"
			 "4:"
			 : "+r"(wrong)::"rax", "xmm5", "cc", "memory");
	return wrong;
}

static int
state(void)
{
	long wrong = 0;

	for (int i = 0; i < 200; i++)
		wrong += registers();
	printf("wrong %ld\n", wrong);
	return 0;
}

/* The vDSO, and the page that came before it. */
static int
vdso(void)
{
	struct timespec ts, before;
	int back = 0;

	clock_gettime(CLOCK_MONOTONIC, &before);
	for (int i = 0; i < 500; i++) {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		if (ts.tv_sec < before.tv_sec ||
		    (ts.tv_sec == before.tv_sec && ts.tv_nsec < before.tv_nsec))
			back++;
		before = ts;
		work(i);
	}
	printf("back %d\n", back);
	return 0;
}

/* A restartable sequence that counts on the processor it runs on: what was
 * interrupted begins anew, and nothing is counted twice. */
#if defined(__x86_64__) && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>

static long counts[4096];

NOINLINE int
rseq_add(struct rseq *area, long *base)
{
	int done = 0;

	__asm__ volatile(".pushsection __rseq_cs, \"aw\"\n\t"
			 ".balign 32\n\t"
			 "3: .long 0, 0\n\t"
			 ".quad 1f, (2f - 1f), 4f\n\t"
			 ".popsection\n\t"
			 "lea 3b(%%rip), %%rax\n\t"
			 "mov %%rax, %c[cs](%[area])\n\t"
			 "1: mov %c[cpu](%[area]), %%eax\n\t"
			 "mov (%[base], %%rax, 8), %%rcx\n\t"
			 "nopl (%%rax)\n\t"
			 "inc %%rcx\n\t"
			 "mov %%rcx, (%[base], %%rax, 8)\n\t"
			 "2: movl $1, %[done]\n\t"
			 "jmp 5f\n\t"
			 ".byte 0x0f, 0xb9, 0x3d\n\t"
			 ".long 0x53053053\n\t"
			 "4: movl $0, %[done]\n\t"
			 "5:"
			 : [done] "+r"(done)
			 : [area] "r"(area), [base] "r"(base),
			 [cs] "i"(offsetof(struct rseq, rseq_cs)),
			 [cpu] "i"(offsetof(struct rseq, cpu_id))
			 : "rax", "rcx", "memory", "cc");
	return done;
}

static void *
rseq_thread(void *arg)
{
	struct rseq *area =
	    (void *)((char *)__builtin_thread_pointer() + __rseq_offset);

	for (int i = 0; i < 500; i++) {
		while (!rseq_add(area, counts))
			;
		work(i);
	}
	return NULL;
}

static int
sequences(void)
{
	pthread_t t[4];
	long sum = 0;

	if (__rseq_size == 0) {
		errno = ENOSYS;
		return skip("rseq");
	}
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, rseq_thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		sum += counts[i];
	printf("counted %ld\n", sum);
	return 0;
}
#else
static int
sequences(void)
{
	errno = ENOSYS;
	return skip("rseq");
}
#endif

/* A library goes while a thread is inside of it: not unmapped, as it holds a
 * reference of its own; and comes again. */
static volatile int inside, leave;

typedef long lib_fn(long);

static char library[256];

static void *
inside_thread(void *arg)
{
	void *lib = dlopen(library, RTLD_NOW);
	lib_fn *fn = lib != NULL ? (lib_fn *)dlsym(lib, "from_ctor") : NULL;

	if (fn == NULL)
		return NULL;
	inside = 1;
	for (long i = 0; !leave || i < 100; i++)
		if (fn(i) == 3 * i)
			count = work(count);
	dlclose(lib);
	return lib;
}

static int
libraries(void)
{
	pthread_t t;
	void *r;

	ssize_t n = readlink("/proc/self/exe", library, sizeof(library) - 20);
	if (n < 0)
		return skip("readlink");
	library[n] = '\0';
	strcpy(strrchr(library, '/') + 1, "libdlo.so");
	for (int i = 0; i < 5; i++) {
		void *lib = dlopen(library, RTLD_NOW);
		if (lib == NULL) {
			printf("%s\n", dlerror());
			return 1;
		}
		inside = leave = 0;
		pthread_create(&t, NULL, inside_thread, NULL);
		while (!inside)
			work(1);
		dlclose(lib);
		hot(20);
		leave = 1;
		pthread_join(t, &r);
		printf("round %d: %s\n", i, r != NULL ? "done" : "no library");
	}
	return 0;
}

const struct behaviour behave_flow[] = {
	{ "longjmps", longjmps },
	{ "coroutines", coroutines },
	{ "split-stacks", split_stacks },
	{ "unwinds", unwinds },
	{ "recursion", recursion },
	{ "state", state },
	{ "vdso", vdso },
	{ "sequences", sequences },
	{ "libraries", libraries },
	{ 0 },
};
