/*
 * x86-64, as symbols/elf/machine.h asks for it.
 */
#include "symbols/elf/machine.h"

#include <assert.h>
#include <string.h>

/* psABI, "DWARF Register Number Mapping". */
#define VECTORS_FROM 17
#define VECTORS      16

const uint8_t machine_uregs[CFI_REGS] = { UREG_RAX, UREG_RDX, UREG_RCX,
	UREG_RBX, UREG_RSI, UREG_RDI, UREG_RBP, UREG_RSP, UREG_R8, UREG_R9,
	UREG_R10, UREG_R11, UREG_R12, UREG_R13, UREG_R14, UREG_R15, UREG_RIP };

/* System V ABI for x86-64, 3.2.1. */
const uint32_t machine_kept = 1 << CFI_RBX | 1 << CFI_RBP | 1 << CFI_R12 |
    1 << CFI_R13 | 1 << CFI_R14 | 1 << CFI_R15;

bool
machine_vector(uint64_t dwarf, uint8_t *ureg)
{
	if (dwarf < VECTORS_FROM)
		return false;
	if (ureg == NULL)
		return true;
	if (dwarf >= VECTORS_FROM + VECTORS)
		return false;
	*ureg = (uint8_t)UREG_XMM(dwarf - VECTORS_FROM, 0);
	return true;
}

/* [endbr64] [bnd] jmp *disp(%rip), or a push from there and the same jump. */
bool
machine_is_plt(const uint8_t *p, size_t n)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const uint8_t *end = p + n;

	if (end - p >= 4 && memcmp(p, endbr, 4) == 0)
		p += 4;
	if (end - p >= 6 && p[0] == 0xff && p[1] == 0x35)
		p += 6;
	if (end - p >= 1 && p[0] == 0xf2)
		p++;
	return end - p >= 2 && p[0] == 0xff && p[1] == 0x25;
}

enum machine_reloc
machine_reloc(uint32_t type)
{
	switch (type) {
	case R_X86_64_IRELATIVE: return RELOC_RESOLVED;
	case R_X86_64_JUMP_SLOT:
	case R_X86_64_GLOB_DAT: return RELOC_SYMBOL;
	default: return RELOC_OTHER;
	}
}

bool
machine_is_sigreturn(const uint8_t *code)
{
	/* mov $15,%rax (or %eax); syscall */
	static const uint8_t rax[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f,
		0x05 };
	static const uint8_t eax[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 };

	static_assert(
	    sizeof(rax) == MACHINE_SIGRETURN, "the longer of the two");
	return memcmp(code, rax, sizeof(rax)) == 0 ||
	    memcmp(code, eax, sizeof(eax)) == 0;
}
