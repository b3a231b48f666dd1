/*
 * One instruction as the patcher and the providers need to see it.
 * A door: the decoder and Capstone stay in disasm/, and decoding happens only
 * while probes are being armed.
 *
 * The machine's file defines
 *
 *	INSN_MAX_LEN        the longest instruction, in bytes
 *	INSN_SYSCALL_BYTES  the bytes of the system call instruction, a string
 *	INSN_CAPSTONE_ARCH  what Capstone is opened with, and
 *	INSN_CAPSTONE_MODE
 *	struct insn         what is known of an instruction:
 *
 *	    uint64_t addr    where it was decoded
 *	    uint64_t target  JMP, JCC, LOOP, CALL: absolute target
 *	    int64_t imm      RET: bytes popped besides; ADD_SP: what is added
 *	    uint8_t bytes[INSN_MAX_LEN], len
 *	    uint8_t kind     enum insn_kind
 *	    uint8_t reg      MOV_REG, LEA, PUSH_REG, POP_REG: enum ureg, or
 *	                     INSN_NOREG
 *	    const char *refuse  why it must not be displaced, or NULL: one phrase
 *	                        for `-v' ("transaction begin", ...)
 *
 * and whatever the machine's own files here and in inject/ ask of it.
 */
#ifndef DISASM_INSN_H
#define DISASM_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disasm/machine/insn.h"

/*
 * What matters for displacing an instruction and for finding the ends of a
 * function.  Everything that may run from another address as it stands, or
 * with a field rewritten that counts from the pc, is INSN_PLAIN.
 */
enum insn_kind {
	INSN_PLAIN,
	INSN_NOP,      /* any form that does nothing */
	INSN_LANDING,  /* where indirect branches may land */
	INSN_JMP,      /* direct, target known */
	INSN_JMP_IND,  /* through a register or memory */
	INSN_JCC,      /* conditional, target known */
	INSN_LOOP,     /* conditional on a register, target known */
	INSN_CALL,     /* direct, target known */
	INSN_CALL_IND, /* through a register or memory */
	INSN_RET,      /* near; `imm' holds the bytes popped besides */
	INSN_PUSH_REG, /* push of the whole of `reg' */
	INSN_POP_REG,  /* pop into the whole of `reg' */
	INSN_LEAVE,    /* undoes a frame: stack and frame pointer */
	INSN_MOV_REG,  /* `reg' gets the value of another register */
	INSN_LEA,      /* `reg' gets an address that is computed */
	INSN_ADD_SP,   /* `imm' is added to the stack pointer */
	INSN_XSTATE,   /* reads or writes the pc in another way: see `refuse' */
	INSN_SYSCALL,
	INSN_TRAP, /* the program's own breakpoint */
	INSN_UD,   /* never returns normally */
};

#define INSN_NOREG 0xff

/*
 * Decode one instruction of at most `len' bytes at `code', which lies at
 * `addr'.  0; or -EILSEQ when it is no instruction, -ENODATA when `len' cuts
 * it off.  *insn is then undefined.
 */
int insn_decode(
    const uint8_t *code, size_t len, uint64_t addr, struct insn *insn);

/* Does it put a constant into a general register and do nothing else?  Then
 * *reg (enum ureg) and *value say which; 32 bits extend with zeros. */
bool insn_constant(const struct insn *insn, uint8_t *reg, uint64_t *value);

/* Does it take the stack pointer of another function, as the end of
 * __builtin_eh_return does? */
bool insn_is_unwound(const struct insn *insn);

/* The address that it computes or holds, if it does not jump there: one that
 * counts from the pc; with `low', also a constant at its end, as programs have
 * that lie in the lowest 2 GiB. */
bool insn_names(const struct insn *insn, bool low, uint64_t *addr);

/* Does its operand lie in memory at a fixed distance from the pc, as the word does
 * that a jump to another object goes through? */
bool insn_goes_by_word(const struct insn *insn);

/* The hint that a loop waits for another processor. */
bool insn_is_pause(const struct insn *insn);

/*
 * A second opinion, from a decoder that shares nothing with insn_decode():
 * false when it knows the instruction and finds it longer or shorter.  For a
 * byte of text that is about to be changed.
 */
bool insn_agreed(const struct insn *insn);
/* Was there nobody to ask?  Then insn_agreed() has been true each time. */
bool insn_unopposed(void);

#endif
