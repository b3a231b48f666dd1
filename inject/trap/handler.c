/*
 * SIGTRAP's handler in a target.
 *
 * As long as the tracer lives it sees every SIGTRAP first and delivers only
 * those that are the program's own: they are handed on.  When it has been
 * killed, an int3 of its comes here.  The byte that belongs there is put back,
 * through /proc/self/mem as text is not writable, and the thread goes on from
 * the instruction.
 *
 *	si_code TRAP_DONE	the tracer was about to let the thread go on:
 *				with these registers, if they are set already
 *	pc in a slot		the same; slots need no mark
 *	int3 of ours		the byte back, pc back
 *	TRAP_HWBKPT		a debug register that the tracer has left
 *	else			the program's own
 *
 * No libc, no data but the area, no stack to speak of: it runs on whatever
 * stack signals run on, in threads of any runtime.
 */
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#include "inject/trap/area.h"

#define INT3       0xcc
#define PAGE       4096UL

#define NR_open    2
#define NR_close   3
#define NR_mprot   10
#define NR_action  13
#define NR_pread   17
#define NR_pwrite  18
#define NR_yield   24
#define NR_getpid  39
#define NR_gettid  186
#define NR_tgkill  234
#define O_RDWR_CLX 02000002
#define PROT_RX    5
#define PROT_RWX   7

/* include/uapi/asm-generic/siginfo.h; not every <signal.h> has them here. */
#define CODE_KERNEL 0x80
#define CODE_HWBKPT 4

void trap_handle(int sig, siginfo_t *si, void *ucontext);
extern void trap_restore(void);

/* The linker puts it at 0, and the numbers are offsets. */
__attribute__((section(".area"), used)) struct trap_area trap_area = {
	.magic = TRAP_MAGIC,
	.handler = (uint64_t)&trap_handle,
	.restorer = (uint64_t)&trap_restore,
};

/* These bytes are how unwinders know a signal's frame. */
asm(".pushsection .text\n"
    "	.globl trap_restore\n"
    "	.hidden trap_restore\n"
    "	.type trap_restore, @function\n"
    "	nop\n" /* they look one byte before the return address */
    "trap_restore:\n"
    "	movq $15, %rax\n"
    "	syscall\n"
    "	.size trap_restore, . - trap_restore\n"
    ".popsection\n");

static long
sys(long nr, long a, long b, long c, long d)
{
	register long r10 asm("r10") = d;
	long ret;

	asm volatile("syscall"
		     : "=a"(ret)
		     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
		     : "rcx", "r11", "memory");
	return ret;
}

/* The entry for an int3 at addr, or for slots around it. */
static const struct trap_entry *
find(uint64_t addr, enum trap_kind kind)
{
	const struct trap_area *a = &trap_area;

	for (;;) {
		const struct trap_entry *e =
		    (const void *)((uintptr_t)a + a->first);
		for (uint32_t i = a->count; i-- > 0;)
			if (e[i].kind == kind &&
			    (kind == TRAP_TEXT ? e[i].addr == addr :
						 addr - e[i].addr < e[i].size))
				return &e[i];
		if (a->next == 0)
			return NULL;
		a = (const void *)a->next;
	}
}

/* Somebody else, the guardian say, may have been quicker. */
static void
heal(const struct trap_entry *e)
{
	static const char mem[] = "/proc/self/mem";
	volatile uint8_t *at = (volatile uint8_t *)e->addr;
	uint8_t saved = e->saved;
	long page = (long)(e->addr & ~(PAGE - 1));

	if (*at != INT3)
		return;
	long fd = sys(NR_open, (long)mem, O_RDWR_CLX, 0, 0);
	if (fd >= 0) {
		sys(NR_pwrite, fd, (long)&saved, 1, (long)e->addr);
		sys(NR_close, fd, 0, 0, 0);
		if (*at != INT3)
			return;
	}
	/* No /proc here, or no descriptors. */
	if (sys(NR_mprot, page, PAGE, PROT_RWX, 0) == 0) {
		*at = saved;
		sys(NR_mprot, page, PAGE, PROT_RX, 0);
		return;
	}
	/* Not allowed: it traps again until the guardian has been. */
	sys(NR_yield, 0, 0, 0, 0);
}

/* As if we were not here.  The default is to die of it, which is done by the
 * same signal once more, after the return. */
static void
hand_on(int sig, siginfo_t *si, void *ucontext)
{
	const uint64_t none[4] = { 0 };
	uint64_t old = trap_area.old_handler;

	if (old > 1) {
		((void (*)(int, siginfo_t *, void *))old)(sig, si, ucontext);
		return;
	}
	/* A forced one does not care that it is ignored. */
	if (old == 1 && si->si_code <= 0)
		return;
	sys(NR_action, sig, (long)none, 0, 8);
	sys(NR_tgkill, sys(NR_getpid, 0, 0, 0, 0), sys(NR_gettid, 0, 0, 0, 0),
	    sig, 0);
}

void
trap_handle(int sig, siginfo_t *si, void *ucontext)
{
	ucontext_t *uc = ucontext;
	greg_t *rip = &uc->uc_mcontext.gregs[REG_RIP];
	uint64_t pc = (uint64_t)*rip;
	const struct trap_entry *e;

	if (si->si_code == CODE_HWBKPT)
		return;
	if (si->si_code == CODE_KERNEL || si->si_code == TRAP_DONE) {
		if (si->si_code == TRAP_DONE &&
		    (uint64_t)si->si_value.sival_ptr == pc)
			return;
		if (find(pc, TRAP_SLOTS) != NULL)
			return;
		e = find(pc - 1, TRAP_TEXT);
		if (e != NULL) {
			heal(e);
			*rip = (greg_t)(pc - 1);
			return;
		}
	}
	hand_on(sig, si, ucontext);
}
