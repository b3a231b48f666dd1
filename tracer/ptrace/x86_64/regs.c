/*
 * Registers of a stopped thread, and how this machine makes a system call.
 */
#include "tracer/ptrace/super.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <ucontext.h>
#include <x86intrin.h>

#define SAME_PLACE(ureg, name)                                   \
	static_assert(offsetof(struct user_regs_struct, name) == \
		offsetof(struct uregs, r) + 8 * (ureg),          \
	    #name " is elsewhere in the kernel's order")

static_assert(sizeof(struct uregs) == sizeof(struct user_regs_struct),
    "PTRACE_GETREGS fills a struct uregs");
SAME_PLACE(UREG_R15, r15);
SAME_PLACE(UREG_RBP, rbp);
SAME_PLACE(UREG_R8, r8);
SAME_PLACE(UREG_RAX, rax);
SAME_PLACE(UREG_RDI, rdi);
SAME_PLACE(UREG_ORIG_RAX, orig_rax);
SAME_PLACE(UREG_RIP, rip);
SAME_PLACE(UREG_CS, cs);
SAME_PLACE(UREG_RFLAGS, eflags);
SAME_PLACE(UREG_RSP, rsp);
SAME_PLACE(UREG_FS_BASE, fs_base);
SAME_PLACE(UREG_DS, ds);
SAME_PLACE(UREG_GS, gs);

#define SYSCALL_INSN_LEN 2

/* The code segments of programs: arch/x86/include/asm/segment.h. */
#define USER32_CS 0x23
#define USER_CS   0x33

int
regs_fetch(pid_t tid, struct uregs *regs)
{
	return ptrace(PTRACE_GETREGS, tid, NULL, regs) == 0 ? 0 : -errno;
}

int
regs_store(pid_t tid, const struct uregs *regs)
{
	return ptrace(PTRACE_SETREGS, tid, NULL, regs) == 0 ? 0 : -errno;
}

/* A frame is the return address, then a ucontext. */
#define FRAME_CS (1 + offsetof(ucontext_t, uc_mcontext.gregs[REG_CSGSFS]) / 8)

static_assert(FRAME_CS + 1 == REGS_FRAME, "as far as the code segment");

bool
regs_in_frame(const uint64_t *word)
{
	return (word[REG_CSGSFS - REG_RIP] & 0xffff) == USER_CS ||
	    (word[FRAME_CS] & 0xffff) == USER_CS;
}

#define WITHIN_FP(member, ureg)                                             \
	static_assert(                                                      \
	    sizeof(((struct user_fpregs_struct *)0)->member) == 8 * (ureg), \
	    #member " has another size in the kernel's order")

WITHIN_FP(xmm_space, UREG_XMM(16, 0) - UREG_FP);
WITHIN_FP(st_space, UREG_ALL - UREG_ST(0, 0));

int
regs_fetch_fp(pid_t tid, uint64_t fp[UREG_FP_COUNT])
{
	struct user_fpregs_struct fx;

	if (ptrace(PTRACE_GETFPREGS, tid, NULL, &fx) != 0)
		return -errno;
	memcpy(fp, fx.xmm_space, sizeof(fx.xmm_space));
	memcpy(
	    fp + (UREG_ST(0, 0) - UREG_FP), fx.st_space, sizeof(fx.st_space));
	return 0;
}

bool
regs_compat(const struct uregs *regs)
{
	return regs->r[UREG_CS] == USER32_CS;
}

uint64_t
regs_clone_flags(const struct uregs *regs, const struct reader *mem)
{
	uint64_t flags = 0;

	switch (regs->r[UREG_ORIG_RAX]) {
	case SYS_clone: return regs->r[UREG_RDI];
	case SYS_vfork: return CLONE_VM | CLONE_VFORK;
	case SYS_clone3: /* flags are the first word of its argument */
		reader_read(mem, regs->r[UREG_RDI], &flags, sizeof(flags));
		return flags;
	default: return 0;
	}
}

bool
regs_read_clock(struct uregs *regs, const uint8_t code[CLOCK_INSN_MAX])
{
	static const uint8_t rdtsc[] = { 0x0f, 0x31 },
			     rdtscp[] = { 0x0f, 0x01, 0xf9 };
	unsigned cpu;
	uint64_t now;

	if (memcmp(code, rdtsc, sizeof(rdtsc)) == 0) {
		now = __rdtsc();
		regs->r[UREG_PC] += sizeof(rdtsc);
	} else if (memcmp(code, rdtscp, sizeof(rdtscp)) == 0) {
		now = __rdtscp(&cpu);
		regs->r[UREG_RCX] = cpu;
		regs->r[UREG_PC] += sizeof(rdtscp);
	} else {
		return false;
	}
	regs->r[UREG_RAX] = (uint32_t)now;
	regs->r[UREG_RDX] = now >> 32;
	return true;
}

bool
regs_call_clones(int64_t nr)
{
	return nr == SYS_clone || nr == SYS_fork || nr == SYS_vfork ||
	    nr == SYS_clone3;
}

static void
set_args(struct uregs *regs, const uint64_t args[6])
{
	for (int i = 0; i < 6; i++)
		regs->r[ureg_call_arg(i)] = args[i];
}

void
regs_set_syscall(
    struct uregs *regs, uint64_t insn_addr, long nr, const uint64_t args[6])
{
	set_args(regs, args);
	regs->r[UREG_RIP] = insn_addr;
	regs->r[UREG_RAX] = (uint64_t)nr;
	/* No system call to restart: the kernel must not touch rax and rip. */
	regs->r[UREG_ORIG_RAX] = (uint64_t)-1;
	regs->r[UREG_RFLAGS] &= ~RFLAGS_TF;
}

void
regs_exchange_syscall(
    struct uregs *regs, uint64_t insn_addr, long nr, const uint64_t args[6])
{
	regs_set_syscall(regs, insn_addr + SYSCALL_INSN_LEN, nr, args);
	regs->r[UREG_ORIG_RAX] = (uint64_t)nr;
	regs->r[UREG_RAX] = (uint64_t)-ENOSYS;
}

void
regs_redo_syscall(struct uregs *regs)
{
	regs->r[UREG_RIP] -= SYSCALL_INSN_LEN;
	regs->r[UREG_RAX] = regs->r[UREG_ORIG_RAX];
	regs->r[UREG_ORIG_RAX] = (uint64_t)-1;
}

void
regs_skip_syscall(struct uregs *regs, int64_t result)
{
	regs->r[UREG_ORIG_RAX] = (uint64_t)-1;
	regs->r[UREG_RAX] = (uint64_t)result;
}

void
regs_called(struct uregs *regs, int64_t result)
{
	regs->r[UREG_RCX] = regs->r[UREG_RIP] + SYSCALL_INSN_LEN;
	regs->r[UREG_R11] = regs->r[UREG_RFLAGS];
	regs->r[UREG_RAX] = (uint64_t)result;
}

void
regs_past_syscall(struct uregs *regs)
{
	regs->r[UREG_RIP] += SYSCALL_INSN_LEN;
}

int64_t
regs_result(const struct uregs *regs)
{
	return (int64_t)regs->r[UREG_RAX];
}

void
regs_set_syscall_nr(struct uregs *regs, long nr)
{
	regs->r[UREG_ORIG_RAX] = (uint64_t)nr;
}

void
regs_change_syscall(struct uregs *regs, long nr, const uint64_t args[6])
{
	set_args(regs, args);
	regs->r[UREG_ORIG_RAX] = (uint64_t)nr;
}

void
regs_set_result(struct uregs *regs, int64_t result)
{
	regs->r[UREG_RAX] = (uint64_t)result;
}

int64_t
regs_syscall_nr(const struct uregs *regs)
{
	return (int64_t)regs->r[UREG_ORIG_RAX];
}

void
regs_syscall_args(const struct uregs *regs, uint64_t args[6])
{
	for (int i = 0; i < 6; i++)
		args[i] = regs->r[ureg_call_arg(i)];
}
