/*
 * See rig.h.
 */
#include "t/reloc/rig.h"

#include <assert.h>
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject/displaced.h"

#define DATA_AT   0x100000
#define STACK_AT  0x200000
#define HELPER_AT 0x300000

/* Flags that the processor or the kernel set on the way into a stop. */
#define FLAG_TF UINT64_C(0x100)
#define FLAG_RF UINT64_C(0x10000)

static_assert(sizeof(struct uregs) == sizeof(struct user_regs_struct),
    "uregs has the kernel's order");

static void
must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "rig: %s: %s\n", what, strerror(errno));
	abort();
}

static struct rig *
rig_of(struct target *t)
{
	return (struct rig *)t;
}

static int
rig_read(struct target *t, uint64_t addr, void *buf, size_t len)
{
	ssize_t n = pread(rig_of(t)->mem, buf, len, (off_t)addr);

	return n == (ssize_t)len ? 0 : -EFAULT;
}

static int
rig_write(struct target *t, uint64_t addr, const void *buf, size_t len)
{
	ssize_t n = pwrite(rig_of(t)->mem, buf, len, (off_t)addr);

	return n == (ssize_t)len ? 0 : -EFAULT;
}

static void
get_regs(struct rig *rig, struct user_regs_struct *regs)
{
	must(ptrace(PTRACE_GETREGS, rig->pid, 0, regs) == 0, "getregs");
}

static void
set_regs(struct rig *rig, const struct user_regs_struct *regs)
{
	must(ptrace(PTRACE_SETREGS, rig->pid, 0, regs) == 0, "setregs");
}

/* Let the child go on to its next stop; returns the signal. */
static int
run_on(struct rig *rig, enum __ptrace_request how)
{
	int status;

	must(ptrace(how, rig->pid, 0, 0) == 0, "continue");
	must(waitpid(rig->pid, &status, __WALL) == rig->pid, "wait");
	must(WIFSTOPPED(status), "the child has died");
	return WSTOPSIG(status);
}

/* A system call in the child. */
static long
remote_call(struct rig *rig, long nr, uint64_t a, uint64_t b, uint64_t c,
    uint64_t d, uint64_t e, uint64_t f)
{
	struct user_regs_struct saved, r;

	get_regs(rig, &saved);
	r = saved;
	r.rip = rig->helper;
	r.orig_rax = (unsigned long long)-1;
	r.rax = (unsigned long long)nr;
	r.rdi = a;
	r.rsi = b;
	r.rdx = c;
	r.r10 = d;
	r.r8 = e;
	r.r9 = f;
	set_regs(rig, &r);
	must(run_on(rig, PTRACE_CONT) == SIGTRAP, "remote call");
	get_regs(rig, &r);
	set_regs(rig, &saved);
	return (long)r.rax;
}

static int
rig_map_near(struct target *t, uint64_t near, size_t size, uint64_t *addr)
{
	struct rig *rig = rig_of(t);
	uint64_t at = (near & ~UINT64_C(0xffff)) +
	    (rig->map_far ? UINT64_C(1) << 33 : 0x1000000);

	if (rig->map_error != 0)
		return rig->map_error;
	for (int i = 0; i < 1000; i++, at += 0x10000) {
		long r =
		    remote_call(rig, SYS_mmap, at, size, PROT_READ | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			(uint64_t)-1, 0);
		if (r == (long)at) {
			*addr = at;
			return 0;
		}
	}
	return -ENOMEM;
}

static int
rig_unmap(struct target *t, uint64_t addr, size_t size)
{
	return (int)remote_call(rig_of(t), SYS_munmap, addr, size, 0, 0, 0, 0);
}

/* The last half page of the helper page stands for a text segment's tail. */
static int
rig_cave(struct target *t, uint64_t near, unsigned *cookie, uint64_t *addr,
    size_t *size)
{
	if ((*cookie)++ != 0)
		return -ENOENT;
	*addr = rig_of(t)->helper + RIG_PAGE / 2;
	*size = RIG_PAGE / 2;
	return 0;
}

static int
rig_thread_pc(struct target *t, unsigned n, uint64_t *pc)
{
	struct user_regs_struct regs;

	if (n != 0)
		return -ENOENT;
	get_regs(rig_of(t), &regs);
	*pc = regs.rip;
	return 0;
}

static const struct target_ops rig_ops = {
	.read = rig_read,
	.write = rig_write,
	.map_near = rig_map_near,
	.unmap = rig_unmap,
	.cave = rig_cave,
	.thread_pc = rig_thread_pc,
};

static void
map_at(uint64_t addr, size_t size, int prot)
{
	void *p = mmap((void *)(uintptr_t)addr, size, prot,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p != (void *)(uintptr_t)addr)
		_exit(1);
}

static void
child_main(const struct rig *rig)
{
	cpu_set_t cpus;

	/* cpuid and the like answer by processor. */
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	map_at(rig->home, RIG_HOME_SIZE, PROT_READ | PROT_EXEC);
	map_at(rig->data, RIG_DATA_SIZE, PROT_READ | PROT_WRITE);
	map_at(rig->stack, RIG_DATA_SIZE, PROT_READ | PROT_WRITE);
	map_at(rig->helper, RIG_PAGE, PROT_READ | PROT_EXEC);
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	_exit(1);
}

/* Vector, mask and upper registers full of something. */
static void
fill_xstate(struct rig_state *s)
{
	static const unsigned parts[] = { 2, 5, 6, 7 }; /* AVX, AVX-512 */
	uint64_t have, bv;
	unsigned a, b, c, d;

	memcpy(&have, s->xstate + 464, 8); /* sw_reserved: XCR0 */
	memcpy(&bv, s->xstate + 512, 8);
	for (unsigned i = 160; i < 416; i++)
		s->xstate[i] = (uint8_t)(i * 7 + 3);
	bv |= 3;
	for (unsigned i = 0; i < 4; i++) {
		if (!(have >> parts[i] & 1))
			continue;
		__cpuid_count(0xd, parts[i], a, b, c, d);
		if (b + a > s->xstate_len)
			continue;
		for (unsigned k = 0; k < a; k++)
			s->xstate[b + k] = (uint8_t)(k * 5 + parts[i]);
		bv |= 1U << parts[i];
	}
	memcpy(s->xstate + 512, &bv, 8);
}

static void
get_xstate(struct rig *rig, struct rig_state *s)
{
	struct iovec iov = { s->xstate, sizeof(s->xstate) };

	must(ptrace(PTRACE_GETREGSET, rig->pid, NT_X86_XSTATE, &iov) == 0,
	    "getregset");
	must(iov.iov_len < sizeof(s->xstate), "RIG_XSTATE");
	s->xstate_len = iov.iov_len;
}

static bool
is_user_address(uint64_t addr)
{
	return addr >> 47 == 0;
}

/* Does a thread go on with a stack pointer that is no user address? */
static bool
goes_on_anywhere(struct rig *rig)
{
	static const uint8_t code[2] = { 0x90, 0xcc };
	struct user_regs_struct saved, r;

	get_regs(rig, &saved);
	r = saved;
	must(rig_write(&rig->target, rig->home, code, 2) == 0, "a nop");
	r.rip = rig->home;
	r.orig_rax = (unsigned long long)-1;
	r.rsp = UINT64_C(1) << 63;
	set_regs(rig, &r);
	bool on = run_on(rig, PTRACE_CONT) == SIGTRAP;
	set_regs(rig, &saved);
	return on;
}

void
rig_init(struct rig *rig, uint64_t base)
{
	static const uint8_t helper[3] = { 0x0f, 0x05, 0xcc };
	char path[64];
	int status;

	memset(rig, 0, sizeof(*rig));
	rig->target.ops = &rig_ops;
	rig->home = base;
	rig->data = base + DATA_AT;
	rig->stack = base + STACK_AT;
	rig->helper = base + HELPER_AT;
	rig->pid = fork();
	must(rig->pid >= 0, "fork");
	if (rig->pid == 0)
		child_main(rig);
	must(waitpid(rig->pid, &status, 0) == rig->pid && WIFSTOPPED(status),
	    "start");
	ptrace(PTRACE_SETOPTIONS, rig->pid, 0, PTRACE_O_EXITKILL);
	snprintf(path, sizeof(path), "/proc/%d/mem", rig->pid);
	rig->mem = open(path, O_RDWR | O_CLOEXEC);
	must(rig->mem >= 0, "mem");
	must(rig_write(&rig->target, rig->helper, helper, 3) == 0, "helper");
	rig->needs_user_sp = !goes_on_anywhere(rig);
	get_regs(rig, &rig->initial.regs);
	get_xstate(rig, &rig->initial);
	fill_xstate(&rig->initial);
	for (unsigned i = 0; i < RIG_DATA_SIZE; i++) {
		rig->initial.data[i] = (uint8_t)(i * 11 + (i >> 8));
		rig->initial.stack[i] = (uint8_t)(i * 13 + (i >> 7));
	}
}

void
rig_fini(struct rig *rig)
{
	kill(rig->pid, SIGKILL);
	waitpid(rig->pid, NULL, 0);
	close(rig->mem);
}

void
rig_default_regs(struct rig *rig, struct user_regs_struct *regs)
{
	uint64_t at = rig->data + RIG_DATA_SIZE / 2;

	*regs = rig->initial.regs;
	regs->orig_rax = (unsigned long long)-1;
	/* Each points somewhere else into the data, so that any can be a base;
	 * none is aligned by more than 64. */
	unsigned long long *gpr[] = { &regs->rax, &regs->rcx, &regs->rdx,
		&regs->rbx, &regs->rbp, &regs->rsi, &regs->rdi, &regs->r8,
		&regs->r9, &regs->r10, &regs->r11, &regs->r12, &regs->r13,
		&regs->r14, &regs->r15 };
	for (unsigned i = 0; i < sizeof(gpr) / sizeof(gpr[0]); i++)
		*gpr[i] = at + i * 0x140;
	regs->rsp = rig->stack + RIG_DATA_SIZE / 2;
	/* The child runs none of its own code, so its segments are ours. */
	regs->fs_base = rig->data + 0x400;
	regs->gs_base = rig->data + 0x600;
	regs->eflags = 0x202;
}

/* The child as every run starts: only home differs. */
static void
reset(struct rig *rig, const struct user_regs_struct *regs)
{
	struct rig_state *s = &rig->initial;
	struct iovec iov = { s->xstate, s->xstate_len };

	must(rig_write(&rig->target, rig->data, s->data, RIG_DATA_SIZE) == 0 &&
		rig_write(&rig->target, rig->stack, s->stack, RIG_DATA_SIZE) ==
		    0,
	    "reset");
	must(ptrace(PTRACE_SETREGSET, rig->pid, NT_X86_XSTATE, &iov) == 0,
	    "setregset");
	set_regs(rig, regs);
}

static void
collect(struct rig *rig, int signal, struct rig_state *s)
{
	siginfo_t info;

	s->signal = signal;
	get_regs(rig, &s->regs);
	get_xstate(rig, s);
	must(rig_read(&rig->target, rig->data, s->data, RIG_DATA_SIZE) == 0 &&
		rig_read(&rig->target, rig->stack, s->stack, RIG_DATA_SIZE) ==
		    0,
	    "collect");
	must(ptrace(PTRACE_GETSIGINFO, rig->pid, 0, &info) == 0, "siginfo");
	s->fault_addr = signal == SIGTRAP ? 0 : (uintptr_t)info.si_addr;
}

static void
run_home(
    struct rig *rig, const struct user_regs_struct *regs, struct rig_state *s)
{
	reset(rig, regs);
	collect(rig, run_on(rig, PTRACE_CONT), s);
}

/* Step n times while the thread is in the slot, and take it out of it.
 * Returns 0, or the signal of a stop that ended the run. */
static int
step_and_leave(struct rig *rig, struct tptable *tab, unsigned n,
    struct uregs *u, bool *stepped_out)
{
	struct tracepoint *tp;
	int sig;

	for (unsigned i = 0; i < n; i++) {
		set_regs(rig, (struct user_regs_struct *)u);
		sig = run_on(rig, PTRACE_SINGLESTEP);
		rig->steps++;
		get_regs(rig, (struct user_regs_struct *)u);
		u->r[UREG_RFLAGS] &= ~FLAG_TF;
		if (sig != SIGTRAP)
			return sig;
		if (resume_text_pc(tab, u->r[UREG_RIP]) == u->r[UREG_RIP]) {
			*stepped_out = true;
			return 0;
		}
	}
	if (resume_leave_slot(tab, u, &tp) == SLOT_OUTSIDE)
		*stepped_out = true;
	return 0;
}

/* Run displaced; with steps, be interrupted after so many in the slot.
 * *stepped_out: there are not that many. */
static void
run_displaced(struct rig *rig, struct tptable *tab, unsigned steps,
    const struct user_regs_struct *regs, struct rig_state *s, bool *stepped_out)
{
	struct uregs u;
	uint64_t fault_addr;
	int sig;

	reset(rig, regs);
	rig->runs++;
	for (;;) {
		sig = run_on(rig, PTRACE_CONT);
		get_regs(rig, (struct user_regs_struct *)&u);
		struct tracepoint *tp = sig == SIGTRAP ?
		    tracepoint_lookup(tab, u.r[UREG_RIP] - 1) :
		    NULL;
		if (tp == NULL)
			break;
		u.r[UREG_RIP] = tp->addr;
		if (resume_from(tab, tp, &u, &fault_addr) != 0) {
			set_regs(rig, (struct user_regs_struct *)&u);
			collect(rig, SIGSEGV, s);
			s->fault_addr = fault_addr;
			return;
		}
		if (tp->was_trap) {
			/* Its own trap is the supervisor's to deliver. */
			set_regs(rig, (struct user_regs_struct *)&u);
			break;
		}
		if (steps != 0 && tp->slot != 0) {
			sig = step_and_leave(rig, tab, steps, &u, stepped_out);
			steps = 0;
			if (sig != 0)
				break;
		} else if (tp->slot == 0) {
			*stepped_out = true;
		}
		set_regs(rig, (struct user_regs_struct *)&u);
	}
	collect(rig, sig, s);
	struct uregs *end = (struct uregs *)&s->regs;
	s->fault_addr = resume_text_pc(tab, s->fault_addr);
	resume_leave_slot(tab, end, NULL);
}

/* ---- comparing ---- */

static char verdict[512];

static const char *
disagree(const char *what, uint64_t home, uint64_t displaced)
{
	size_t at = strlen(verdict);

	snprintf(verdict + at, sizeof(verdict) - at,
	    "%s is %#" PRIx64 " at home, %#" PRIx64 " displaced", what, home,
	    displaced);
	return verdict;
}

static const char *
compare_regs(const struct rig_state *a, const struct rig_state *b)
{
	static const char *const names[UREG_COUNT] = { "r15", "r14", "r13",
		"r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx",
		"rdx", "rsi", "rdi", "orig_rax", "rip", "cs", "eflags", "rsp",
		"ss", "fs_base", "gs_base", "ds", "es", "fs", "gs" };
	const struct uregs *x = (const struct uregs *)&a->regs;
	const struct uregs *y = (const struct uregs *)&b->regs;

	for (unsigned i = 0; i < UREG_COUNT; i++) {
		uint64_t mask =
		    i == UREG_RFLAGS ? ~(FLAG_RF | FLAG_TF) : ~UINT64_C(0);
		/* r11 holds the flags after a system call, stepped or not. */
		if (i == UREG_ORIG_RAX)
			continue;
		if (i == UREG_R11 && a->regs.r11 != b->regs.r11 &&
		    (a->regs.r11 ^ b->regs.r11) == FLAG_TF)
			continue;
		if ((x->r[i] ^ y->r[i]) & mask)
			return disagree(names[i], x->r[i], y->r[i]);
	}
	return NULL;
}

static const char *
compare_bytes(const char *what, const uint8_t *a, const uint8_t *b, size_t n)
{
	char text[64];

	for (size_t i = 0; i < n; i++)
		if (a[i] != b[i]) {
			snprintf(text, sizeof(text), "%s byte %#zx", what, i);
			return disagree(text, a[i], b[i]);
		}
	return NULL;
}

/* Let b have a's bytes in [addr, addr + len), which nobody owns. */
static void
disown(struct rig *rig, const struct rig_state *a, struct rig_state *b,
    uint64_t addr, uint64_t len)
{
	for (uint64_t at = addr; at < addr + len; at++) {
		if (at - rig->data < RIG_DATA_SIZE)
			b->data[at - rig->data] = a->data[at - rig->data];
		if (at - rig->stack < RIG_DATA_SIZE)
			b->stack[at - rig->stack] = a->stack[at - rig->stack];
	}
}

/* What a slot may leave below the stack pointer rsp that it started from. */
static void
disown_stack(struct rig *rig, const struct displaced *plan, uint64_t rsp,
    const struct rig_state *a, struct rig_state *b)
{
	/* The callee's red zone; and what a call that faulted has pushed. */
	if (plan->how == DISP_CALL || plan->how == DISP_CALL_MEM)
		disown(rig, a, b, rsp - 16, a->signal == SIGTRAP ? 8 : 16);
	if (plan->how == DISP_SCRATCH)
		disown(rig, a, b, rsp - 136, 8);
}

static const char *
compare(struct rig_state *a, struct rig_state *b)
{
	const char *why;

	if (a->signal != b->signal)
		return disagree(
		    "signal", (unsigned)a->signal, (unsigned)b->signal);
	if (a->fault_addr != b->fault_addr)
		return disagree("si_addr", a->fault_addr, b->fault_addr);
	if ((why = compare_regs(a, b)) != NULL)
		return why;
	/* The x87's last opcode and pointers, of which one is a pc. */
	memset(a->xstate + 6, 0, 18);
	memset(b->xstate + 6, 0, 18);
	/* XSTATE_BV: a processor may or may not notice that a part is back in
	 * its initial state.  The contents are compared. */
	memset(a->xstate + 512, 0, 8);
	memset(b->xstate + 512, 0, 8);
	if ((why = compare_bytes("data", a->data, b->data, RIG_DATA_SIZE)) !=
	    NULL)
		return why;
	if ((why = compare_bytes("stack", a->stack, b->stack, RIG_DATA_SIZE)) !=
	    NULL)
		return why;
	return compare_bytes("xstate", a->xstate, b->xstate, a->xstate_len);
}

/* The instruction among int3s. */
static void
write_home(struct rig *rig, const uint8_t *code, size_t len, unsigned offset)
{
	uint8_t home[RIG_HOME_SIZE];

	memset(home, 0xcc, sizeof(home));
	memcpy(home + offset, code, len);
	must(rig_write(&rig->target, rig->home, home, sizeof(home)) == 0,
	    "home");
}

static const char *failed_why;

static void
note_failed(void *ctx, struct tracepoint *tp, const char *why)
{
	failed_why = why;
}

static const char *
compare_all(struct rig *rig, struct tptable *tab, const struct tracepoint *tp,
    const struct user_regs_struct *regs, struct rig_state *home, bool step)
{
	static struct rig_state s;
	const char *why;

	for (unsigned steps = 0; steps < 40; steps++) {
		bool stepped_out = false;

		snprintf(verdict, sizeof(verdict), "%u steps: ", steps);
		run_displaced(rig, tab, steps, regs, &s, &stepped_out);
		disown_stack(rig, tp->plan, regs->rsp, home, &s);
		if ((why = compare(home, &s)) != NULL)
			return why;
		if (!step || stepped_out || s.signal != SIGTRAP)
			break;
	}
	return NULL;
}

const char *
rig_compare(struct rig *rig, const uint8_t *code, size_t len, unsigned offset,
    const struct user_regs_struct *regs, bool step)
{
	static struct rig_state home;
	struct user_regs_struct start = *regs;
	uint8_t before[RIG_HOME_SIZE], after[RIG_HOME_SIZE];
	struct tracepoint *tp;
	const char *why = NULL;

	start.rip = rig->home + offset;
	write_home(rig, code, len, offset);
	run_home(rig, &start, &home);
	if (rig->needs_user_sp && !is_user_address(home.regs.rsp))
		return NULL;
	rig_read(&rig->target, rig->home, before, sizeof(before));

	struct tptable *tab = tptable_create(&rig->target);
	tracepoint_unlisted(tab);
	/* The thread must not stand in a slot that is about to be released. */
	set_regs(rig, &start);
	if (tracepoint_get(tab, start.rip, 1, &tp, &why) != 0) {
		snprintf(verdict, sizeof(verdict), "refused: %s", why);
		tptable_destroy(tab);
		return verdict;
	}
	if (tracepoint_commit(tab, note_failed, NULL) != 0) {
		snprintf(verdict, sizeof(verdict), "refused: %s", failed_why);
		tptable_destroy(tab);
		return verdict;
	}
	why = compare_all(rig, tab, tp, &start, &home, step);
	set_regs(rig, &start);
	if (tracepoint_restore_all(tab) != 0 && why == NULL)
		why = "text was not restored";
	tptable_release_slots(tab);
	tptable_destroy(tab);
	rig_read(&rig->target, rig->home, after, sizeof(after));
	if (why == NULL && memcmp(before, after, sizeof(before)) != 0)
		why = "text is not what it was";
	return why;
}

const char *
rig_bytes(const struct insn *insn)
{
	static char text[3 * INSN_MAX_LEN + 1];

	for (unsigned i = 0; i < insn->len; i++)
		sprintf(text + 3 * i, "%02x ", insn->bytes[i]);
	return text;
}
