/*
 * Linkage stubs of x86-64; see disasm/pieces.h.
 */
#include "disasm/pieces.h"

bool
pieces_is_stub(const struct reader *code, uint64_t addr)
{
	uint8_t bytes[INSN_MAX_LEN];
	struct insn in = { .kind = INSN_LANDING };

	for (int i = 0; i < 2 && in.kind == INSN_LANDING; i++, addr += in.len)
		if (reader_read(code, addr, bytes, sizeof(bytes)) != 0 ||
		    insn_decode(bytes, sizeof(bytes), addr, &in) != 0)
			return false;
	return in.kind == INSN_JMP_IND && insn_goes_by_word(&in);
}
