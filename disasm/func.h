/*
 * Walk the instructions of a function and find those that leave it.  Works by
 * callback and allocates nothing.  Used while probes are armed, never at a hit.
 */
#ifndef DISASM_FUNC_H
#define DISASM_FUNC_H

#include "disasm/insn.h"

/* How an instruction leaves the function (pid provider, return probes). */
enum func_exit {
	FUNC_STAYS,
	FUNC_RET,      /* near return */
	FUNC_TAIL_JMP, /* direct jump out of [addr, addr+size) */
	FUNC_TAIL_JCC, /* conditional jump out: leaves only when taken */
	FUNC_TAIL_IND, /* indirect jump that is certainly not a jump table.  A
			* jump through the GOT, or through a register with the
			* frame already removed, is not certain: it is
			* FUNC_STAYS */
};

struct func_insn {
	struct insn insn;
	uint64_t offset; /* from the function's start */
	enum func_exit exit;
};

enum func_end {
	FUNC_COMPLETE,    /* every byte decoded */
	FUNC_UNDECODABLE, /* stopped at bytes that are not an instruction (a
			   * jump table or data in text); the instructions
			   * before are valid */
	FUNC_STOPPED,     /* the callback asked to stop */
};

/*
 * Call `each' for every instruction of the function whose bytes are code[0 ..
 * size) and which starts at addr, in address order.  The callback returns 0 to
 * go on.  *stop_offset (may be NULL) is where the walk ended.
 */
enum func_end func_walk(const uint8_t *code, size_t size, uint64_t addr,
    int (*each)(void *ctx, const struct func_insn *), void *ctx,
    uint64_t *stop_offset);

#endif
