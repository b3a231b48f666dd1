/*
 * Writes instructions that will run at a given address.  For files of folders
 * x86_64/ only.
 */
#ifndef DLANG_BASE_X86_64_EMIT_H
#define DLANG_BASE_X86_64_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers of the registers in instructions. */
enum {
	RAX,
	RCX,
	RDX,
	RBX,
	RSP,
	RBP,
	RSI,
	RDI,
	R8,
	R9,
	R10,
	R11,
	R12,
	R13,
	R14,
	R15
};

struct emit {
	uint8_t *buf; /* borrowed from the caller */
	size_t size;
	size_t len;    /* written so far */
	uint64_t addr; /* where buf[0] will be */
};

static inline uint64_t
emit_pc(const struct emit *e)
{
	return e->addr + e->len;
}

/* Does a rel32 that ends at `from' reach `to'? */
bool emit_reaches(uint64_t from, uint64_t to);

void emit_bytes(struct emit *e, const void *p, size_t n);
void emit_u8(struct emit *e, unsigned b);
void emit_u32(struct emit *e, uint32_t v);
void emit_u64(struct emit *e, uint64_t v);

/* push and pop of a 64-bit register. */
void emit_push(struct emit *e, unsigned reg);
void emit_pop(struct emit *e, unsigned reg);

/* Write a rel32 at offset `at' that refers to `to', for an instruction that
 * ends at offset `end'.  `to' must be within reach. */
void emit_patch_rel32(struct emit *e, size_t at, size_t end, uint64_t to);

/* jmp to `to': 5 bytes, or 14 if a rel32 does not reach. */
void emit_jmp(struct emit *e, uint64_t to);

#define EMIT_JMP_NEAR 5
#define EMIT_JMP_FAR  14

#endif
