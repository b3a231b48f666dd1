/*
 * A machine that has not been written: nothing is known of its files.
 */
#include "symbols/elf/machine.h"

#include "symbols/sdtarg.h"

const uint8_t machine_uregs[CFI_REGS] = { UREG_SP, UREG_FRAME, UREG_RESULT,
	UREG_PC };
const uint32_t machine_kept = 0;

bool
machine_vector(uint64_t dwarf, uint8_t *ureg)
{
	return false;
}

bool
machine_is_plt(const uint8_t *code, size_t n)
{
	return false;
}

bool
machine_is_sigreturn(const uint8_t *code)
{
	return false;
}

enum machine_reloc
machine_reloc(uint32_t type)
{
	return RELOC_OTHER;
}

size_t
sdt_args(const char *text, const struct sdt_place *at, struct argloc *out,
    size_t max)
{
	return 0;
}
