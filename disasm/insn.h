/*
 * One decoded instruction, for inject/ and the providers.  The decoder and
 * Capstone are not visible outside disasm/.  Decoding happens while probes are
 * armed, never at a hit.
 *
 * The file of each machine defines
 *
 *	INSN_MAX_LEN        the longest instruction, in bytes
 *	INSN_SYSCALL_BYTES  the bytes of the system call instruction, a string
 *	INSN_CAPSTONE_ARCH  parameters for Capstone
 *	INSN_CAPSTONE_MODE
 *	struct insn         a decoded instruction, with at least
 *
 *	    uint64_t addr    where it was decoded
 *	    uint64_t target  JMP, JCC, LOOP, CALL: absolute target; XSTATE: an
 *	                     address to which control may go, or 0
 *	    int64_t imm      RET: additional bytes popped; ADD_SP: the constant
 *	    uint8_t bytes[INSN_MAX_LEN], len
 *	    uint8_t kind     enum insn_kind
 *	    uint8_t reg      MOV_REG, LEA, PUSH_REG, POP_REG: enum ureg, or
 *	                     INSN_NOREG
 *	    const char *refuse  why it cannot be displaced, a phrase
 *	                        for `-v' ("transaction begin", ...); or NULL
 *
 * and whatever else the machine's own files here and in inject/ need.
 */
#ifndef DISASM_INSN_H
#define DISASM_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disasm/machine/insn.h"

/*
 * The kinds that matter for displacing an instruction and for finding the exits
 * of a function.  INSN_PLAIN is everything that may run at another address
 * unchanged, or with a rewritten pc-relative field.
 */
enum insn_kind {
	INSN_PLAIN,
	INSN_NOP,      /* any form that does nothing */
	INSN_LANDING,  /* marks a valid target of indirect branches */
	INSN_JMP,      /* direct, target known */
	INSN_JMP_IND,  /* through a register or memory */
	INSN_JCC,      /* conditional, target known */
	INSN_LOOP,     /* conditional on a register, target known */
	INSN_CALL,     /* direct, target known */
	INSN_CALL_IND, /* through a register or memory */
	INSN_RET, /* near; `imm' is the number of additional bytes popped */
	INSN_PUSH_REG, /* push of the whole of `reg' */
	INSN_POP_REG,  /* pop into the whole of `reg' */
	INSN_LEAVE,    /* undoes a frame: stack and frame pointer */
	INSN_MOV_REG,  /* `reg' gets the value of another register */
	INSN_LEA,      /* `reg' gets an address that is computed */
	INSN_ADD_SP,   /* `imm' is added to the stack pointer */
	INSN_XSTATE,   /* uses the pc in another way; `refuse' says how */
	INSN_SYSCALL,
	INSN_TRAP, /* the program's own breakpoint */
	INSN_UD,   /* never returns normally */
};

#define INSN_NOREG 0xff

/*
 * Decode one instruction of at most `len' bytes at `code', which lies at
 * `addr'.  0; -EILSEQ: not an instruction; -ENODATA: the instruction is longer
 * than `len'.  After an error *insn is undefined.
 */
int insn_decode(
    const uint8_t *code, size_t len, uint64_t addr, struct insn *insn);

/* Does it only load a constant into a general register?  Then *reg (enum ureg)
 * and *value are set; a 32-bit constant is zero-extended. */
bool insn_constant(const struct insn *insn, uint8_t *reg, uint64_t *value);

/* Does it set the stack pointer to that of another function, as the end of
 * __builtin_eh_return does? */
bool insn_is_unwound(const struct insn *insn);

/* Does it make the frame pointer an address of the stack? */
bool insn_lays_frame(const struct insn *insn);

/* Does it compute or contain an address without jumping to it?  That is a
 * pc-relative address; with `low' also a constant at the end of the
 * instruction, as in programs in the lowest 2 GiB.  *addr is the address. */
bool insn_names(const struct insn *insn, bool low, uint64_t *addr);

/* Is its operand in memory at a fixed distance from the pc?  A jump to another
 * object goes through such a word. */
bool insn_goes_by_word(const struct insn *insn);

/* Is it the pause instruction of a spin loop? */
bool insn_is_pause(const struct insn *insn);

/*
 * Ask Capstone, which shares no code with insn_decode(), before a byte of text
 * is changed.  False if Capstone knows the instruction and finds another
 * length.
 */
bool insn_agreed(const struct insn *insn);
/* Is Capstone missing?  Then insn_agreed() has always returned true. */
bool insn_unopposed(void);

#endif
