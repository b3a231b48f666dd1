/*
 * The decoder and the planner on any bytes: what is decoded is within bounds,
 * what is planned fits its slot, and the slot's own code is instructions of
 * which each is a place that can be left.
 */
#include <string.h>

#include "dlang/base/base.h"
#include "inject/displaced.h"
#include "inject/slot.h"

#define HOME UINT64_C(0x7f1234567000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int
any_read(struct target *t, uint64_t addr, void *buf, size_t len)
{
	memset(buf, (int)(addr & 0xff), len);
	return addr % 3 ? 0 : -1;
}

static int
any_write(struct target *t, uint64_t addr, const void *buf, size_t len)
{
	return addr % 3 ? 0 : -1;
}

static const struct target_ops ops = { .read = any_read, .write = any_write };

/* Walk the slot's code up to its literals, leaving it at every instruction. */
static void
check_slot(
    const struct displaced *d, const uint8_t *buf, unsigned len, uint64_t slot)
{
	struct target t = { &ops };
	struct insn insn;

	for (unsigned at = 0; at < len; at += insn.len) {
		struct uregs regs = { .r = { [UREG_RIP] = slot + at } };
		displaced_leave(d, &t, at, &regs);
		ASSERT(regs.r[UREG_RIP] - slot >= len);
		ASSERT(displaced_text_pc(d, at) - slot >= len);
		ASSERT(insn_decode(buf + at, len - at, slot + at, &insn) == 0);
		/* What follows is data, or nothing. */
		if (insn.kind == INSN_JMP || insn.kind == INSN_JMP_IND ||
		    insn.kind == INSN_RET || insn.kind == INSN_UD)
			break;
	}
}

static void
check_plan(struct displaced *d, uint64_t slot, uint64_t target)
{
	uint8_t buf[SLOT_SIZE_MAX];
	uint64_t lo, hi;

	displaced_window(d, &lo, &hi);
	if (d->size == 0 || slot < lo || slot + d->size - 1 > hi)
		return;
	/* There was nothing where a slot is that a program could go to. */
	if (target - slot < d->size)
		return;
	unsigned len = displaced_write(d, slot, buf);
	ASSERT(len != 0 && len <= d->size && d->size <= SLOT_SIZE_MAX);
	check_slot(d, buf, len, slot);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct displaced d;
	struct insn insn;
	const char *why = NULL;
	uint64_t fault;

	int err = insn_decode(data, size, HOME, &insn);
	if (err != 0)
		return 0;
	ASSERT(insn.len != 0 && insn.len <= INSN_MAX_LEN && insn.len <= size);
	ASSERT(insn.modrm_at < insn.len && insn.opcode_at < insn.len);
	ASSERT(!insn.rip_relative || insn.disp_at + 4 <= insn.len);
	insn_agreed(&insn);
	if (displaced_plan(&d, &insn, &why) != 0) {
		ASSERT(why != NULL);
		return 0;
	}
	check_plan(&d, HOME + 0x100000, insn.target);
	struct displaced far = d;
	if (displaced_go_far(&far))
		check_plan(&far, HOME + (UINT64_C(1) << 40), insn.target);
	if (d.how == DISP_EMULATE || far.how == DISP_EMULATE) {
		struct target t = { &ops };
		struct uregs regs = { .r = { [UREG_RIP] = HOME } };
		displaced_emulate(&far, &t, &regs, &fault);
	}
	return 0;
}
