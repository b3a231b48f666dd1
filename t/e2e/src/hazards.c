/*
 * hazards WHAT [N]: what may go wrong when the bytes of instructions are replaced by a
 * jump, each with its own answer.  Says "ready", unless it ends by itself, answers each
 * line of its input, and says at the end how often counted() was called and how many
 * results were wrong.
 *
 *	sequence	restartable sequences that end just before a return
 *	tight		short functions without end, and coroutines that wait
 *	profile		a timer's handler looks at the stack
 *	crowded		no memory is left within reach of the code
 *	filtered	a seccomp filter refuses to map memory
 *	forks		children that are made in handlers and without a copy, a library
 *			that comes and goes, and a program that another thread executes
 *	many		N threads, with small stacks
 *	marked		a function that may be jumped to
 *	leaps		jumps through a bad pointer
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <linux/filter.h>

#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "trigger.h"

#define THREADS 4

static atomic_long calls, wrong;
static atomic_bool stopping;

NOINLINE long
counted(long n)
{
	__asm__ volatile("" ::: "memory");
	return 3 * n + 1;
}

static void
count(long n)
{
	for (long i = 0; i < n; i++)
		wrong += counted(i) != 3 * i + 1;
	calls += n;
}

static void
say(const char *word)
{
	printf("%s\n", word);
	fflush(stdout);
}

/* Answer each line of the input by what answer() does. */
static void
converse(void (*answer)(void))
{
	char line[80];

	say("ready");
	while (fgets(line, sizeof(line), stdin) != NULL) {
		answer();
		say("ok");
	}
}

static void
nothing(void)
{
}

static void
some(void)
{
	count(1000);
}

static void
threads(void *(*fn)(void *), pthread_t *t)
{
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, fn, (void *)i);
}

static void
join(pthread_t *t)
{
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

static void
timer(long usec)
{
	setitimer(
	    ITIMER_PROF, &(struct itimerval){ { 0, usec }, { 0, usec } }, NULL);
}

/* ---- restartable sequences ---- */

/* Add one to counts[processor].  The store is the last instruction of the sequence,
 * and has four bytes; the return behind it is the fifth. */
void commits(void *area, long *counts);
__asm__(".pushsection __rseq_cs, \"aw\"\n"
	".balign 32\n"
	"0: .long 0, 0\n"
	"	.quad 1f, 2f - 1f, 3f\n"
	".popsection\n"
	".text\n.globl commits\n.type commits, @function\n"
	"commits:\n"
	"	lea 0b(%rip), %rax\n"
	"	mov %rax, 8(%rdi)\n"
	"1:	mov 4(%rdi), %eax\n"
	"	mov (%rsi, %rax, 8), %rcx\n"
	"	inc %rcx\n"
	"	mov %rcx, (%rsi, %rax, 8)\n"
	"2:	ret\n"
	"	.byte 0x0f, 0xb9, 0x3d\n"
	"	.long 0x53053053\n"
	"3:	jmp commits\n"
	".size commits, . - commits\n");
_Static_assert(
    offsetof(struct rseq, rseq_cs) == 8 && offsetof(struct rseq, cpu_id) == 4,
    "as commits() has them");

static long counts[4096];
static long turns;

static void *
add(void *arg)
{
	char *area = (char *)__builtin_thread_pointer() + __rseq_offset;

	for (long i = 0; i < turns; i++)
		commits(area, counts);
	return NULL;
}

static void
sequence(void)
{
	pthread_t t[THREADS];
	long sum = 0;

	if (__rseq_size == 0) {
		say("skip: no rseq");
		return;
	}
	threads(add, t);
	join(t);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		sum += counts[i];
	wrong += sum != THREADS * turns;
}

/* ---- short functions and coroutines ---- */

/* Ten bytes each, one behind the other. */
long first(long n), second(long n), third(long n);
__asm__(".text\n"
#define TEN(name, add)                                             \
	".globl " name "\n.type " name ",@function\n" name ":\n"   \
	"mov %rdi, %rax; add $" add ", %rax; xchg %ax, %ax; ret\n" \
	".size " name ", . - " name "\n"
    TEN("first", "1") TEN("second", "2") TEN("third", "3"));

#define ROUTINES 8

static __thread ucontext_t scheduler, routines[ROUTINES];

static NOINLINE long
yields(long n, int which)
{
	long sum = first(n);

	swapcontext(&routines[which], &scheduler);
	return sum + second(n);
}

static void
routine(int which)
{
	for (long n = which;; n++)
		wrong += yields(n, which) != 2 * n + 3;
}

static void *
run_tight(void *arg)
{
	static const size_t size = 65536;
	char *stacks = malloc(ROUTINES * size);

	for (int i = 0; i < ROUTINES; i++) {
		getcontext(&routines[i]);
		routines[i].uc_stack.ss_sp = stacks + i * size;
		routines[i].uc_stack.ss_size = size;
		makecontext(&routines[i], (void (*)(void))routine, 1, i);
	}
	for (long n = 0; !stopping; n++) {
		wrong += first(n) != n + 1;
		wrong += second(n) != n + 2;
		wrong += third(n) != n + 3;
		if (n % 64 == 0)
			swapcontext(&scheduler, &routines[n / 64 % ROUTINES]);
	}
	free(stacks);
	return NULL;
}

static void
tight(void)
{
	pthread_t t[THREADS];

	threads(run_tight, t);
	converse(nothing);
	stopping = true;
	join(t);
}

/* ---- a profiler in the program ---- */

static atomic_long looks;
static void *run_profile(void *arg);

/* Is run_profile() among the callers? */
static void
on_profile(int sig)
{
	void *frames[32];
	int n = backtrace(frames, 32), found = 0;

	for (int i = 0; i < n; i++)
		found |= (uintptr_t)frames[i] - (uintptr_t)run_profile < 256;
	wrong += !found;
	looks++;
}

static NOINLINE void *
run_profile(void *arg)
{
	static char text[] = "how long is it?";
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	for (long n = 0; !stopping; n++) {
		wrong += counted(n) != 3 * n + 1;
		wrong += strlen(text) != 15;
	}
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return NULL;
}

static void
looked(void)
{
	for (long n = looks; looks < n + 200;)
		usleep(1000);
}

static void
profile(void)
{
	pthread_t t[THREADS];
	void *frame;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	sigprocmask(SIG_BLOCK, &set, NULL);
	backtrace(&frame, 1); /* loads a library */
	signal(SIGPROF, on_profile);
	threads(run_profile, t);
	timer(1000);
	converse(looked);
	stopping = true;
	join(t);
}

/* ---- no room, no right to have it ---- */

#define REACH (UINT64_C(1) << 31)

static void
fill(uint64_t from, uint64_t to)
{
	if (from < to)
		(void)!mmap((void *)from, to - from, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			MAP_FIXED_NOREPLACE,
		    -1, 0);
}

static void
crowded(void)
{
	static struct {
		uint64_t start, end;
	} maps[512];
	uint64_t text = (uintptr_t)counted & ~UINT64_C(4095);
	uint64_t at = text - REACH;
	char line[512];
	size_t n = 0;
	FILE *f = fopen("/proc/self/maps", "r");

	while (n < 512 && fgets(line, sizeof(line), f) != NULL)
		n += sscanf(line, "%lx-%lx", &maps[n].start, &maps[n].end) == 2;
	fclose(f);
	for (size_t i = 0; i < n; i++) {
		if (maps[i].end <= at || maps[i].start >= text + REACH)
			continue;
		fill(at, maps[i].start);
		at = maps[i].end;
	}
	fill(at, text + REACH);
	converse(some);
}

static void
filtered(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(*code), code };

	say("begins"); /* what the C library maps for its output is mapped */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != 0)
		say("skip: no filters");
	converse(some);
}

/* ---- children, a library, another program ---- */

static char self[256];
static atomic_int forked;

/* Its copy of the code of sites does no harm; it is followed, and counted. */
static void
on_fork(int sig)
{
	if (forked >= 20)
		return;
	forked++;
	pid_t pid = fork();
	if (pid == 0) {
		alarm(60);
		long n = counted(1) + counted(2);
		_exit(n != 11);
	}
	int status = 1;
	wrong += waitpid(pid, &status, 0) != pid || status != 0;
	calls += 2;
}

/* It uses the memory and the stack of its maker, who waits. */
static NOINLINE void
share(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		counted(1);
		_exit(0);
	}
	wrong += waitpid(pid, NULL, 0) != pid;
	calls++;
}

static void
load(void)
{
	void *lib = dlopen("libdlo.so", RTLD_NOW);
	long (*fn)(long) =
	    lib != NULL ? (long (*)(long))dlsym(lib, "from_ctor") : NULL;

	wrong += fn == NULL || fn(2) != 6;
	if (lib != NULL)
		dlclose(lib);
}

static void *
run_counts(void *arg)
{
	while (!stopping)
		count(100);
	return NULL;
}

/* When all others wait. */
static void *
run_exec(void *arg)
{
	char sofar[40];

	snprintf(sofar, sizeof(sofar), "%ld", calls + wrong * 1000000000);
	execl(self, self, "executed", sofar, (char *)NULL);
	abort();
}

static void
forks(void)
{
	struct sigaction sa = { .sa_handler = on_fork, .sa_flags = SA_RESTART };
	pthread_t t[THREADS];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	wrong += n < 0;
	sigaction(SIGPROF, &sa, NULL);
	threads(run_counts, t);
	timer(5000);
	for (int i = 0; i < 20 || forked < 20; i++) {
		share();
		load();
	}
	timer(0);
	stopping = true;
	join(t);
	pthread_create(t, NULL, run_exec, NULL);
	pthread_join(*t, NULL);
}

/* ---- many threads ---- */

static pthread_barrier_t begins, ends;

static void *
run_many(void *arg)
{
	while (pthread_barrier_wait(&begins), !stopping) {
		for (long i = 0; i < turns; i++)
			wrong += counted(i) != 3 * i + 1;
		pthread_barrier_wait(&ends);
	}
	return NULL;
}

static long nmany;

static void
all_of_them(void)
{
	pthread_barrier_wait(&begins);
	pthread_barrier_wait(&ends);
	calls += nmany * turns;
}

static void
many(void)
{
	pthread_t *t = calloc((size_t)nmany, sizeof(*t));
	pthread_attr_t attr;

	turns = 20;
	pthread_barrier_init(&begins, NULL, (unsigned)nmany + 1);
	pthread_barrier_init(&ends, NULL, (unsigned)nmany + 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (long i = 0; i < nmany; i++)
		if (pthread_create(&t[i], &attr, run_many, NULL) != 0)
			exit(4);
	converse(all_of_them);
	stopping = true;
	pthread_barrier_wait(&begins);
	for (long i = 0; i < nmany; i++)
		pthread_join(t[i], NULL);
}

/* ---- an entry that indirect jumps may lead to ---- */

long marked(long n);
__asm__(".text\n.globl marked\n.type marked, @function\n"
	"marked: endbr64; lea 1(%rdi, %rdi, 2), %rax; ret\n"
	".size marked, . - marked\n");

/* Its first five bytes as they are now. */
static void
bytes(void)
{
	const unsigned char *p = (const unsigned char *)marked;

	wrong += marked(2) != 7;
	printf("%02x %02x %02x %02x %02x\n", p[0], p[1], p[2], p[3], p[4]);
}

/* ---- bad pointers ---- */

static sigjmp_buf back;
static uint64_t fault_pc;

NOINLINE void
leaps(uint64_t to)
{
	__asm__ volatile("jmp *%0" ::"r"(to));
}

static void
on_fault(int sig, siginfo_t *si, void *uc)
{
	fault_pc = (uint64_t)((ucontext_t *)uc)->uc_mcontext.gregs[REG_RIP];
	siglongjmp(back, 1);
}

static void
leap(void)
{
	struct sigaction sa = { .sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &sa, NULL);
	if (sigsetjmp(back, 1) == 0)
		leaps(UINT64_C(1) << 60);
	wrong += fault_pc - (uintptr_t)leaps > 16;
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} all[] = { { "sequence", sequence }, { "tight", tight },
		{ "profile", profile }, { "crowded", crowded },
		{ "filtered", filtered }, { "forks", forks },
		{ "many", many } };

	trigger_init();
	if (argc > 2)
		turns = nmany = atol(argv[2]);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (strcmp(argv[1], all[i].name) == 0)
			all[i].fn();
	if (strcmp(argv[1], "marked") == 0)
		converse(bytes);
	if (strcmp(argv[1], "leaps") == 0)
		converse(leap);
	if (strcmp(argv[1], "executed") == 0) {
		calls = turns;
		count(1000);
	}
	printf("calls %ld wrong %ld\n", (long)calls, (long)wrong);
	return wrong != 0;
}
