/*
 * Walks a function by its bytes, in address order and without following
 * branches: symbols give the range, and compilers put no data into it.
 */
#include "disasm/func.h"

static bool
outside(uint64_t target, uint64_t addr, size_t size)
{
	return target - addr >= size;
}

static enum func_exit
exit_of(const struct insn *insn, uint64_t addr, size_t size)
{
	switch ((enum insn_kind)insn->kind) {
	case INSN_RET: return FUNC_RET;
	case INSN_JMP:
		return outside(insn->target, addr, size) ? FUNC_TAIL_JMP :
							   FUNC_STAYS;
	case INSN_JCC:
	case INSN_LOOP:
		return outside(insn->target, addr, size) ? FUNC_TAIL_JCC :
							   FUNC_STAYS;
	case INSN_PLAIN:
	case INSN_NOP:
	case INSN_LANDING:
	case INSN_JMP_IND:
	case INSN_CALL:
	case INSN_CALL_IND:
	case INSN_PUSH_REG:
	case INSN_POP_REG:
	case INSN_LEAVE:
	case INSN_MOV_REG:
	case INSN_LEA:
	case INSN_ADD_SP:
	case INSN_XSTATE:
	case INSN_SYSCALL:
	case INSN_TRAP:
	case INSN_UD: return FUNC_STAYS;
	}
	return FUNC_STAYS;
}

enum func_end
func_walk(const uint8_t *code, size_t size, uint64_t addr,
    int (*each)(void *ctx, const struct func_insn *), void *ctx,
    uint64_t *stop_offset)
{
	enum func_end end = FUNC_COMPLETE;
	struct func_insn fi;
	uint64_t at = 0;

	while (at < size) {
		if (insn_decode(code + at, size - at, addr + at, &fi.insn) !=
		    0) {
			end = FUNC_UNDECODABLE;
			break;
		}
		fi.offset = at;
		fi.exit = exit_of(&fi.insn, addr, size);
		if (each(ctx, &fi) != 0) {
			end = FUNC_STOPPED;
			break;
		}
		at += fi.insn.len;
	}
	if (stop_offset != NULL)
		*stop_offset = at;
	return end;
}
