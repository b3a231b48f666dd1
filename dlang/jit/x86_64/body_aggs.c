/*
 * Aggregations in a body: see body.h.
 *
 *	rcx	the hash of the key
 *	rdx	the lane, plus the distance between the areas if the second one is
 *		written
 *	rsi	the entry; rdx, if few registers are needed
 *	r9	the lane's agg_busy; rcx, if few registers are needed
 *	rdi	the value, if it is not in the frame; or else the key
 *	rax	the reference of the entry before it in the chain, or the area's
 *		end: a link always leads to a lower address (dlang/vm/agg.c)
 */
#include "dlang/base/base.h"
#include "dlang/jit/x86_64/body.h"
#include "dlang/vm/agg.h"

#define IN_VIEW(member) \
	(int32_t)(IN_ENV(at.aggs) + (int32_t)offsetof(struct agg_view, member))
#define IN_ENTRY(member) (int32_t) offsetof(struct agg_entry, member)

/* Its register, while values are added. */
#define ENTRY c->entry

static_assert(
    offsetof(struct agg_entry, id) == 4 && offsetof(struct agg_entry, cpu) == 6,
    "both are compared at once");

/* ---- values ---- */

bool
body_updates(const struct img_agg *agg)
{
	switch ((enum dif_agg)agg->func) {
	case AGG_COUNT:
	case AGG_MIN:
	case AGG_MAX:
	case AGG_SUM:
	case AGG_AVG:
	case AGG_STDDEV:
	case AGG_QUANTIZE: return true;
	case AGG_LQUANTIZE: return LQUANTIZE_STEP(agg->param) != 0;
	case AGG_LLQUANTIZE: return false;
	}
	return false;
}

/* The place of the entry's value. */
static int32_t
value_at(const struct img_agg *agg, unsigned word)
{
	return IN_ENTRY(data) + (int32_t)VM_ALIGN(agg->key_size) +
	    8 * (int32_t)word;
}

/* add qword [entry + off], n */
static void
add_one(struct code *c, int32_t off)
{
	enc_mi8(&c->e, true, 0x83, 0, ENTRY, off, 1);
}

/* add qword [entry + off], reg */
static void
add_to(struct code *c, int32_t off, unsigned reg)
{
	enc_rm(&c->e, true, 0x01, reg, ENTRY, off);
}

/* add qword [rsi + 8 * rax + off], 1 */
static void
add_to_bin(struct code *c, int32_t off)
{
	emit_bytes(&c->e, "\x48\x83\x84\xc6", 4);
	emit_u32(&c->e, (uint32_t)off);
	emit_u8(&c->e, 1);
}

static void
keep_if(struct code *c, const struct img_agg *agg, unsigned not_if)
{
	enc_rm(&c->e, true, OP_CMP_LOAD, RDI, ENTRY, value_at(agg, 0));
	size_t over = code_jump_near(c, 0x70U | not_if);
	enc_rm(&c->e, true, OP_MOV_STORE, RDI, ENTRY, value_at(agg, 0));
	code_land_near(c, over);
}

/* The sum of squares has 128 bits. */
static void
square(struct code *c, const struct img_agg *agg)
{
	code_move(c, RAX, RDI);
	enc_rr(&c->e, true, 0xf7, 5, RAX); /* imul rax */
	add_to(c, value_at(agg, 2), RAX);
	enc_rm(&c->e, true, 0x11, RDX, ENTRY, value_at(agg, 3)); /* adc */
}

/* The bin of k bits is 63 + k, or 63 - k for a negative value; see
 * quantize_bin() in dlang/vm/agg.c. */
static void
quantize(struct code *c, const struct img_agg *agg)
{
	code_move(c, RCX, RDI);
	enc_rr(&c->e, true, 0xf7, 3, RCX);          /* neg rcx */
	enc_rr(&c->e, true, OP_0F(0x48), RCX, RDI); /* cmovs rcx, rdi */
	enc_set(&c->e, RAX, QUANTIZE_ZERO);
	enc_rr(&c->e, true, OP_0F(0xbd), RCX, RCX); /* bsr rcx, rcx */
	size_t zero = code_jump_near(c, 0x70U | CC_E);
	enc_ri8(&c->e, false, 0x83, 0, RCX, 1); /* add ecx, 1 */
	enc_rr(&c->e, true, OP_TEST, RDI, RDI);
	size_t negative = code_jump_near(c, 0x78); /* js */
	enc_rr(&c->e, false, 0x01, RCX, RAX);      /* add eax, ecx */
	size_t over = code_jump_near(c, 0xeb);
	code_land_near(c, negative);
	enc_rr(&c->e, false, 0x29, RCX, RAX);   /* sub eax, ecx */
	size_t there = code_jump_near(c, 0x79); /* jns */
	enc_set(&c->e, RAX, 0);
	code_land_near(c, there);
	code_land_near(c, over);
	code_land_near(c, zero);
	add_to_bin(c, value_at(agg, 0));
}

/* See lquantize_bin() in dlang/vm/agg.c. */
static void
lquantize(struct code *c, const struct img_agg *agg)
{
	uint32_t levels = LQUANTIZE_LEVELS(agg->param);

	enc_set(&c->e, RCX, (uint64_t)(int64_t)LQUANTIZE_BASE(agg->param));
	enc_set(&c->e, RAX, (uint64_t)-1);
	enc_rr(&c->e, true, OP_CMP, RCX, RDI);
	size_t below = code_jump_near(c, 0x70U | CC_L);
	code_move(c, RAX, RDI);
	enc_rr(&c->e, true, 0x29, RCX, RAX); /* sub rax, rcx */
	enc_set(&c->e, RCX, LQUANTIZE_STEP(agg->param));
	enc_set(&c->e, RDX, 0);
	enc_rr(&c->e, true, 0xf7, 6, RCX); /* div rcx */
	enc_set(&c->e, RCX, levels);
	enc_rr(&c->e, true, OP_CMP, RCX, RAX);
	enc_rr(&c->e, true, OP_0F(0x40U | CC_A), RAX, RCX); /* cmova */
	code_land_near(c, below);
	add_to_bin(c, value_at(agg, 2));
}

static void
add_value(struct code *c, const struct img_agg *agg)
{
	switch ((enum dif_agg)agg->func) {
	case AGG_COUNT: add_one(c, value_at(agg, 0)); break;
	case AGG_MIN: keep_if(c, agg, CC_GE); break;
	case AGG_MAX: keep_if(c, agg, CC_LE); break;
	case AGG_SUM: add_to(c, value_at(agg, 0), RDI); break;
	case AGG_STDDEV:
		square(c, agg);
		add_one(c, value_at(agg, 0));
		add_to(c, value_at(agg, 1), RDI);
		break;
	case AGG_AVG:
		add_one(c, value_at(agg, 0));
		add_to(c, value_at(agg, 1), RDI);
		break;
	case AGG_QUANTIZE: quantize(c, agg); break;
	case AGG_LQUANTIZE: lquantize(c, agg); break;
	case AGG_LLQUANTIZE: break;
	}
}

/* ---- finding entries ---- */

/* The word of the key: in rdi, or from the frame to r8. */
static unsigned
key_word(struct code *c, const struct body_agg *g, uint32_t word)
{
	if (body_in_register(c->parts, g, true))
		return RDI;
	enc_rm(&c->e, true, OP_MOV_LOAD, R8, RSP, g->key + 8 * (int32_t)word);
	return R8;
}

/* The number of words of a key on the lane's stack that count, to r10, and its address
 * to r8. */
static void
far_key(struct code *c, const struct body_agg *g)
{
	if (g->count != BODY_NOWHERE)
		enc_rm(&c->e, true, OP_MOV_LOAD, R10, RSP, g->count);
	else
		enc_set(&c->e, R10, g->words);
	enc_rm(&c->e, true, OP_LEA, R8, RBX, FAR_KEYS + g->key);
}

/* The words of such a key at its end that are 0, behind the first ones, are not in its
 * hash: take them from r10. */
static void
without_zeros(struct code *c)
{
	struct emit *e = &c->e;
	uint32_t ends = 0;
	size_t again = e->len;

	enc_ri8(e, true, 0x83, 7, R10, AGG_HASH_ALL / 8); /* cmp r10, n */
	code_jump_if(c, CC_BE, &ends);
	/* cmp qword [r8 + 8 * r10 - 8], 0 */
	emit_bytes(e, "\x4b\x83\x7c\xd0\xf8\x00", 6);
	code_jump_if(c, CC_NE, &ends);
	enc_ri8(e, true, 0x83, 5, R10, 1); /* sub r10, 1 */
	code_jump_back(c, again);
	code_land(c, ends);
}

/* The hash of such a key to rcx.  Changes rax, rsi, r8 and r10. */
static void
hash_far(struct code *c, const struct body_agg *g)
{
	struct emit *e = &c->e;

	far_key(c, g);
	without_zeros(c);
	enc_set(e, RCX, AGG_HASH_BEGIN(g->agg->id));
	enc_set(e, RSI, AGG_HASH_FACTOR);
	size_t again = e->len;
	enc_rm(e, true, 0x33, RCX, R8, 0);      /* xor rcx, [r8] */
	enc_rr(e, true, OP_0F(0xaf), RCX, RSI); /* imul rcx, rsi */
	code_move(c, RAX, RCX);
	enc_ri8(e, true, 0xc1, 5, RAX, 32); /* shr rax, 32 */
	enc_rr(e, true, 0x31, RAX, RCX);    /* xor rcx, rax */
	enc_ri8(e, true, 0x83, 0, R8, 8);   /* add r8, 8 */
	enc_ri8(e, true, 0x83, 5, R10, 1);  /* sub r10, 1 */
	size_t over = code_jump_near(c, 0x70U | CC_E);
	code_jump_back(c, again);
	code_land_near(c, over);
}

/* If the key of the entry in rsi is another one, jump to *next.  What follows the words
 * that count is 0 in both.  Changes r8, r10 and r11. */
static void
compare_far(struct code *c, const struct body_agg *g, uint32_t *next)
{
	struct emit *e = &c->e;

	enc_rm(e, false, OP_CMP_LOAD, RCX, RSI, IN_ENTRY(hash));
	code_jump_if(c, CC_NE, next);
	far_key(c, g);
	size_t again = e->len;
	/* mov r11, [r8 + 8 * r10 - 8]; cmp r11, [rsi + 8 * r10 + n] */
	emit_bytes(e, "\x4f\x8b\x5c\xd0\xf8\x4e\x3b\x5c\xd6", 9);
	emit_u8(e, IN_ENTRY(data) - 8);
	code_jump_if(c, CC_NE, next);
	enc_ri8(e, true, 0x83, 5, R10, 1); /* sub r10, 1 */
	size_t over = code_jump_near(c, 0x70U | CC_E);
	code_jump_back(c, again);
	code_land_near(c, over);
}

/* The hash of the key to ecx, as agg_key_hash() computes it.  Changes rax, rsi and
 * r8. */
static void
hash(struct code *c, const struct body_agg *g)
{
	struct emit *e = &c->e;

	if (g->far) {
		hash_far(c, g);
		return;
	}
	if (g->words == 0) {
		enc_set(e, RCX, agg_key_hash(g->agg->id, NULL, 0));
		return;
	}
	enc_set(e, RCX, AGG_HASH_BEGIN(g->agg->id));
	enc_set(e, RSI, AGG_HASH_FACTOR);
	for (uint32_t n = 0; n < g->words; n++) {
		enc_rr(
		    e, true, 0x31, key_word(c, g, n), RCX); /* xor rcx, word */
		enc_rr(e, true, OP_0F(0xaf), RCX, RSI);     /* imul rcx, rsi */
		code_move(c, RAX, RCX);
		enc_ri8(e, true, 0xc1, 5, RAX, 32); /* shr rax, 32 */
		enc_rr(e, true, 0x31, RAX, RCX);    /* xor rcx, rax */
	}
}

/* Find the entry of the key.  If there is none, jump to *none. */
static void
find(struct code *c, const struct body_agg *g, uint32_t *none)
{
	struct emit *e = &c->e;
	uint32_t next = 0;

	enc_rm(e, false, OP_MOV_LOAD, RDX, RBX, IN_LANE(agg_area));
	enc_ri8(e, false, 0x83, 4, RDX, 1); /* and edx, 1 */
	enc_rr(e, false, 0x6b, RDX, RDX);   /* imul edx, edx, n */
	emit_u8(e, sizeof(struct agg_view));
	enc_rr(e, true, 0x01, RBX, RDX); /* add rdx, rbx */
	hash(c, g);
	enc_rm(e, true, OP_MOV_LOAD, RAX, RDX, IN_VIEW(hdr));
	enc_rr(e, true, OP_TEST, RAX, RAX);
	code_jump_if(c, CC_E, none);
	enc_rm(e, false, OP_MOV_LOAD, RSI, RDX, IN_VIEW(mask));
	enc_rr(e, false, 0x21, RCX, RSI); /* and esi, ecx */
	emit_bytes(e, "\x8b\x74\xb0", 3); /* mov esi, */
	emit_u8(e, AGG_BUCKET);           /* [rax + 4 * rsi + n] */
	enc_rm(e, false, OP_MOV_LOAD, RAX, RDX, IN_VIEW(end));
	size_t again = e->len;
	enc_rm(e, false, OP_CMP_LOAD, RSI, RDX, IN_VIEW(first));
	code_jump_if(c, CC_B, none);
	enc_rr(e, false, OP_CMP, RAX, RSI);
	code_jump_if(c, CC_AE, none);
	enc_rr(e, false, OP_MOV_STORE, RSI, RAX);
	enc_rm(e, true, 0x03, RSI, RBX, IN_ENV(at.base)); /* add rsi, base */
	enc_mi32(e, false, 0x81, 7, RSI, IN_ENTRY(id), (int32_t)g->agg->id);
	code_jump_if(c, CC_NE, &next);
	if (g->far)
		compare_far(c, g, &next);
	for (uint32_t n = 0; n < g->words && !g->far; n++) {
		enc_rm(e, true, OP_CMP_LOAD, key_word(c, g, n), RSI,
		    IN_ENTRY(data) + 8 * (int32_t)n);
		code_jump_if(c, CC_NE, &next);
	}
	size_t over = code_jump_near(c, 0xeb);
	code_land(c, next);
	enc_rm(e, false, OP_MOV_LOAD, RSI, RSI, IN_ENTRY(next_ref));
	code_jump_back(c, again);
	code_land_near(c, over);
}

/* The EPID of the aggregation's clause, to edx.  Changes rcx. */
static void
load_epid(struct code *c, const struct body_agg *g)
{
	if (c->parts->keeps_row)
		enc_rm(&c->e, true, OP_MOV_LOAD, RCX, RSP, c->parts->row_at);
	enc_rm(&c->e, false, OP_MOV_LOAD, RDX, RCX, epid_of(c, g->clause));
}

/* The entry of the key that is pinned by the EPID, which is in edx.  If it is not
 * pinned, jump to *none. */
static void
find_pinned(struct code *c, uint32_t *none)
{
	struct emit *e = &c->e;

	enc_rm(e, true, OP_MOV_LOAD, RAX, RBX, IN_ENV(at.pins));
	emit_bytes(e, "\x48\x8b\x04\xd0", 4); /* mov rax, [rax + 8 * rdx] */
	enc_rr(e, false, OP_MOV_STORE, RAX, ENTRY);
	enc_ri8(e, true, 0xc1, 5, RAX, 32); /* shr rax, 32 */
	enc_rm(e, false, OP_CMP_LOAD, RAX, RBX, IN_LANE(agg_area));
	code_jump_if(c, CC_NE, none);
	enc_rm(e, true, 0x03, ENTRY, RBX, IN_ENV(at.base)); /* add */
}

/* ---- the whole ---- */

/* A count that is pinned and the only aggregation needs no more registers than
 * those that each body may change. */
static bool
needs_few(const struct body_parts *p)
{
	return p->naggs == 1 && p->aggs[0].pinned &&
	    p->aggs[0].agg->func == AGG_COUNT;
}

uint32_t
body_agg_changes(const struct body_parts *p)
{
	uint32_t all = 0;

	if (p->naggs == 0)
		return 0;
	if (!needs_few(p))
		all |= bit_of(RSI) | bit_of(RDI) | bit_of(R9);
	for (unsigned n = 0; n < p->naggs; n++)
		if (!p->aggs[n].pinned && p->aggs[n].words != 0 &&
		    !body_in_register(p, &p->aggs[n], true))
			all |= bit_of(R8);
	return all;
}

/* From here on the lane writes aggregations.  What the register has when they are
 * written is not loaded again: that would take longer than the rest. */
static void
begin_busy(struct code *c)
{
	bool few = needs_few(c->parts);

	c->entry = few ? RDX : RSI;
	c->busy = few ? RCX : R9;
	if (few)
		load_epid(c, &c->parts->aggs[0]);
	enc_rm(&c->e, false, OP_MOV_LOAD, c->busy, RBX, IN_LANE(agg_busy));
	enc_ri8(&c->e, false, 0x83, 1, c->busy, 1); /* or */
	enc_rm(&c->e, false, OP_MOV_STORE, c->busy, RBX, IN_LANE(agg_busy));
}

/* Each update adds 2, and at last it is even. */
static void
end_busy(struct code *c, int n)
{
	enc_ri8(&c->e, false, 0x83, 0, c->busy, n); /* add */
	enc_rm(&c->e, false, OP_MOV_STORE, c->busy, RBX, IN_LANE(agg_busy));
}

static bool
find_all(struct code *c, uint32_t *none)
{
	const struct body_parts *p = c->parts;

	for (unsigned n = 0; n < p->naggs; n++) {
		const struct body_agg *g = &p->aggs[n];
		uint32_t over = 0;
		if (!code_has_room(c))
			return false;
		body_if_fires(c, g->clause, &over);
		if (g->pinned && !needs_few(p))
			load_epid(c, g);
		if (g->pinned)
			find_pinned(c, none);
		else
			find(c, g, none);
		if (p->naggs > 1)
			enc_rm(&c->e, true, OP_MOV_STORE, ENTRY, RSP, g->entry);
		code_land(c, over);
	}
	return true;
}

/* Its entry is in the register if it is the only one. */
static void
add_to_agg(struct code *c, const struct body_agg *g)
{
	const struct body_parts *p = c->parts;

	if (p->naggs > 1)
		enc_rm(&c->e, true, OP_MOV_LOAD, ENTRY, RSP, g->entry);
	if (g->act->difo_ref != 0 && !body_in_register(p, g, false))
		enc_rm(&c->e, true, OP_MOV_LOAD, RDI, RSP, g->value);
	add_value(c, g->agg);
	/* add */
	enc_mi8(&c->e, false, 0x83, 0, ENTRY, IN_ENTRY(updates), 1);
}

static bool
add_all(struct code *c)
{
	const struct body_parts *p = c->parts;
	int sure = -1;

	for (unsigned n = 0; n < p->naggs; n++) {
		const struct body_agg *g = &p->aggs[n];
		uint32_t over = 0;
		if (!code_has_room(c))
			return false;
		body_if_fires(c, g->clause, &over);
		add_to_agg(c, g);
		if (g->clause->fires_at == BODY_NOWHERE)
			sure += 2;
		else
			enc_ri8(&c->e, false, 0x83, 0, c->busy, 2); /* add */
		code_land(c, over);
	}
	end_busy(c, sure);
	return true;
}

/* If no clause with an aggregation fires, jump to *over. */
static void
if_any(struct code *c, uint32_t *over)
{
	const struct body_parts *p = c->parts;

	for (unsigned n = 0; n < p->naggs; n++)
		if (p->aggs[n].clause->fires_at == BODY_NOWHERE)
			return;
	enc_set(&c->e, RAX, 0);
	for (unsigned n = 0; n < p->naggs; n++) /* or */
		enc_rm(
		    &c->e, true, 0x0b, RAX, RSP, p->aggs[n].clause->fires_at);
	code_jump_if(c, CC_E, over);
}

bool
body_update(struct code *c)
{
	uint32_t none = 0, over = 0;

	if (c->parts->naggs == 0)
		return true;
	if_any(c, &over);
	begin_busy(c);
	if (!find_all(c, &none) || !add_all(c))
		return false;
	code_jump(c, &over);
	code_land(c, none);
	end_busy(c, 1);
	code_jump(c, &c->gives_up);
	code_land(c, over);
	return true;
}
