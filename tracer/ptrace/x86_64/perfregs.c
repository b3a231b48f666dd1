/*
 * Registers in records of perf events; see tracer/ptrace/perfregs.h.  The numbers
 * are those of enum perf_event_x86_regs.  The base of thread-local storage is not
 * among them.
 */
#include "tracer/ptrace/perfregs.h"

#include <asm/perf_regs.h>
#include <string.h>

#include "dlang/base/base.h"

static const struct row {
	uint8_t bit, ureg;
} rows[] = {
	/* In the order of the bits. */
	{ PERF_REG_X86_AX, UREG_RAX },
	{ PERF_REG_X86_BX, UREG_RBX },
	{ PERF_REG_X86_CX, UREG_RCX },
	{ PERF_REG_X86_DX, UREG_RDX },
	{ PERF_REG_X86_SI, UREG_RSI },
	{ PERF_REG_X86_DI, UREG_RDI },
	{ PERF_REG_X86_BP, UREG_RBP },
	{ PERF_REG_X86_SP, UREG_RSP },
	{ PERF_REG_X86_IP, UREG_RIP },
	{ PERF_REG_X86_FLAGS, UREG_RFLAGS },
	{ PERF_REG_X86_CS, UREG_CS },
	{ PERF_REG_X86_SS, UREG_SS },
	{ PERF_REG_X86_R8, UREG_R8 },
	{ PERF_REG_X86_R9, UREG_R9 },
	{ PERF_REG_X86_R10, UREG_R10 },
	{ PERF_REG_X86_R11, UREG_R11 },
	{ PERF_REG_X86_R12, UREG_R12 },
	{ PERF_REG_X86_R13, UREG_R13 },
	{ PERF_REG_X86_R14, UREG_R14 },
	{ PERF_REG_X86_R15, UREG_R15 },
};

uint64_t
perfregs_mask(void)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		mask |= 1ULL << rows[i].bit;
	return mask;
}

void
perfregs_take(const uint64_t *words, struct uregs *out)
{
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		out->r[rows[i].ureg] = words[i];
}
