/*
 * A machine that has not been written: no registers are fetched.
 */
#include "tracer/ptrace/super.h"

#include <errno.h>

int
regs_fetch(pid_t tid, struct uregs *regs)
{
	return -ENOSYS;
}

int
regs_store(pid_t tid, const struct uregs *regs)
{
	return -ENOSYS;
}

int
regs_fetch_fp(pid_t tid, uint64_t fp[UREG_FP_COUNT])
{
	return -ENOSYS;
}

int
regs_watch(pid_t tid, uint64_t addr)
{
	return -ENOSYS;
}

bool
regs_compat(const struct uregs *regs)
{
	return false;
}

bool
regs_in_frame(const uint64_t *word)
{
	return false;
}

bool
regs_read_clock(struct uregs *regs, const uint8_t code[CLOCK_INSN_MAX])
{
	return false;
}

uint64_t
regs_clone_flags(const struct uregs *regs, const struct reader *mem)
{
	return 0;
}

bool
regs_call_clones(int64_t nr)
{
	return false;
}

void
regs_set_syscall(
    struct uregs *regs, uint64_t insn_addr, long nr, const uint64_t args[6])
{
}

void
regs_exchange_syscall(
    struct uregs *regs, uint64_t insn_addr, long nr, const uint64_t args[6])
{
}

void
regs_redo_syscall(struct uregs *regs)
{
}

void
regs_skip_syscall(struct uregs *regs, int64_t result)
{
}

void
regs_called(struct uregs *regs, int64_t result)
{
}

int64_t
regs_result(const struct uregs *regs)
{
	return -ENOSYS;
}

void
regs_set_result(struct uregs *regs, int64_t result)
{
}

void
regs_set_syscall_nr(struct uregs *regs, long nr)
{
}

void
regs_change_syscall(struct uregs *regs, long nr, const uint64_t args[6])
{
}

void
regs_past_syscall(struct uregs *regs)
{
}

int64_t
regs_syscall_nr(const struct uregs *regs)
{
	return -1;
}

void
regs_syscall_args(const struct uregs *regs, uint64_t args[6])
{
	for (int i = 0; i < 6; i++)
		args[i] = 0;
}
