/*
 * A machine that has not been written: no instruction can be displaced.
 */
#include "inject/displaced.h"

#include <errno.h>

int
displaced_plan(struct displaced *d, const struct insn *insn, const char **why)
{
	*why = "no code for this machine";
	return -EOPNOTSUPP;
}

void
displaced_window(const struct displaced *d, uint64_t *lo, uint64_t *hi)
{
	*lo = 0;
	*hi = 0;
}

bool
displaced_go_far(struct displaced *d)
{
	return false;
}

unsigned
displaced_write(struct displaced *d, uint64_t slot, uint8_t *buf)
{
	return 0;
}

int
displaced_emulate(const struct displaced *d, struct target *t,
    struct uregs *regs, uint64_t *fault_addr)
{
	*fault_addr = regs->r[UREG_PC];
	return -EFAULT;
}

enum slot_place
displaced_leave(const struct displaced *d, struct target *t, unsigned at,
    struct uregs *regs)
{
	return SLOT_OUTSIDE;
}

uint64_t
displaced_text_pc(const struct displaced *d, unsigned at)
{
	return d->insn.addr;
}

bool
displaced_branch(const struct displaced *d, struct target *t,
    const struct uregs *regs, uint64_t *to)
{
	return false;
}
