/*
 * trapaction WHAT: a program's own action on SIGTRAP, by the kernel's call
 * itself, with calls of work() between.
 *
 *	answers		what the call says and leaves in every case
 *	unseen		by syscall(2), which is not seen where it is made
 *	inherits	ignored through exec, fork, posix_spawn()
 *	asked		"SIGTRAP HANDLER FLAGS RESTORER MASK" and its end
 *	asks, ignores, changes
 *			the same again and again, until there is input: then
 *			"done wrong N told M": M times another action than its own
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "trigger.h"

struct action {
	void *handler;
	unsigned long flags;
	void *restorer;
	unsigned long mask;
};

static volatile sig_atomic_t traps;
static long wrong, told; /* told: what we did not set */
static bool unseen;

NOINLINE int
work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

/* As libraries have it, or where nobody looks for it. */
static long
rt_sigaction(const void *act, void *old, size_t size)
{
	register size_t r10 __asm__("r10") = size;
	long r;

	if (unseen) {
		r = syscall(SYS_rt_sigaction, SIGTRAP, act, old, size);
		return r < 0 ? -errno : r;
	}
	__asm__ volatile("movl $13, %%eax\n"
			 "	syscall"
			 : "=&a"(r)
			 : "D"(SIGTRAP), "S"(act), "d"(old), "r"(r10)
			 : "rcx", "r11", "memory");
	return r;
}

void restore(void);
__asm__("	nop\n"
	"restore:\n"
	"	movq $15, %rax\n"
	"	syscall\n");

static void
on_trap(int sig)
{
	traps = work(traps);
}

static void
on_other(int sig)
{
	traps = work(traps) + 9;
}

static const char *
name_of(const void *handler)
{
	return handler == (void *)SIG_DFL ? "default" :
	    handler == (void *)SIG_IGN    ? "ignored" :
	    handler == (void *)on_trap    ? "on_trap" :
	    handler == (void *)on_other   ? "on_other" :
					    "unknown";
}

static void
say(const char *step, long r)
{
	struct action now = { 0 };

	long asked = rt_sigaction(NULL, &now, 8);
	printf("%s: %ld; %ld %s flags %lx restorer %d mask %lx; traps %d\n",
	    step, r, asked, name_of(now.handler), now.flags,
	    now.restorer == (void *)restore, now.mask, traps);
}

/* Every flag that there is, and some that are not; a mask with SIGKILL. */
#define MANY_FLAGS (0xffffffffUL & ~(unsigned long)SA_RESETHAND)
#define RESTORER   0x04000000UL

static void
answers(void)
{
	struct action set = { on_trap, RESTORER, restore, 0 }, old;
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigset_t trap;

	memcpy(page, &set, sizeof(set));
	mprotect(page, 4096, PROT_READ);
	mprotect(page + 4096, 4096, PROT_NONE);
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	for (int i = 0; i < 3; i++) {
		work(i);
		say("size", rt_sigaction(&set, &old, 7));
		say("nothing", rt_sigaction(NULL, NULL, 8));
		say("unmapped", rt_sigaction((void *)16, &old, 8));
		say("hidden", rt_sigaction(page + 4096, NULL, 8));
		say("half", rt_sigaction(page + 4096 - 16, NULL, 8));
		work(i);
		say("read-only", rt_sigaction(page, page, 8));
		raise(SIGTRAP);
		work(i);
		say("no old", rt_sigaction(page, (void *)16, 8));
		raise(SIGTRAP);
		set = (struct action){ on_other, MANY_FLAGS, restore, ~0UL };
		memset(&old, 0, sizeof(old));
		say("flags", rt_sigaction(&set, &old, 8));
		printf("before: %s %lx\n", name_of(old.handler), old.flags);
		raise(SIGTRAP);
		work(i);
		/* Into the same place. */
		set = (struct action){ on_trap, RESTORER, restore, 2 };
		say("in place", rt_sigaction(&set, &set, 8));
		printf("before: %s %lx\n", name_of(set.handler), set.mask);
		/* What is pending is thrown away. */
		sigprocmask(SIG_BLOCK, &trap, NULL);
		raise(SIGTRAP);
		kill(getpid(), SIGTRAP);
		work(i);
		set.handler = (void *)SIG_IGN;
		say("ignored", rt_sigaction(&set, NULL, 8));
		sigpending(&trap);
		printf("pending %d\n", sigismember(&trap, SIGTRAP));
		work(i);
		raise(SIGTRAP);
		sigpending(&trap);
		printf("pending %d\n", sigismember(&trap, SIGTRAP));
		sigemptyset(&trap);
		sigaddset(&trap, SIGTRAP);
		sigprocmask(SIG_UNBLOCK, &trap, NULL);
		raise(SIGTRAP);
		work(i);
		set = (struct action){ on_trap, RESTORER | SA_RESETHAND,
			restore, 0 };
		say("once", rt_sigaction(&set, NULL, 8));
		raise(SIGTRAP);
		work(i);
		say("was once", 0);
		set = (struct action){ (void *)SIG_DFL, 0, NULL, 0 };
		say("default", rt_sigaction(&set, NULL, 8));
	}
}

/* Its death by the second one. */
static void
twice(void)
{
	struct action set = { on_trap, RESTORER | SA_RESETHAND | SA_NODEFER,
		restore, 0 };

	work(0);
	rt_sigaction(&set, NULL, 8);
	raise(SIGTRAP);
	say("once", 0);
	work(0);
	raise(SIGTRAP);
	say("not reached", 0);
}

static void
await(const char *what, pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	printf("%s: %x\n", what, (unsigned)status);
}

static void
spawn_vfork(char *const args[])
{
	pid_t pid = vfork();

	if (pid == 0) {
		work(0);
		execv("/proc/self/exe", args);
		_exit(9);
	}
	await("vfork", pid);
}

static void
inherits(void)
{
	char *args[] = { (char *)"trapaction", (char *)"asked", NULL };
	struct action set = { (void *)SIG_IGN, RESTORER, restore, 0 };
	pid_t pid;

	for (int i = 0; i < 2; i++) {
		work(i);
		printf("set %ld\n", rt_sigaction(&set, NULL, 8));
		work(i);
		pid = fork();
		if (pid == 0) {
			say("child", 0);
			raise(SIGTRAP);
			execv("/proc/self/exe", args);
			_exit(9);
		}
		await("fork", pid);
		if (posix_spawn(
			&pid, "/proc/self/exe", NULL, NULL, args, environ) == 0)
			await("spawn", pid);
		spawn_vfork(args);
		set.handler = (void *)on_trap;
		raise(SIGTRAP);
	}
	set.handler = (void *)SIG_IGN;
	rt_sigaction(&set, NULL, 8);
	execv("/proc/self/exe", args);
}

static void
asked(void)
{
	say("asked", work(0));
	raise(SIGTRAP);
	say("lives", work(0));
}

static bool
goes_on(void)
{
	struct pollfd p = { .fd = 0, .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

static void
is(bool right)
{
	wrong += !right;
}

static bool
is_now(const void *handler)
{
	struct sigaction now;

	return sigaction(SIGTRAP, NULL, &now) == 0 &&
	    (const void *)now.sa_handler == handler;
}

static void
asks(void)
{
	while (goes_on())
		for (int i = 0; i < 100; i++) {
			told += !is_now((void *)SIG_DFL);
			is(work(i) == i + 1);
		}
}

static void
ignores(void)
{
	signal(SIGTRAP, SIG_IGN);
	while (goes_on())
		for (int i = 0; i < 100; i++) {
			raise(SIGTRAP);
			told += !is_now((void *)SIG_IGN);
			is(work(i) == i + 1);
		}
}

/* Not by a function that is probed: SIGTRAP is blocked in there. */
static void
on_one(int sig)
{
	traps++;
}

static void
on_ten(int sig)
{
	traps += 10;
}

static void
changes(void)
{
	void (*const to[])(int) = { on_one, on_ten, SIG_IGN, SIG_DFL };

	while (goes_on())
		for (int i = 0; i < 100; i++) {
			int n = i % 4, before = traps;
			signal(SIGTRAP, to[n]);
			is(work(i) == i + 1);
			if (n < 3)
				raise(SIGTRAP);
			is(work(i) == i + 1);
			is(traps - before == (n == 0 ? 1 : n == 1 ? 10 : 0));
			told += !is_now((void *)to[n]);
		}
}

static const struct {
	const char *name;
	void (*run)(void);
	bool loops;
} whats[] = {
	{ "answers", answers, false },
	{ "twice", twice, false },
	{ "inherits", inherits, false },
	{ "asked", asked, false },
	{ "asks", asks, true },
	{ "ignores", ignores, true },
	{ "changes", changes, true },
};

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	trigger_init();
	unseen = argc > 2 && strcmp(argv[2], "unseen") == 0;
	for (size_t i = 0; i < sizeof(whats) / sizeof(*whats); i++) {
		if (strcmp(what, whats[i].name) != 0)
			continue;
		if (whats[i].loops)
			printf("ready %d\n", (int)getpid());
		whats[i].run();
		if (whats[i].loops)
			printf("done wrong %ld told %ld\n", wrong, told);
		return wrong != 0;
	}
	return 2;
}
