/*
 * A machine that has not been written: no bytes are an instruction.
 */
#include "disasm/insn.h"

#include <errno.h>

#include "disasm/jumptable.h"
#include "disasm/pieces.h"

int
insn_decode(const uint8_t *code, size_t len, uint64_t addr, struct insn *insn)
{
	return -EILSEQ;
}

bool
insn_constant(const struct insn *insn, uint8_t *reg, uint64_t *value)
{
	return false;
}

bool
insn_is_unwound(const struct insn *insn)
{
	return false;
}

bool
insn_lays_frame(const struct insn *insn)
{
	return false;
}

bool
insn_names(const struct insn *insn, bool low, uint64_t *addr)
{
	return false;
}

bool
insn_goes_by_word(const struct insn *insn)
{
	return false;
}

bool
insn_is_pause(const struct insn *insn)
{
	return false;
}

bool
jumptable_shape(const struct insn *w, size_t n, struct jumpshape *shape)
{
	return false;
}

bool
insn_gives_constant(const struct insn *in, uint8_t reg, uint64_t *value)
{
	return false;
}

bool
jumptable_find(const struct insn *w, size_t n, const struct jumpshape *shape,
    struct jumptable *out)
{
	return false;
}

enum giving
insn_gives(const struct insn *in, uint8_t *reg)
{
	return GIVES_ELSE;
}

enum giving
insn_jumps_by(const struct insn *in, uint8_t *reg)
{
	return GIVES_ELSE;
}

bool
insn_is_argument(uint8_t reg)
{
	return false;
}

bool
pieces_is_stub(const struct reader *code, uint64_t addr)
{
	return false;
}
