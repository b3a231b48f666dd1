/*
 * The encoding of one x86-64 instruction: where its parts are, not what it
 * does.  For files of disasm/ only; other rooms use struct insn.
 */
#ifndef DISASM_X86_64_RAW_H
#define DISASM_X86_64_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum raw_enc { RAW_LEGACY, RAW_VEX /* and XOP */, RAW_EVEX };

/* Prefix bits. */
#define RAW_OPSIZE   0x01 /* 66 */
#define RAW_ADDRSIZE 0x02 /* 67 */
#define RAW_REP      0x04 /* f3, or pp = 2 */
#define RAW_REPNE    0x08 /* f2, or pp = 3 */
#define RAW_LOCK     0x10 /* f0 */

struct raw {
	uint8_t len;
	uint8_t enc; /* enum raw_enc */
	uint8_t map; /* 0 one byte, 1 0f, 2 0f38, 3 0f3a, 5 and 6 EVEX,
			    * 8 to 10 XOP */
	uint8_t opcode;
	uint8_t prefixes;  /* RAW_* */
	uint8_t segment;   /* 0x64, 0x65 or 0 */
	uint8_t rex;       /* W R X B in the low four bits, from whatever prefix
			    * carries them; bit 6 set when there is a REX */
	uint8_t vvvv;      /* VEX, EVEX: register in the prefix */
	uint8_t opcode_at; /* of the first byte after the legacy prefixes: REX,
			    * VEX, EVEX, escape or opcode */
	uint8_t modrm_at;  /* 0: none */
	uint8_t modrm, sib;
	bool has_sib;
	uint8_t disp_at, disp_size; /* 0: none */
	uint8_t imm_size;           /* 0: none */
	int64_t disp, imm;          /* sign-extended */
};

#define RAW_W 0x8
#define RAW_R 0x4
#define RAW_X 0x2
#define RAW_B 0x1

static inline unsigned
raw_mod(const struct raw *r)
{
	return r->modrm >> 6;
}

static inline unsigned
raw_reg3(const struct raw *r)
{
	return r->modrm >> 3 & 7;
}

static inline unsigned
raw_rm3(const struct raw *r)
{
	return r->modrm & 7;
}

/* Register numbers 0..15 with the prefix bits applied. */
static inline unsigned
raw_reg(const struct raw *r)
{
	return raw_reg3(r) | ((r->rex & RAW_R) ? 8U : 0U);
}

static inline unsigned
raw_rm(const struct raw *r)
{
	return raw_rm3(r) | ((r->rex & RAW_B) ? 8U : 0U);
}

/* enum ureg of dlang/uregs.h, by hardware number. */
extern const uint8_t raw_uregs[16];

/*
 * Find the parts of the instruction at code[0 ..  len).  0; -EILSEQ if it is
 * not a known instruction of 64-bit mode; -ENODATA if it is longer than len.
 */
int raw_decode(const uint8_t *code, size_t len, struct raw *r);

#endif
