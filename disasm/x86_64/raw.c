/*
 * Length decoder for x86-64: prefixes, opcode map, ModRM, SIB, displacement,
 * immediate, for the legacy maps and for VEX and EVEX.
 *
 *   [66 67 f2 f3 f0 seg]* [REX] [0f [38|3a]] op [modrm [sib] [disp]] [imm]
 *   [67 seg]*     c5 RvvvvLpp                op modrm ...
 *   [67 seg]*     c4 RXBmmmmm WvvvvLpp       op modrm ...   (8f: XOP)
 *   [67 seg]*     62 P0 P1 P2                op modrm ...
 *
 * One table per legacy map says what follows an opcode; VEX and EVEX need
 * none, as only a few opcodes of map 1 and all of map 3 carry an immediate.
 * It is a decoder of our own, beside Capstone, for two reasons: Capstone 4.0
 * stops at most of AVX-512 and at what came after it, which libc uses; and
 * return probes walk every instruction of every function, for which it is
 * thirty times too slow.  The facts are those of the Intel SDM, volume 2,
 * chapter 2 and appendix A.
 *
 * An instruction that the hardware may refuse (a lock prefix where none may
 * be, say) is decoded all the same: it then faults wherever it is run.
 */
#include "disasm/x86_64/raw.h"

#include <errno.h>
#include <string.h>

#include "disasm/insn.h"

/* What follows an opcode. */
enum {
	M_ = 0x01, /* ModRM */
	B_ = 0x02, /* one byte */
	Z_ = 0x04, /* four bytes, two with 66 */
	V_ = 0x08, /* as Z, eight with REX.W */
	W_ = 0x10, /* two bytes */
	J_ = 0x20, /* four bytes whatever the prefixes (branch) */
	O_ = 0x40, /* an address of eight bytes, four with 67 */
	X_ = 0x80, /* not an opcode in 64-bit mode, or handled elsewhere */
	MB = M_ | B_,
	MZ = M_ | Z_,
	WB = W_ | B_,
	__ = 0,
};

/* clang-format off */
static const uint8_t map0[256] = {
/*        0   1   2   3   4   5   6   7   8   9   a   b   c   d   e   f */
/* 0 */  M_, M_, M_, M_, B_, Z_, X_, X_, M_, M_, M_, M_, B_, Z_, X_, X_,
/* 1 */  M_, M_, M_, M_, B_, Z_, X_, X_, M_, M_, M_, M_, B_, Z_, X_, X_,
/* 2 */  M_, M_, M_, M_, B_, Z_, X_, X_, M_, M_, M_, M_, B_, Z_, X_, X_,
/* 3 */  M_, M_, M_, M_, B_, Z_, X_, X_, M_, M_, M_, M_, B_, Z_, X_, X_,
/* 4 */  X_, X_, X_, X_, X_, X_, X_, X_, X_, X_, X_, X_, X_, X_, X_, X_,
/* 5 */  __, __, __, __, __, __, __, __, __, __, __, __, __, __, __, __,
/* 6 */  X_, X_, X_, M_, X_, X_, X_, X_, Z_, MZ, B_, MB, __, __, __, __,
/* 7 */  B_, B_, B_, B_, B_, B_, B_, B_, B_, B_, B_, B_, B_, B_, B_, B_,
/* 8 */  MB, MZ, X_, MB, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_,
/* 9 */  __, __, __, __, __, __, __, __, __, __, X_, __, __, __, __, __,
/* a */  O_, O_, O_, O_, __, __, __, __, B_, Z_, __, __, __, __, __, __,
/* b */  B_, B_, B_, B_, B_, B_, B_, B_, V_, V_, V_, V_, V_, V_, V_, V_,
/* c */  MB, MB, W_, __, X_, X_, MB, MZ, WB, __, W_, __, __, B_, X_, __,
/* d */  M_, M_, M_, M_, X_, X_, X_, __, M_, M_, M_, M_, M_, M_, M_, M_,
/* e */  B_, B_, B_, B_, B_, B_, B_, B_, J_, J_, X_, B_, __, __, __, __,
/* f */  X_, __, X_, X_, __, __, M_, M_, __, __, __, __, __, __, M_, M_,
};

static const uint8_t map1[256] = {
/*        0   1   2   3   4   5   6   7   8   9   a   b   c   d   e   f */
/* 0 */  M_, M_, M_, M_, X_, __, __, __, __, __, X_, __, X_, M_, __, X_,
/* 1 */  M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_,
/* 2 */  M_, M_, M_, M_, X_, X_, X_, X_, M_, M_, M_, M_, M_, M_, M_, M_,
/* 3 */  __, __, __, __, __, __, X_, __, X_, X_, X_, X_, X_, X_, X_, X_,
/* 4 */  M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_,
/* 5 */  M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_,
/* 6 */  M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_,
/* 7 */  MB, MB, MB, MB, M_, M_, M_, __, M_, M_, X_, X_, M_, M_, M_, M_,
/* 8 */  J_, J_, J_, J_, J_, J_, J_, J_, J_, J_, J_, J_, J_, J_, J_, J_,
/* 9 */  M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_,
/* a */  __, __, __, M_, MB, M_, M_, M_, __, __, __, M_, MB, M_, M_, M_,
/* b */  M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, MB, M_, M_, M_, M_, M_,
/* c */  M_, M_, MB, M_, MB, MB, MB, M_, __, __, __, __, __, __, __, __,
/* d */  M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_,
/* e */  M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_,
/* f */  M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_,
};
/* clang-format on */

/* Opcodes of the two three-byte maps that exist without VEX, as ranges. */
struct range {
	uint8_t first, last;
};

static const struct range map2_legacy[] = { { 0x00, 0x0b }, { 0x10, 0x10 },
	{ 0x14, 0x15 }, { 0x17, 0x17 }, { 0x1c, 0x1e }, { 0x20, 0x25 },
	{ 0x28, 0x2b }, { 0x30, 0x41 }, { 0x80, 0x82 }, { 0x8a, 0x8b },
	{ 0xc8, 0xcd }, { 0xcf, 0xcf }, { 0xd8, 0xd8 }, { 0xdb, 0xdf },
	{ 0xf0, 0xf1 }, { 0xf5, 0xf6 }, { 0xf8, 0xfc } };
static const struct range map3_legacy[] = { { 0x08, 0x0f }, { 0x14, 0x17 },
	{ 0x20, 0x22 }, { 0x40, 0x42 }, { 0x44, 0x44 }, { 0x60, 0x63 },
	{ 0xcc, 0xcc }, { 0xce, 0xcf }, { 0xdf, 0xdf }, { 0xf0, 0xf0 } };

static bool
in_ranges(const struct range *r, size_t n, uint8_t opcode)
{
	for (size_t i = 0; i < n; i++)
		if (opcode >= r[i].first && opcode <= r[i].last)
			return true;
	return false;
}

/* The bytes being decoded. */
struct cursor {
	const uint8_t *code;
	size_t len, at;
};

/* The next byte, or -ENODATA. */
static int
next_byte(struct cursor *c)
{
	return c->at < c->len ? c->code[c->at++] : -ENODATA;
}

static void
take_prefix(struct raw *r, uint8_t b)
{
	switch (b) {
	case 0x64:
	case 0x65: r->segment = b; break;
	case 0x66: r->prefixes |= RAW_OPSIZE; break;
	case 0x67: r->prefixes |= RAW_ADDRSIZE; break;
	/* The last of the two decides. */
	case 0xf2: r->prefixes = (r->prefixes & ~RAW_REP) | RAW_REPNE; break;
	case 0xf3: r->prefixes = (r->prefixes & ~RAW_REPNE) | RAW_REP; break;
	case 0xf0: r->prefixes |= RAW_LOCK; break;
	}
}

static bool
is_prefix(uint8_t b)
{
	switch (b) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3: return true;
	}
	return false;
}

static const uint8_t pp_prefix[4] = { 0, RAW_OPSIZE, RAW_REP, RAW_REPNE };

/* c4, c5, and 8f of XOP; the lead byte itself is consumed. */
static int
take_vex(struct raw *r, struct cursor *c, uint8_t lead)
{
	int p0 = next_byte(c), p1 = p0;

	if (r->prefixes & ~RAW_ADDRSIZE)
		return -EILSEQ;
	r->enc = RAW_VEX;
	r->map = 1;
	if (lead != 0xc5) {
		p1 = next_byte(c);
		if (p1 < 0)
			return p1;
		r->map = p0 & 0x1f;
		r->rex |= (~p0 >> 5 & 3) | ((p1 & 0x80) ? RAW_W : 0);
	}
	if (p0 < 0)
		return p0;
	if (!(p0 & 0x80))
		r->rex |= RAW_R;
	r->vvvv = ~p1 >> 3 & 15;
	r->prefixes |= pp_prefix[p1 & 3];
	if (lead == 0x8f)
		return r->map >= 8 && r->map <= 10 ? 0 : -EILSEQ;
	return r->map >= 1 && r->map <= 3 ? 0 : -EILSEQ;
}

/* 62: the four-byte prefix of AVX-512 (no APX). */
static int
take_evex(struct raw *r, struct cursor *c)
{
	if (r->prefixes & ~RAW_ADDRSIZE)
		return -EILSEQ;
	if (c->len - c->at < 3)
		return -ENODATA;
	uint8_t p0 = c->code[c->at], p1 = c->code[c->at + 1];

	c->at += 3;
	r->enc = RAW_EVEX;
	r->map = p0 & 7;
	r->rex |= (~p0 >> 5 & 7) | ((p1 & 0x80) ? RAW_W : 0);
	r->vvvv = ~p1 >> 3 & 15;
	r->prefixes |= pp_prefix[p1 & 3];
	/* Fixed bits: P0[3] is 0, P1[2] is 1.  Maps 5 and 6 are FP16. */
	if ((p0 & 8) || !(p1 & 4))
		return -EILSEQ;
	return r->map != 0 && r->map != 4 && r->map != 7 ? 0 : -EILSEQ;
}

/* Everything up to and including the opcode. */
static int
take_opcode(struct raw *r, struct cursor *c)
{
	int b = next_byte(c);

	while (b >= 0 && is_prefix((uint8_t)b)) {
		take_prefix(r, (uint8_t)b);
		b = next_byte(c);
	}
	r->opcode_at = (uint8_t)(c->at - 1);
	if (b >= 0 && (b & 0xf0) == 0x40) {
		r->rex = (uint8_t)b; /* its 0x40 says that it is there */
		b = next_byte(c);
		/* A REX prefix must be the last prefix. Another one has no
		 * effect, and no compiler writes it. */
		if (b >= 0 && (is_prefix((uint8_t)b) || (b & 0xf0) == 0x40))
			return -EILSEQ;
	}
	/* XOP (AMD, used in libcrypto): the ModRM byte of pop has no such map
	 * number. */
	bool xop = b == 0x8f && c->at < c->len && (c->code[c->at] & 0x1f) >= 8;

	if (b == 0xc4 || b == 0xc5 || b == 0x62 || xop) {
		if (r->rex != 0)
			return -EILSEQ;
		int err =
		    b == 0x62 ? take_evex(r, c) : take_vex(r, c, (uint8_t)b);
		if (err != 0)
			return err;
		b = next_byte(c);
	} else if (b == 0x0f) {
		r->map = 1;
		b = next_byte(c);
		if (b == 0x38 || b == 0x3a) {
			r->map = b == 0x38 ? 2 : 3;
			b = next_byte(c);
		}
	}
	if (b < 0)
		return b;
	r->opcode = (uint8_t)b;
	return 0;
}

/* What follows the opcode: bits of the tables above. */
static unsigned
opcode_form(const struct raw *r)
{
	uint8_t op = r->opcode;

	if (r->enc != RAW_LEGACY) {
		if (r->map == 3 || r->map == 8)
			return MB;
		if (r->map == 10)
			return M_ | J_; /* four bytes, not a branch */
		if (r->map != 1)
			return M_;
		if (op == 0x77)
			return __; /* vzeroupper, vzeroall */
		return (op >= 0x70 && op <= 0x73) || op == 0xc2 ||
			(op >= 0xc4 && op <= 0xc6) ?
		    MB :
		    M_;
	}
	switch (r->map) {
	case 0: return map0[op];
	case 1: return map1[op];
	case 2:
		return in_ranges(map2_legacy,
			   sizeof(map2_legacy) / sizeof(map2_legacy[0]), op) ?
		    M_ :
		    X_;
	default:
		return in_ranges(map3_legacy,
			   sizeof(map3_legacy) / sizeof(map3_legacy[0]), op) ?
		    MB :
		    X_;
	}
}

static int
take_modrm(struct raw *r, struct cursor *c)
{
	int b = next_byte(c);

	if (b < 0)
		return b;
	r->modrm_at = (uint8_t)(c->at - 1);
	r->modrm = (uint8_t)b;
	/* mov to and from control and debug registers ignores mod. */
	bool always_reg =
	    r->enc == RAW_LEGACY && r->map == 1 && (r->opcode & 0xfc) == 0x20;
	unsigned mod = raw_mod(r);

	if (mod == 3 || always_reg)
		return 0;
	if (raw_rm3(r) == 4) {
		b = next_byte(c);
		if (b < 0)
			return b;
		r->sib = (uint8_t)b;
		r->has_sib = true;
	}
	if (mod == 1)
		r->disp_size = 1;
	else if (mod == 2 || raw_rm3(r) == 5 ||
	    (r->has_sib && (r->sib & 7) == 5))
		r->disp_size = 4;
	return 0;
}

/* The number of bytes of the immediate (or moffs) of this form. */
static unsigned
imm_size(const struct raw *r, unsigned form)
{
	bool small = (r->prefixes & RAW_OPSIZE) && !(r->rex & RAW_W);
	unsigned n = 0;

	if (form & B_)
		n += 1;
	if (form & W_)
		n += 2;
	if (form & (Z_ | V_))
		n += small ? 2 : (form & V_) && (r->rex & RAW_W) ? 8 : 4;
	if (form & J_)
		n += 4;
	if (form & O_)
		n += (r->prefixes & RAW_ADDRSIZE) ? 4 : 8;
	if (r->enc != RAW_LEGACY)
		return n;
	/* test is the only one of group 3 with an immediate */
	if (r->map == 0 && (r->opcode & 0xfe) == 0xf6 && raw_reg3(r) < 2)
		n += r->opcode == 0xf6 ? 1 : small ? 2 : 4;
	/* extrq and insertq of SSE4a */
	if (r->map == 1 && r->opcode == 0x78 &&
	    (r->prefixes & (RAW_OPSIZE | RAW_REPNE)))
		n += 2;
	return n;
}

/* Opcodes that are valid only with some values of the ModRM byte. */
static bool
modrm_valid(const struct raw *r)
{
	unsigned reg = raw_reg3(r);
	bool mem = raw_mod(r) != 3;

	if (r->enc != RAW_LEGACY)
		return true;
	if (r->map == 0)
		switch (r->opcode) {
		case 0x8c:
		case 0x8e: return reg <= 5;
		case 0x8d: return mem;
		case 0x8f: return reg == 0; /* else XOP */
		case 0xc6:
		case 0xc7: return reg == 0 || r->modrm == 0xf8;
		case 0xfe: return reg <= 1;
		case 0xff: return reg != 7 && (mem || (reg != 3 && reg != 5));
		default: return true;
		}
	if (r->map != 1)
		return true;
	switch (r->opcode) {
	case 0x00: return reg <= 5;
	case 0x13:
	case 0x17:
	case 0x2b:
	case 0xc3:
	case 0xe7: return mem;
	case 0x50:
	case 0xc5:
	case 0xd7:
	case 0xf7: return !mem;
	case 0x71:
	case 0x72: return !mem && (reg == 2 || reg == 4 || reg == 6);
	case 0x73: return !mem && (reg & 2);
	case 0xa6:
	case 0xa7: return !mem && raw_rm3(r) == 0; /* VIA PadLock */
	case 0xb8: return r->prefixes & RAW_REP;
	case 0xba: return reg >= 4;
	case 0xc7: return reg == 1 ? mem : reg >= 3;
	default: return true;
	}
}

/* The little-endian number of `size' bytes at p, with its sign.  Half of all
 * instructions have one: the usual sizes take no call of memcpy(). */
static int64_t
number(const uint8_t *p, unsigned size)
{
	uint64_t v = 0;
	int32_t word;

	switch (size) {
	case 0: return 0;
	case 1: return (int8_t)p[0];
	case 4: memcpy(&word, p, sizeof(word)); return word;
	default: memcpy(&v, p, size); break;
	}
	if (size < 8 && (p[size - 1] & 0x80))
		v |= ~UINT64_C(0) << (8 * size);
	return (int64_t)v;
}

int
raw_decode(const uint8_t *code, size_t len, struct raw *r)
{
	struct cursor c = { code, len < INSN_MAX_LEN ? len : INSN_MAX_LEN, 0 };

	memset(r, 0, sizeof(*r));
	int err = take_opcode(r, &c);
	unsigned form = err == 0 ? opcode_form(r) : 0;

	if (err == 0 && (form & X_))
		return -EILSEQ;
	if (err == 0 && (form & M_))
		err = take_modrm(r, &c);
	if (err == 0 && (form & M_) && !modrm_valid(r))
		return -EILSEQ;
	/* 16-bit branches: Intel ignores the prefix and AMD does not, so the
	 * length is not known. */
	if (err == 0 && (form & J_) && r->enc == RAW_LEGACY &&
	    (r->prefixes & RAW_OPSIZE) && !(r->rex & RAW_W))
		return -EILSEQ;
	if (err == 0) {
		r->imm_size = (uint8_t)imm_size(r, form);
		if (c.at + r->disp_size + r->imm_size > c.len)
			err = -ENODATA;
	}
	/* Cut off, or longer than any instruction may be. */
	if (err != 0)
		return err == -ENODATA && len >= INSN_MAX_LEN ? -EILSEQ : err;
	if (r->disp_size != 0)
		r->disp_at = (uint8_t)c.at;
	r->disp = number(code + c.at, r->disp_size);
	c.at += r->disp_size;
	r->imm = number(code + c.at, r->imm_size);
	r->len = (uint8_t)(c.at + r->imm_size);
	return 0;
}
