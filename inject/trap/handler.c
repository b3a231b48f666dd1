/*
 * The handler for SIGTRAP in a target.
 *
 * While the tracer lives, it sees every SIGTRAP first and delivers only those
 * that are not its own; for these, the handler performs the program's action.
 * After the tracer was killed, its breakpoints lead here. The handler restores
 * the bytes in all places, through /proc/self/mem because text is not writable,
 * and the thread continues at the instruction.
 *
 *	si_code TRAP_DONE	the tracer was about to let the thread go on:
 *				with these registers, if they are set already
 *	pc in a slot		the same; slots need no mark
 *	pc in the area		the same, by the way back from a system call
 *	int3 of ours		all bytes back, pc back
 *	TRAP_HWBKPT		a debug register that the tracer has left
 *	TRAP_PERF		a watch on data, which ended with the tracer
 *	else			the program's own
 *
 * One more case: a stop interrupted the thread's system call, and the thread
 * was about to continue it by restart_syscall(2).  rt_sigreturn(2) would make
 * that call end with EINTR (restart_block in kernel/signal.c), so the handler
 * returns in another way then: call_again().
 *
 * It uses no libc, no data except the area, and little stack, because it runs
 * on any signal stack, in threads of any language runtime.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "inject/trap/area.h"

#define PAGE        4096UL

#define O_RDWR_CLX  (O_RDWR | O_CLOEXEC)
#define O_CLX       (O_RDONLY | O_CLOEXEC)
#define O_DIR_CLX   (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#define PROT_RX     (PROT_READ | PROT_EXEC)
#define PROT_RWX    (PROT_RX | PROT_WRITE)

#define SIGTRAP_BIT (UINT64_C(1) << (SIGTRAP - 1))

/* include/uapi/asm-generic/siginfo.h; not every <signal.h> has them here. */
#define CODE_HWBKPT 4
uint64_t trap_look(int sig, const siginfo_t *si, ucontext_t *uc);
extern void trap_handle(void);
extern void trap_restore(void);

/*
 * The file of the machine defines trap_handle and trap_restore:
 *
 *	trap_handle	SIGTRAP's handler.  What trap_look() returns is jumped to as
 *			if the kernel had called it, unless it is 0: the area may
 *			be unmapped while the program's handler runs, and
 *			backtraces do not show us.
 *	trap_restore	makes rt_sigreturn(2), in the bytes by which unwinders know
 *			a signal's frame
 *
 * and, all static:
 *
 *	long sys(nr, a, b, c, d)	a system call; -errno
 *	long sys_open(path, flags)	the same: open(2)
 *	void sys_sleep(ms)		poll(2) of nothing, which leaves
 *					restart_block alone where nanosleep() would not
 *	uint64_t *pc_in(uc)		where the frame has the pc
 *	bool is_broken_call(uc)		Is the thread at a system call instruction,
 *					about to make restart_syscall(2), with nothing
 *					for the kernel to undo but registers?
 *	void call_again(uc)		there, with all registers of the frame and its
 *					signal mask
 */
#include "inject/trap/machine/handler.h"

/* The linker places it at address 0, so that symbols are offsets in the
 * area. */
__attribute__((section(".area"), used)) struct trap_area trap_area = {
	.magic = TRAP_MAGIC,
	.handler = (uint64_t)&trap_handle,
	.restorer = (uint64_t)&trap_restore,
};

/* The entry of the list for an int3 at addr, or for the slots that contain
 * addr; NULL if there is none. */
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

/* Has the guardian or the next tracer restored everything? Then what is at
 * these places now is not to be changed. */
static bool
is_mended(void)
{
	return *(volatile const uint32_t *)&trap_area.mended != 0;
}

enum heal { HEAL_MOST, HEAL_LATE, FIND_LATE };

/* Restore the places of a chunk, the last first.  Unmapped places are skipped.
 * True: some int3s were found. */
static bool
heal_chunk(long mem, const struct trap_area *a, enum heal how)
{
	const struct trap_entry *begin =
	    (const void *)((uintptr_t)a + a->first);
	bool healed = false;
	trap_insn now = 0;

	for (const struct trap_entry *e = begin + a->count;
	     e-- > begin && !is_mended();)
		if (e->kind == TRAP_TEXT &&
		    (e->late != 0) == (how != HEAL_MOST) &&
		    sys(SYS_pread64, mem, (long)&now, sizeof(now),
			(long)e->addr) == sizeof(now) &&
		    now == TRAP_INSN)
			healed |= how == FIND_LATE ||
			    sys(SYS_pwrite64, mem, (long)&e->saved,
				sizeof(e->saved),
				(long)e->addr) == sizeof(e->saved);
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

/* Append "123/stat" to path, which begins with "dir/". `name' is the number. */
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

/* Skip from field *at of the line to field `to'; *at is updated. */
static const char *
skip_to(const char *p, int *at, int to)
{
	for (; *p != '\0' && *at < to; p++)
		*at += *p == ' ';
	return p;
}

/* What is read from a thread's stat: fields 3, 14 and 15, 31 and 32. */
struct look {
	bool runs;    /* it has a processor, or waits for one */
	bool due;     /* an unblocked SIGTRAP is pending */
	uint64_t ran; /* processor time, in ticks */
};

static bool
look_at(const char *path, struct look *l)
{
	char text[400];
	const char *p = text, *name_end = text;
	long fd = sys_open(path, O_CLX);
	int field = 2;

	if (fd < 0)
		return false;
	long n = sys(SYS_pread64, fd, (long)text, sizeof(text) - 1, 0);
	sys(SYS_close, fd, 0, 0, 0);
	text[n > 0 ? n : 0] = '\0';
	for (; *p != '\0'; p++)
		if (*p == ')')
			name_end = p;
	p = skip_to(name_end, &field, 3);
	l->runs = *p == 'R';
	p = skip_to(p, &field, 14);
	l->ran = number(&p);
	p = skip_to(p, &field, 15);
	l->ran += number(&p);
	p = skip_to(p, &field, 31);
	l->due = (number(&p) & SIGTRAP_BIT) != 0;
	p = skip_to(p, &field, 32);
	l->due &= (number(&p) & SIGTRAP_BIT) == 0;
	return true;
}

/* Threads that had no processor at the first look, and how long they had run. */
#define STARVED_MAX 64
struct starved {
	unsigned n;
	struct {
		uint32_t tid, ran;
	} at[STARVED_MAX];
};

/*
 * Has the thread still to come to our handler?  One that stood at its int3 when
 * the tracer died has no SIGTRAP pending any more, and looks for the handler when
 * it has a processor.
 */
static bool
is_latecomer(uint32_t tid, const struct look *l, struct starved *s, bool first)
{
	if (l->due)
		return true;
	if (!l->runs || trap_area.handles == 0)
		return false;
	if (first && s->n < STARVED_MAX) {
		s->at[s->n].tid = tid;
		s->at[s->n++].ran = (uint32_t)l->ran;
	}
	for (unsigned i = 0; i < s->n; i++)
		if (s->at[i].tid == tid && s->at[i].ran == (uint32_t)l->ran)
			return true;
	return false;
}

/* Will another thread enter this handler soon?  Reads the directory of threads
 * as struct linux_dirent64. */
static bool
any_latecomer(struct starved *s, bool first)
{
	static const char tasks[] = "/proc/self/task/";
	_Alignas(8) char buf[256];
	char path[48];
	long n, dir = sys_open(tasks, O_DIR_CLX);
	uint32_t self = (uint32_t)sys(SYS_gettid, 0, 0, 0, 0);
	bool any = false;

	for (unsigned i = 0; i < sizeof(tasks); i++)
		path[i] = tasks[i];
	while (dir >= 0 &&
	    (n = sys(SYS_getdents64, dir, (long)buf, sizeof(buf), 0)) > 0)
		for (long at = 0; at < n;
		     at += *(const uint16_t *)(const void *)(buf + at + 16)) {
			const char *name = buf + at + 19, *p = name;
			uint32_t tid = (uint32_t)number(&p);
			struct look l;
			path_of_thread(path + sizeof(tasks) - 1, name);
			if (p != name && tid != self && look_at(path, &l))
				any |= is_latecomer(tid, &l, s, first);
		}
	if (dir >= 0)
		sys(SYS_close, dir, 0, 0, 0);
	return any;
}

static void
await_latecomers(void)
{
	struct starved starved;

	starved.n = 0;
	for (int i = 0; i < 10 + TRAP_LATE_TRIES && !is_mended() &&
	     (any_latecomer(&starved, i == 0) || i < 10);
	     i++)
		sys_sleep(TRAP_LATE_MS / 10);
}

/*
 * Restore all int3s, the late ones last.  Another thread may have executed an
 * int3 and not have its SIGTRAP yet: if a thread then sets the action of
 * SIGTRAP, the process dies.  So the thread that restores int3s waits for such
 * threads before it removes the late int3s, which lead threads that set the
 * action into this handler.
 */
static void
heal_all(long mem)
{
	const uint64_t yes = 1;

	if (is_mended())
		return;
	sys(SYS_pwrite64, mem, (long)&yes, sizeof(yes),
	    (long)&trap_area.healed);
	if (heal_places(mem, HEAL_MOST) || heal_places(mem, FIND_LATE))
		await_latecomers();
	if (!is_mended())
		heal_places(mem, HEAL_LATE);
}

/* Restore all int3s in memory that this process can write. False if there were
 * none. */
static bool
heal_memory(void)
{
	static const char mem[] = "/proc/self/mem";
	long fd = sys_open(mem, O_RDWR_CLX);

	if (fd < 0)
		return false;
	heal_all(fd);
	sys(SYS_close, fd, 0, 0, 0);
	return true;
}

/* Does a tracer exist, which owns the int3s?  Looks at the line "TracerPid:\t0"
 * in the thread's status. */
static bool
is_traced(void)
{
	static const char status[] = "/proc/thread-self/status",
			  word[] = "\nTracerPid:\t";
	char text[512] = "";
	long fd = sys_open(status, O_CLX);

	if (fd < 0)
		return true;
	long n = sys(SYS_pread64, fd, (long)text, sizeof(text), 0);
	sys(SYS_close, fd, 0, 0, 0);
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
 * The guardian, for example, may have been quicker.  If not, all int3s are
 * removed, not only this one: the thread may next block SIGTRAP or set its
 * action, and then the next int3 would kill it.
 */
static void
heal(const struct trap_entry *e)
{
	volatile trap_insn *at = (volatile trap_insn *)e->addr;
	trap_insn saved = e->saved;
	long page = (long)(e->addr & ~(PAGE - 1));

	if (*at != TRAP_INSN)
		return;
	/* Once all is mended, the int3 is the next tracer's. */
	if ((heal_memory() && *at != TRAP_INSN) || is_mended())
		return;
	/* No /proc here, or no descriptors. */
	if (sys(SYS_mprotect, page, PAGE, PROT_RWX, 0) == 0) {
		*at = saved;
		sys(SYS_mprotect, page, PAGE, PROT_RX, 0);
		return;
	}
	/* Not allowed: it traps again until the guardian has been. */
	sys(SYS_sched_yield, 0, 0, 0, 0);
}

/* From now on no other handler is called.  Returns what was blocked. */
static uint64_t
block_signals(void)
{
	const uint64_t all = ~UINT64_C(0);
	uint64_t was = 0;

	sys(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&was, 8);
	return was;
}

/* What the kernel would have blocked for the program's handler: ours is called
 * with all of that but SIGTRAP (trapset_action()). */
static void
block_as_asked(uint64_t was)
{
	const struct trap_area *a = &trap_area;

	was |= a->old_mask & SIGTRAP_BIT;
	if ((a->old_flags & SA_NODEFER) == 0)
		was |= SIGTRAP_BIT;
	sys(SYS_rt_sigprocmask, SIG_SETMASK, (long)&was, 0, 8);
}

/* As if we were not here.  The default is to die of it, which is done by the
 * same signal once more, after the return. */
static uint64_t
hand_on(int sig, const siginfo_t *si, uint64_t blocked)
{
	const uint64_t none[4] = { 0 };
	uint64_t old = trap_area.old_handler;

	/* The program's handler may run with SIGTRAP blocked, and an int3 there
	 * would kill the process. */
	if (!is_traced())
		heal_memory();
	if (old > 1) {
		block_as_asked(blocked);
		return old;
	}
	/* A forced one does not care that it is ignored. */
	if (old == 1 && si->si_code <= 0)
		return 0;
	sys(SYS_rt_sigaction, sig, (long)none, 0, 8);
	sys(SYS_tgkill, sys(SYS_getpid, 0, 0, 0, 0),
	    sys(SYS_gettid, 0, 0, 0, 0), sig, 0);
	return 0;
}

/* The tracer was making the stop of an int3 again when it died (redeliver() in
 * remote.c): the thread is on the way back from its call, and goes on with that. */
static bool
is_on_way_back(uint64_t pc)
{
	return pc - (uint64_t)&trap_area < trap_area.size;
}

/* Is the signal from the dead tracer's int3 or debug register?  Then the thread
 * goes on at *at. */
static bool
is_ours(const siginfo_t *si, uint64_t *at)
{
	uint64_t pc = *at;

	if (si->si_code == CODE_HWBKPT ||
	    (si->si_code == TRAP_DATA_CODE && trap_data_is_ours(trap_data(si))))
		return true;
	if (si->si_code != TRAP_CODE && si->si_code != TRAP_DONE)
		return false;
	if (si->si_code == TRAP_DONE && (uint64_t)si->si_value.sival_ptr == pc)
		return true;
	if (is_on_way_back(pc) || find(pc, TRAP_SLOTS) != NULL)
		return true;
	const struct trap_entry *e = find(pc - TRAP_PC_AFTER, TRAP_TEXT);
	if (e == NULL)
		return false;
	heal(e);
	*at = pc - TRAP_PC_AFTER;
	return true;
}

/* Handle the signal.  Returns the program's handler to jump to, or 0 if nothing
 * is left to do. */
__attribute__((used)) uint64_t
trap_look(int sig, const siginfo_t *si, ucontext_t *uc)
{
	uint64_t blocked = block_signals();

	if (!is_ours(si, pc_in(uc)))
		return hand_on(sig, si, blocked);
	if (is_broken_call(uc))
		call_again(uc);
	return 0;
}
