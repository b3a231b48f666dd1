/*
 * SIGTRAP's handler in a target.
 *
 * As long as the tracer lives it sees every SIGTRAP first and delivers only
 * those that are the program's own: they are handed on.  When it has been
 * killed, an int3 of its comes here.  The bytes that belong there and in all
 * other places are put back, through /proc/self/mem as text is not writable, and
 * the thread goes on from the instruction.
 *
 *	si_code TRAP_DONE	the tracer was about to let the thread go on:
 *				with these registers, if they are set already
 *	pc in a slot		the same; slots need no mark
 *	int3 of ours		all bytes back, pc back, unless it is before it
 *	TRAP_HWBKPT		a debug register that the tracer has left
 *	else			the program's own
 *
 * One case more: the thread was in a system call that a stop of ours has broken
 * off, and was about to make it again by restart_syscall(2).  rt_sigreturn(2)
 * makes that one end with EINTR (restart_block in kernel/signal.c), so it is not
 * by this that the handler returns then: call_again().
 *
 * No libc, no data but the area, no stack to speak of: it runs on whatever
 * stack signals run on, in threads of any runtime.
 */
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

#include "inject/trap/area.h"

#define PAGE       4096UL

#define NR_open    2
#define NR_close   3
#define NR_poll    7
#define NR_mprot   10
#define NR_action  13
#define NR_mask    14
#define NR_pread   17
#define NR_pwrite  18
#define NR_yield   24
#define NR_getpid  39
#define NR_gettid  186
#define NR_dents   217
#define NR_restart 219
#define NR_tgkill  234
#define O_RDWR_CLX 02000002
#define O_CLX      02000000
#define O_DIR_CLX  02200000
#define PROT_RX    5
#define PROT_RWX   7

/* include/uapi/asm-generic/siginfo.h; not every <signal.h> has them here. */
#define CODE_KERNEL 0x80
#define CODE_HWBKPT 4
/* SS_AUTODISARM of include/uapi/linux/signal.h. */
#define SS_DISARM (1U << 31)
/* Of what is in the frame behind the registers that FXSAVE knows. */
#define SW_BYTES 464
#define SW_MAGIC 0x46505853

uint64_t trap_look(int sig, const siginfo_t *si, ucontext_t *uc);
extern void trap_handle(void);
extern void trap_restore(void);

/* The linker puts it at 0, and the numbers are offsets. */
__attribute__((section(".area"), used)) struct trap_area trap_area = {
	.magic = TRAP_MAGIC,
	.handler = (uint64_t)&trap_handle,
	.restorer = (uint64_t)&trap_restore,
};

/*
 * The program's own handler is jumped to, as if the kernel had called it: the
 * area may be unmapped while it runs, and backtraces do not show us.
 */
asm(".pushsection .text\n"
    "	.globl trap_handle\n"
    "	.hidden trap_handle\n"
    "	.type trap_handle, @function\n"
    "trap_handle:\n"
    "	pushq %rdi\n"
    "	pushq %rsi\n"
    "	pushq %rdx\n"
    "	call trap_look\n"
    "	popq %rdx\n"
    "	popq %rsi\n"
    "	popq %rdi\n"
    "	testq %rax, %rax\n"
    "	jz 1f\n"
    "	jmp *%rax\n"
    "1:	ret\n"
    "	.size trap_handle, . - trap_handle\n"
    ".popsection\n");

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

enum heal { HEAL_MOST, HEAL_LATE, FIND_LATE };

/* Places of a chunk, the last first.  What is not mapped any more is not looked
 * at.  True: some were ours to put back, or are there. */
static bool
heal_chunk(long mem, const struct trap_area *a, enum heal how)
{
	const struct trap_entry *begin =
	    (const void *)((uintptr_t)a + a->first);
	bool healed = false;
	uint8_t byte = 0;

	for (const struct trap_entry *e = begin + a->count; e-- > begin;)
		if (e->kind == TRAP_TEXT &&
		    (e->late != 0) == (how != HEAL_MOST) &&
		    sys(NR_pread, mem, (long)&byte, 1, (long)e->addr) == 1 &&
		    byte == INT3)
			healed |= how == FIND_LATE ||
			    sys(NR_pwrite, mem, (long)&e->saved, 1,
				(long)e->addr) == 1;
	return healed;
}

static bool
heal_places(long mem, enum heal how)
{
	const struct trap_area *a = &trap_area;
	bool healed = heal_chunk(mem, a, how);

	while (a->next != 0) {
		a = (const void *)a->next;
		healed |= heal_chunk(mem, a, how);
	}
	return healed;
}

/* "dir/123/stat" to path, whose begin is `dir/'; name is a number. */
static void
path_of_thread(char *path, const char *name)
{
	static const char file[] = "/stat";

	while ((*path = *name++) != '\0')
		path++;
	for (unsigned i = 0; i < sizeof(file); i++)
		path[i] = file[i];
}

/* The bits of a decimal number at *p, which is moved behind it. */
static uint64_t
number(const char **p)
{
	uint64_t n = 0;

	while (**p >= '0' && **p <= '9')
		n = 10 * n + (uint64_t)(*(*p)++ - '0');
	return n;
}

/* Has the thread a SIGTRAP pending that it lets in?  Fields 31 and 32 of its
 * stat. */
static bool
is_latecomer(const char *path)
{
	const uint64_t bit = 1 << (SIGTRAP - 1);
	char text[400];
	const char *p = text, *name_end = text;
	long fd = sys(NR_open, (long)path, O_CLX, 0, 0);

	if (fd < 0)
		return false;
	long n = sys(NR_pread, fd, (long)text, sizeof(text) - 1, 0);
	sys(NR_close, fd, 0, 0, 0);
	text[n > 0 ? n : 0] = '\0';
	for (; *p != '\0'; p++)
		if (*p == ')')
			name_end = p;
	p = name_end; /* of field 2 */
	for (int field = 2; *p != '\0' && field < 31; p++)
		field += *p == ' ';
	bool pending = (number(&p) & bit) != 0;
	return pending && *p == ' ' && (p++, (number(&p) & bit) == 0);
}

/* Is a thread on its way to us?  Those of a name in struct linux_dirent64. */
static bool
any_latecomer(void)
{
	static const char tasks[] = "/proc/self/task/";
	_Alignas(8) char buf[256];
	char path[48];
	long n, dir = sys(NR_open, (long)tasks, O_DIR_CLX, 0, 0);
	bool any = false;

	for (unsigned i = 0; i < sizeof(tasks); i++)
		path[i] = tasks[i];
	while (dir >= 0 && !any &&
	    (n = sys(NR_dents, dir, (long)buf, sizeof(buf), 0)) > 0)
		for (long at = 0; at < n && !any;
		     at += *(const uint16_t *)(const void *)(buf + at + 16)) {
			const char *name = buf + at + 19;
			if (*name < '0' || *name > '9')
				continue;
			path_of_thread(path + sizeof(tasks) - 1, name);
			any = is_latecomer(path);
		}
	if (dir >= 0)
		sys(NR_close, dir, 0, 0, 0);
	return any;
}

/* By poll(), which leaves restart_block alone where nanosleep() would not. */
static void
await_latecomers(void)
{
	sys(NR_poll, 0, 0, TRAP_LATE_MS, 0);
	for (int i = 0; i < TRAP_LATE_TRIES && any_latecomer(); i++)
		sys(NR_poll, 0, 0, TRAP_LATE_MS / 10, 0);
}

/*
 * All int3s, the late ones last.  Other threads may have executed one before: if
 * this one then sets SIGTRAP's action, they die.  So whoever finds some waits for
 * them, before those go that lead who sets it to here.
 */
static void
heal_all(long mem)
{
	if (heal_places(mem, HEAL_MOST) || heal_places(mem, FIND_LATE))
		await_latecomers();
	heal_places(mem, HEAL_LATE);
}

/* All int3s that this process may write to.  False: none. */
static bool
heal_memory(void)
{
	static const char mem[] = "/proc/self/mem";
	long fd = sys(NR_open, (long)mem, O_RDWR_CLX, 0, 0);

	if (fd < 0)
		return false;
	heal_all(fd);
	sys(NR_close, fd, 0, 0, 0);
	return true;
}

/* Is there still a tracer, to whom the int3s belong?  By the line
 * "TracerPid:\t0" of the thread's status. */
static bool
is_traced(void)
{
	static const char status[] = "/proc/thread-self/status",
			  word[] = "\nTracerPid:\t";
	char text[512];
	long fd = sys(NR_open, (long)status, O_CLX, 0, 0);

	if (fd < 0)
		return true;
	long n = sys(NR_pread, fd, (long)text, sizeof(text), 0);
	sys(NR_close, fd, 0, 0, 0);
	for (long at = 0, i; at + (long)sizeof(word) <= n; at++) {
		for (i = 0; i < (long)sizeof(word) - 1; i++)
			if (text[at + i] != word[i])
				break;
		if (i == (long)sizeof(word) - 1)
			return text[at + i] != '0';
	}
	return true;
}

/*
 * Somebody else, the guardian say, may have been quicker.  If not all int3s go
 * at once: the thread may be about to block SIGTRAP, or to set its action, and
 * then the next one would kill it.
 */
static void
heal(const struct trap_entry *e)
{
	volatile uint8_t *at = (volatile uint8_t *)e->addr;
	uint8_t saved = e->saved;
	long page = (long)(e->addr & ~(PAGE - 1));

	if (*at != INT3)
		return;
	if (heal_memory() && *at != INT3)
		return;
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
static uint64_t
hand_on(int sig, const siginfo_t *si)
{
	const uint64_t none[4] = { 0 };
	uint64_t old = trap_area.old_handler;

	/* In there SIGTRAP may be blocked, and an int3 would be the end. */
	if (!is_traced())
		heal_memory();
	if (old > 1)
		return old;
	/* A forced one does not care that it is ignored. */
	if (old == 1 && si->si_code <= 0)
		return 0;
	sys(NR_action, sig, (long)none, 0, 8);
	sys(NR_tgkill, sys(NR_getpid, 0, 0, 0, 0), sys(NR_gettid, 0, 0, 0, 0),
	    sig, 0);
	return 0;
}

/* What the kernel would have to undo but for the registers: a shadow stack, an
 * alternate stack that was taken away for the handler. */
static bool
only_registers(const ucontext_t *uc)
{
	uint64_t shadow = 0;

	asm("rdsspq %0" : "+r"(shadow));
	return shadow == 0 &&
	    ((unsigned)uc->uc_stack.ss_flags & SS_DISARM) == 0;
}

/* Vector registers, which the kernel cleared for the handler: from the frame, as
 * struct _fpstate and struct _fpx_sw_bytes of <asm/sigcontext.h> have it. */
static void
restore_vectors(const uint8_t *frame)
{
	uint64_t features;
	uint32_t magic;

	if (frame == NULL)
		return;
	magic = *(const uint32_t *)(const void *)(frame + SW_BYTES);
	features = *(const uint64_t *)(const void *)(frame + SW_BYTES + 8);
	if (magic == SW_MAGIC)
		asm volatile("xrstor64 (%0)"
			     :
			     : "r"(frame), "a"((uint32_t)features),
			     "d"((uint32_t)(features >> 32))
			     : "memory");
	else
		asm volatile("fxrstor64 (%0)" : : "r"(frame) : "memory");
}

/*
 * To the system call instruction at its pc, which changes rcx and r11.  The mask
 * first, on this stack: behind the change of stacks nothing of this one is read.
 */
static void
call_again(const ucontext_t *uc)
{
	restore_vectors((const void *)uc->uc_mcontext.fpregs);
	sys(NR_mask, SIG_SETMASK, (long)&uc->uc_sigmask, 0, 8);
	asm volatile("pushq %c1(%0)\n"
		     "	popfq\n"
		     "	movq %c2(%0), %%rcx\n"
		     "	movq %c3(%0), %%r11\n"
		     "	movq %c4(%0), %%rax\n"
		     "	movq %c5(%0), %%rbx\n"
		     "	movq %c6(%0), %%rdx\n"
		     "	movq %c7(%0), %%rsi\n"
		     "	movq %c8(%0), %%rbp\n"
		     "	movq %c9(%0), %%r8\n"
		     "	movq %c10(%0), %%r9\n"
		     "	movq %c11(%0), %%r10\n"
		     "	movq %c12(%0), %%r12\n"
		     "	movq %c13(%0), %%r13\n"
		     "	movq %c14(%0), %%r14\n"
		     "	movq %c15(%0), %%r15\n"
		     "	movq %c16(%0), %%rdi\n"
		     "	movq %%r11, %%rsp\n"
		     "	jmp *%%rcx\n"
		     :
		     : "D"(uc->uc_mcontext.gregs), "i"(REG_EFL * 8),
		     "i"(REG_RIP * 8), "i"(REG_RSP * 8), "i"(REG_RAX * 8),
		     "i"(REG_RBX * 8), "i"(REG_RDX * 8), "i"(REG_RSI * 8),
		     "i"(REG_RBP * 8), "i"(REG_R8 * 8), "i"(REG_R9 * 8),
		     "i"(REG_R10 * 8), "i"(REG_R12 * 8), "i"(REG_R13 * 8),
		     "i"(REG_R14 * 8), "i"(REG_R15 * 8), "i"(REG_RDI * 8)
		     : "memory");
	__builtin_unreachable();
}

/* Is there an int3 of the program's own before pc, cc or cd 03?  An int3 of ours
 * may be on the second. */
static bool
is_behind_own(uint64_t pc)
{
	const uint8_t *code = (const uint8_t *)pc;

	if (pc % PAGE == 0) /* what is before may not be mapped */
		return false;
	if (code[-1] == INT3)
		return true;
	return pc % PAGE > 1 && code[-1] == 3 &&
	    (code[-2] == 0xcd || code[-2] == INT3);
}

/* The tracer was making the stop of an int3 again when it died (redeliver() in
 * remote.c): the thread has not executed that. */
static bool
is_in_front(uint64_t pc)
{
	const struct trap_entry *e = find(pc, TRAP_TEXT);

	if (e == NULL || is_behind_own(pc) || is_traced())
		return false;
	heal(e);
	return true;
}

/* Is it about the tracer that is no more?  The thread then goes on at its pc. */
static bool
is_ours(const siginfo_t *si, greg_t *rip)
{
	uint64_t pc = (uint64_t)*rip;

	if (si->si_code == CODE_HWBKPT)
		return true;
	if (si->si_code != CODE_KERNEL && si->si_code != TRAP_DONE)
		return false;
	if (si->si_code == TRAP_DONE && (uint64_t)si->si_value.sival_ptr == pc)
		return true;
	if (find(pc, TRAP_SLOTS) != NULL)
		return true;
	const struct trap_entry *e = find(pc - 1, TRAP_TEXT);
	if (e == NULL)
		return is_in_front(pc);
	heal(e);
	*rip = (greg_t)(pc - 1);
	return true;
}

/* Who handles it: a handler of the program's, or 0: it has been. */
__attribute__((used)) uint64_t
trap_look(int sig, const siginfo_t *si, ucontext_t *uc)
{
	greg_t *regs = uc->uc_mcontext.gregs;

	if (!is_ours(si, &regs[REG_RIP]))
		return hand_on(sig, si);
	const uint8_t *insn = (const uint8_t *)regs[REG_RIP];
	if (regs[REG_RAX] == NR_restart && insn[0] == 0x0f && insn[1] == 0x05 &&
	    only_registers(uc))
		call_again(uc);
	return 0;
}
