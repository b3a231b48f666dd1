/*
 * backs THREADS CALLS [SIGNALS | step]: threads call functions whose returns have no room
 * for a jump but before them, or none at all near padding, one that begins with a call, and some that are so short
 * that entry and return have room for one jump, each CALLS times; or, if that is 0,
 * until the input ends.  A timer sends SIGNALS signals a second; with `step', each
 * thread steps from instruction to instruction, by the trap flag.  With CALLS, handlers look whether
 * they have interrupted the program's own code: also the one for a bad pointer, which
 * is read just before a return.  (When a tracer was killed they see other code until
 * the next one.)  Says how often the functions were called, whether anything was
 * wrong, and without CALLS whether their code is what it was.
 */
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

#include "trigger.h"

/* Nothing lies between these functions. */
long pops(long n), adds(long n), frames(long n), branches(long n);
long loads(const long *p), outer(long n);
/* Of 1 to 10 bytes; padding is behind some. */
long gets_it(const long *p), sets_it(long *p, long n), seven(void);
long landed(void), sums(long n, long m), keeps(long n);
long reads(const long *p), reads_late(const long *p);
void empty(void);
long jumps_in(long n), copies(long n), shorts(long n), skips(long n);
int spins(const int *p, int n);
extern const char backs_begin[], backs_end[];
__asm__(".text\n.globl backs_begin\nbacks_begin:\n"
	"0: jmp 0b\n"
#define FUNC(name) ".globl " name "\n.type " name ",@function\n" name ":\n"
#define END(name)  ".size " name ",.-" name "\n"
    FUNC("pops") "push %rbx; push %rbp; push %r12\n"
		 "mov %rdi, %rbx; lea 3(%rbx), %rax; nop\n"
		 "pop %r12; pop %rbp; pop %rbx; ret\n" END("pops")
    /* five bytes */
    FUNC("adds") "sub $24, %rsp; mov %rdi, (%rsp); mov (%rsp), %rax\n"
		 "inc %rax; add $24, %rsp; ret\n" END("adds")
    /* The jump ends before the return. */
    FUNC("frames") "push %rbx; sub $0x108, %rsp; lea (%rdi, %rdi), %rbx\n"
		   "mov %rbx, %rax; add $0x108, %rsp; pop %rbx; ret\n" END(
		       "frames")
    /* Past a jump that is not taken mostly, and where it leads to. */
    FUNC("branches") "mov %rdi, %rax; nopl (%rax); and $63, %edi; je 1f; ret\n"
		     "1: neg %rax; ret\n" END("branches")
			 FUNC("loads") "xor %eax, %eax; nopl (%rax)\n"
				       "mov 16(%rdi), %rax; ret\n" END("loads")
    /* Begins with a call. */
    FUNC("outer") "sub $8, %rsp; call inner; add $8, %rsp; ret\n" END("outer")
	FUNC("inner") "lea 5(%rdi), %rax; nop; ret\n" END("inner"));
/* clang-format off */
__asm__(
    /* The jump of the entry ends behind the return, or in front of it. */
    FUNC("sums") "lea (%rdi, %rsi), %rax; ret\n" END("sums")
    FUNC("keeps") "push %rbx; mov %rdi, %rbx; lea 1(%rbx), %rax\n"
		  "pop %rbx; ret\n" END("keeps")
    FUNC("reads") "mov 16(%rdi), %rax; ret\n" END("reads")
    /* A fault in the middle, where it has to leave the code. */
    FUNC("reads_late") "nop; mov 16(%rdi), %rax; ret\n" END("reads_late")
    FUNC("sets_it") "mov %rsi, (%rdi); mov %rsi, %rax; ret\n" END("sets_it")
    FUNC("seven") "mov $7, %eax; ret\n" END("seven")
    ".p2align 4\n"
    FUNC("gets_it") "mov (%rdi), %rax; ret\n" END("gets_it") ".p2align 4\n"
    FUNC("empty") "ret\n" END("empty") ".p2align 4\n"
    FUNC("landed") "endbr64; ret\n" END("landed") ".p2align 4\n"
    /* Where two bytes have room for a jump, and five do not; padding is near by. */
    FUNC("jumps_in") "mov %rdi, %rax; inc %rax; jmp 2f\n" END("jumps_in")
    ".nops 16\n"
    FUNC("copies") "mov %rdi, %rax\n2: add $2, %rax; ret\n" END("copies")
    ".nops 16\n"
    FUNC("shorts") "test $1, %dil; jne 1f\n2: xor %eax, %eax; ret\n"
		   "1: test $2, %dil; je 2b; lea 1(%rdi), %rax; ret\n" END(
		       "shorts")
    ".nops 16\n"
    FUNC("skips") "mov %rdi, %rax; test $1, %al; jne 1f\n2: ret; nop\n"
		  "1: inc %rax; jmp 2b\n" END("skips")
    ".nops 16\n"
    FUNC("spins") "mov (%rdi), %eax\n2: dec %esi; jne 2b; ret\n" END("spins")
    ".nops 16\n"
    "0: jmp 0b; nop; nop; nop; nop\n"
    ".globl backs_end\nbacks_end:\n");
/* clang-format on */

static struct {
	uintptr_t start, end;
} code[64];
static unsigned ncode;
static atomic_long wrong, handlers, faults, calls_made;
static atomic_int stopping;
static atomic_long steps; /* within the functions */
static bool steps_by_flag;
static long calls;
static const long good[3] = { 1, 2, 3 };
static const int one = 1;

static int
each_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || ncode == 64)
			continue;
		code[ncode].start = info->dlpi_addr + p->p_vaddr;
		code[ncode].end = code[ncode].start + p->p_memsz;
		ncode++;
	}
	return 0;
}

/* Is it in the padding before the function? */
static int
is_before(uintptr_t pc, const void *function)
{
	return (uintptr_t)function - pc - 1 < 16;
}

static int
is_code(uintptr_t pc)
{
	if (is_before(pc, (const void *)copies) ||
	    is_before(pc, (const void *)shorts) ||
	    is_before(pc, (const void *)skips) ||
	    is_before(pc, (const void *)spins))
		return 0;
	for (unsigned i = 0; i < ncode; i++)
		if (pc >= code[i].start && pc < code[i].end)
			return 1;
	return 0;
}

static uintptr_t
pc_of(void *uc)
{
	return (uintptr_t)((ucontext_t *)uc)->uc_mcontext.gregs[REG_RIP];
}

static void
on_time(int sig, siginfo_t *si, void *uc)
{
	handlers++;
	if (calls > 0 && !is_code(pc_of(uc)))
		wrong++;
	/* Hits within the handler. */
	if (adds(handlers) < 0)
		wrong++;
	calls_made++;
}

/* The pointer was bad: go on with a good one. */
static void
on_fault(int sig, siginfo_t *si, void *uc)
{
	faults++;
	uintptr_t pc = pc_of(uc);
	if ((calls > 0 && pc != (uintptr_t)loads + 5 &&
		pc != (uintptr_t)reads && pc != (uintptr_t)reads_late + 1 &&
		pc != (uintptr_t)spins) ||
	    (si->si_addr != (void *)16 &&
		(si->si_addr != NULL || (calls > 0 && pc != (uintptr_t)spins))))
		wrong++;
	((ucontext_t *)uc)->uc_mcontext.gregs[REG_RDI] = (greg_t)good;
}

/* Set or clear the trap flag. */
static void
step(uint64_t flag)
{
	if (steps_by_flag)
		__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq\n"
				 "andq $~0x100, (%%rsp); orq %0, (%%rsp)\n"
				 "popfq; lea 128(%%rsp), %%rsp" ::"r"(flag)
				 : "memory", "cc");
}

static void
on_step(int sig, siginfo_t *si, void *uc)
{
	steps += pc_of(uc) - (uintptr_t)backs_begin <
	    (uintptr_t)(backs_end - backs_begin);
	if (!steps_by_flag || !is_code(pc_of(uc)))
		wrong++;
	if (!steps_by_flag)
		fprintf(stderr, "backs: SIGTRAP, code %d, at %#lx\n",
		    si->si_code, (unsigned long)pc_of(uc));
}

static void *
run(void *arg)
{
	long n;

	step(0x100);
	for (n = 0; calls > 0 ? n < calls : !stopping; n++) {
		wrong += pops(n) != n + 3;
		wrong += adds(n) != n + 1;
		wrong += frames(n) != 2 * n;
		wrong += branches(n) != (n % 64 != 0 ? n : -n);
		wrong += outer(n) != n + 5;
		const long *p = n % 1000 == 7 ? NULL : good;
		wrong += loads(p) != 3;
		wrong += reads(p) != 3;
		wrong += reads_late(p) != 3;
		long own = n;
		wrong += gets_it(&own) != n;
		wrong += sets_it(&own, n + 9) != n + 9 || own != n + 9;
		wrong += seven() != 7;
		wrong += sums(n, 2) != n + 2;
		wrong += keeps(n) != n + 1;
		empty();
		landed();
		wrong += copies(n) != n + 2 || jumps_in(n) != n + 3;
		wrong += shorts(n) != (n % 4 == 3 ? n + 1 : 0);
		wrong += skips(n) != n + n % 2;
		wrong += spins(n % 1000 == 7 ? NULL : &one, 2) != 1;
	}
	step(0);
	calls_made += n;
	return NULL;
}

int
main(int argc, char **argv)
{
	const size_t size = (size_t)(backs_end - backs_begin);
	long nthreads = atol(argv[1]), signals = argc > 3 ? atol(argv[3]) : 0;
	struct sigaction sa = { .sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO };
	pthread_t threads[16];
	static char was[4096];

	trigger_init();
	steps_by_flag = argc > 3 && strcmp(argv[3], "step") == 0;
	calls = atol(argv[2]);
	memcpy(was, backs_begin, size);
	dl_iterate_phdr(each_object, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	sa.sa_sigaction = on_time;
	sa.sa_flags |= SA_RESTART;
	sigaction(SIGPROF, &sa, NULL);
	sa.sa_sigaction = on_step;
	sigaction(SIGTRAP, &sa, NULL);
	if (signals > 0)
		setitimer(ITIMER_PROF,
		    &(struct itimerval){
			{ 0, 1000000 / signals }, { 0, 1000000 / signals } },
		    NULL);
	for (long i = 0; i < nthreads; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	if (calls == 0) {
		printf("ready\n");
		fflush(stdout);
		while (getchar() != EOF)
			;
		stopping = 1;
	}
	for (long i = 0; i < nthreads; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_PROF, &(struct itimerval){ { 0, 0 }, { 0, 0 } }, NULL);
	if (calls == 0) {
		wrong += memcmp(was, backs_begin, size) != 0;
		printf("done wrong %ld\n", (long)wrong);
		return 0;
	}
	static const char *const names[] = { "pops", "adds", "frames",
		"branches", "loads", "outer", "gets_it", "sets_it", "seven",
		"sums", "keeps", "reads", "reads_late", "empty", "landed",
		"shorts", "skips", "spins" };
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		long n = nthreads * calls + (i == 1 ? (long)handlers : 0);
		printf(
		    "%s entry %ld\n%s return %ld\n", names[i], n, names[i], n);
	}
	printf("copies entry %ld\njumps_in entry %ld\n", nthreads * calls,
	    nthreads * calls);
	printf("steps %d\nfaults %ld\nwrong %ld\n",
	    steps >= 10 * nthreads * calls, (long)faults, (long)wrong);
	return 0;
}
