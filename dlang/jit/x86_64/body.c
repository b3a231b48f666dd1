/*
 * Writes the machine code of a body; see dlang/jit/jit.h.
 *
 *	rbx		the lane
 *	rsi rdi r8 r9 r10 r11 rbp	%r1 .. %r7 while an expression is computed
 *	r12		the key, while the value is computed; with a pinned key, the row
 *	rcx		at entry: the row
 *	rdi		then: the value, or else the key
 *
 * While the aggregation is updated:
 *
 *	rcx	the hash of the key
 *	rdx	the lane, plus the distance between the areas if the second one is
 *		written
 *	rsi	the entry
 *	rax	the reference of the entry before it in the chain, or the area's
 *		end: a link always leads to a lower address (dlang/vm/agg.c)
 */
#include "dlang/base/base.h"
#include "dlang/base/mem.h"
#include "dlang/jit/x86_64/code.h"
#include "dlang/vm/agg.h"
#include "dlang/vm/lane.h"

/* What a body reads of the lane and of the environment behind it. */
#define IN_LANE(member) (int32_t) offsetof(struct lane, member)
#define IN_ENV(member) \
	(int32_t)(sizeof(struct lane) + offsetof(struct vm_env, member))
#define IN_VIEW(member) \
	(int32_t)(IN_ENV(at.aggs) + (int32_t)offsetof(struct agg_view, member))
#define IN_ENTRY(member) (int32_t) offsetof(struct agg_entry, member)

static_assert(
    offsetof(struct agg_entry, id) == 4 && offsetof(struct agg_entry, cpu) == 6,
    "both are compared at once");

#define KEY   R12
#define OTHER RDI
#define ROW   R12

/* The number of a register in instructions; NONE for the rest, and for rsp, which
 * the code of the site changes. */
#define NONE ((unsigned)UREG_NUMBERS)

static unsigned
number_of(unsigned ureg)
{
	unsigned n = 0;

	while (n < NONE && (n == RSP || ureg_by_number(n) != ureg))
		n++;
	return n;
}

static uint32_t
bit_of(unsigned number)
{
	return 1U << ureg_by_number(number);
}

/* ---- arguments ---- */

static bool
is_readable(const struct argloc *a)
{
	switch ((enum argloc_kind)a->kind) {
	case ARGLOC_ZERO:
	case ARGLOC_CONST: return true;
	case ARGLOC_REG: return number_of(a->reg) != NONE;
	default: return false;
	}
}

static bool
reads_argument(struct jit_body *b, uint64_t n)
{
	if (n >= b->nargs)
		return true;
	if (n >= VM_ARGS)
		return false;
	b->reads |= 1U << n;
	return is_readable(&b->args[n]);
}

bool
body_reads(struct jit_body *b, uint32_t id)
{
	switch (id) {
	case DIF_VAR_PID:
	case DIF_VAR_TID:
	case DIF_VAR_CURTHREAD: return true;
	}
	return id >= DIF_VAR_ARG0 && id <= DIF_VAR_ARG9 &&
	    reads_argument(b, id - DIF_VAR_ARG0);
}

/* The register that an index of uregs[] means. */
static unsigned
register_of(uint64_t index)
{
	index -= index >= UREG_RAW ? UREG_RAW : 0;
	return index <= UREG_RDI ? (unsigned)index : UREG_COUNT;
}

bool
body_reads_member(struct jit_body *b, uint32_t id, uint64_t index)
{
	switch (id) {
	case DIF_VAR_ARGS: return reads_argument(b, index);
	case DIF_VAR_REGS:
	case DIF_VAR_UREGS: return number_of(register_of(index)) != NONE;
	}
	return false;
}

/* What a register had at the site. */
static void
read_register(struct code *c, unsigned to, unsigned ureg)
{
	int32_t off = c->body->at[ureg];

	if (off == JIT_IN_PLACE)
		code_move(c, to, number_of(ureg));
	else
		enc_rm(&c->e, true, OP_MOV_LOAD, to, RSP, off);
}

/* Keep the low bytes, extended as the location says. */
static void
extend(struct code *c, unsigned r, unsigned size, bool is_signed)
{
	switch (size) {
	case 1:
		enc_rr(&c->e, true, OP_0F(is_signed ? 0xbe : 0xb6), r, r);
		break;
	case 2:
		enc_rr(&c->e, true, OP_0F(is_signed ? 0xbf : 0xb7), r, r);
		break;
	case 4:
		if (is_signed)
			enc_rr(&c->e, true, 0x63, r, r); /* movsxd */
		else
			enc_rr(&c->e, false, OP_MOV_STORE, r, r);
		break;
	}
}

static void
argument(struct code *c, unsigned to, uint64_t n)
{
	const struct argloc *a = &c->body->args[n];

	if (n >= c->body->nargs || a->kind == ARGLOC_ZERO) {
		enc_set(&c->e, to, 0);
	} else if (a->kind == ARGLOC_CONST) {
		enc_set(&c->e, to, (uint64_t)a->disp);
	} else {
		read_register(c, to, a->reg);
		if ((a->shift & 63) != 0)
			enc_ri8(&c->e, true, 0xc1, 5, to, a->shift & 63);
		extend(c, to, a->size, a->is_signed != 0);
	}
}

void
body_builtin(struct code *c, unsigned to, uint32_t id)
{
	if (id == DIF_VAR_PID)
		enc_rm(&c->e, false, OP_MOV_LOAD, to, RBX, IN_ENV(pid));
	else if (id == DIF_VAR_TID || id == DIF_VAR_CURTHREAD)
		enc_rm(&c->e, false, OP_MOV_LOAD, to, RBX, IN_ENV(tid));
	else
		argument(c, to, id - DIF_VAR_ARG0);
}

void
body_member(struct code *c, unsigned to, uint32_t id)
{
	uint64_t index = 0;

	body_index(c->p, c->n, &index); /* as when it was planned */
	if (id == DIF_VAR_ARGS)
		argument(c, to, index);
	else
		read_register(c, to, register_of(index));
}

/* ---- the aggregation ---- */

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

/* add qword [rsi + off], n */
static void
add_one(struct code *c, int32_t off)
{
	enc_mi8(&c->e, true, 0x83, 0, RSI, off, 1);
}

/* add qword [rsi + off], reg */
static void
add_to(struct code *c, int32_t off, unsigned reg)
{
	enc_rm(&c->e, true, 0x01, reg, RSI, off);
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
	enc_rm(&c->e, true, OP_CMP_LOAD, RDI, RSI, value_at(agg, 0));
	size_t over = code_jump_near(c, 0x70U | not_if);
	enc_rm(&c->e, true, OP_MOV_STORE, RDI, RSI, value_at(agg, 0));
	code_land_near(c, over);
}

/* The sum of squares has 128 bits. */
static void
square(struct code *c, const struct img_agg *agg)
{
	code_move(c, RAX, RDI);
	enc_rr(&c->e, true, 0xf7, 5, RAX); /* imul rax */
	add_to(c, value_at(agg, 2), RAX);
	enc_rm(&c->e, true, 0x11, RDX, RSI, value_at(agg, 3)); /* adc */
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

/* The hash of the key to ecx, as agg_key_hash() computes it.  Changes rsi. */
static void
hash(struct code *c, const struct img_agg *agg, unsigned key)
{
	if (agg->key_size == 0) {
		enc_set(&c->e, RCX, agg_key_hash(agg->id, NULL, 0));
		return;
	}
	enc_set(&c->e, RCX, AGG_HASH_BEGIN(agg->id));
	enc_rr(&c->e, true, 0x31, key, RCX); /* xor rcx, key */
	enc_set(&c->e, RSI, AGG_HASH_FACTOR);
	enc_rr(&c->e, true, OP_0F(0xaf), RCX, RSI); /* imul rcx, rsi */
	code_move(c, RSI, RCX);
	enc_ri8(&c->e, true, 0xc1, 5, RSI, 32); /* shr rsi, 32 */
	enc_rr(&c->e, false, 0x31, RSI, RCX);   /* xor ecx, esi */
}

/* Find the entry of the key.  If there is none, jump to *none. */
static void
find(struct code *c, const struct img_agg *agg, unsigned key, uint32_t *none)
{
	struct emit *e = &c->e;
	uint32_t next = 0;

	enc_rm(e, false, OP_MOV_LOAD, RDX, RBX, IN_LANE(agg_area));
	enc_ri8(e, false, 0x83, 4, RDX, 1); /* and edx, 1 */
	enc_rr(e, false, 0x6b, RDX, RDX);   /* imul edx, edx, n */
	emit_u8(e, sizeof(struct agg_view));
	enc_rr(e, true, 0x01, RBX, RDX); /* add rdx, rbx */
	hash(c, agg, key);
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
	enc_mi32(e, false, 0x81, 7, RSI, IN_ENTRY(id), (int32_t)agg->id);
	code_jump_if(c, CC_NE, &next);
	if (agg->key_size != 0) {
		enc_rm(e, true, OP_CMP_LOAD, key, RSI, IN_ENTRY(data));
		code_jump_if(c, CC_NE, &next);
	}
	size_t over = code_jump_near(c, 0xeb);
	code_land(c, next);
	enc_rm(e, false, OP_MOV_LOAD, RSI, RSI, IN_ENTRY(next_ref));
	emit_u8(e, 0xeb); /* jmp again */
	emit_u8(e, (uint8_t)(again - (e->len + 1)));
	code_land_near(c, over);
}

/* The entry of the key that is pinned by the EPID, which is in the row.  If it is
 * not pinned, jump to *none. */
static void
find_pinned(struct code *c, unsigned row, uint32_t *none)
{
	struct emit *e = &c->e;

	enc_rm(e, false, OP_MOV_LOAD, RDX, row,
	    (int32_t)offsetof(struct jit_row, epid));
	enc_rm(e, true, OP_MOV_LOAD, RAX, RBX, IN_ENV(at.pins));
	emit_bytes(e, "\x48\x8b\x04\xd0", 4); /* mov rax, [rax + 8 * rdx] */
	enc_rr(e, false, OP_MOV_STORE, RAX, RSI);
	enc_ri8(e, true, 0xc1, 5, RAX, 32); /* shr rax, 32 */
	enc_rm(e, false, OP_CMP_LOAD, RAX, RBX, IN_LANE(agg_area));
	code_jump_if(c, CC_NE, none);
	enc_rm(e, true, 0x03, RSI, RBX, IN_ENV(at.base)); /* add rsi, base */
}

/* add dword [rbx + agg_busy], 1: the writer has left the area */
static void
not_busy(struct code *c)
{
	enc_mi8(&c->e, false, 0x83, 0, RBX, IN_LANE(agg_busy), 1);
}

/* Are there expressions, which change rcx? */
static bool
keeps_row(const struct body_parts *p)
{
	return p->pinned && (p->pred != NULL || p->value != NULL);
}

/* As agg_update().  Without an entry nothing is added: give up. */
static void
update(struct code *c, const struct body_parts *p)
{
	const struct img_agg *agg = p->agg;
	uint32_t none = 0;

	enc_rm(&c->e, false, OP_MOV_LOAD, RAX, RBX, IN_LANE(agg_busy));
	enc_ri8(&c->e, false, 0x83, 1, RAX, 1); /* or eax, 1 */
	enc_rm(&c->e, false, OP_MOV_STORE, RAX, RBX, IN_LANE(agg_busy));
	if (p->pinned)
		find_pinned(c, keeps_row(p) ? ROW : RCX, &none);
	else
		find(c, agg, p->value != NULL ? KEY : OTHER, &none);
	add_value(c, agg);
	enc_mi8(&c->e, false, 0x83, 0, RSI, IN_ENTRY(updates), 1); /* add */
	not_busy(c);
	size_t over = code_jump_near(c, 0xeb);
	code_land(c, none);
	not_busy(c);
	code_jump(c, &c->gives_up);
	code_land_near(c, over);
}

/* ---- the whole ---- */

uint32_t
body_changes(const struct body_parts *p, uint8_t dif)
{
	uint32_t all = bit_of(RBX) | bit_of(RDX) | bit_of(RSI) | bit_of(RDI);

	for (unsigned r = 1; r < DIF_REGS; r++)
		if (dif & 1U << r)
			all |= bit_of(code_mapped[r]);
	if (p->key != NULL && p->value != NULL)
		all |= bit_of(KEY);
	return all | (keeps_row(p) ? bit_of(ROW) : 0);
}

/* The expression's value to rax; its plan is in *c->p meanwhile.  False: there is
 * no room. */
static bool
expression(struct code *c, const struct img_difo *d)
{
	struct jit_point *points = mem_zalloc(d->len * sizeof(*points));

	jit_plan(c->p, &c->body->image, d, points);
	c->ends = 0;
	bool fits = code_text(c);
	code_land(c, c->ends);
	mem_free(points);
	return fits;
}

static bool
predicate(struct code *c, const struct img_difo *d, uint32_t *over)
{
	bool fits = d == NULL || expression(c, d);

	if (d != NULL) {
		enc_rr(&c->e, true, OP_TEST, RAX, RAX);
		code_jump_if(c, CC_E, over);
	}
	return fits;
}

/* Give up unless the lane's environment is open, probes fire, and the ECB is
 * for this process: see may_fire() and is_on() in dlang/vm/ecb.c. */
static void
begin(struct code *c)
{
	struct emit *e = &c->e;

	enc_rm(e, true, OP_CMP, RBX, RBX, IN_ENV(at.lane));
	code_jump_if(c, CC_NE, &c->gives_up);
	enc_rm(e, true, OP_MOV_LOAD, RAX, RBX, IN_ENV(at.store));
	enc_mi8(e, false, 0x83, 7, RAX,
	    (int32_t)offsetof(struct store_hdr, activity), ACTIVITY_ACTIVE);
	code_jump_if(c, CC_NE, &c->gives_up);
	if (c->body->own) {
		enc_mi8(e, false, 0x83, 7, RBX, IN_LANE(followed), 0);
		code_jump_if(c, CC_NE, &c->gives_up);
	}
}

static void
end(struct code *c, uint32_t result)
{
	enc_set(&c->e, RAX, result);
	emit_u8(&c->e, 0xc3);
}

/* The key and the value, to their registers. */
static bool
operands(struct code *c, const struct body_parts *p)
{
	bool fits = true;

	if (p->key != NULL) {
		fits = expression(c, p->key);
		code_move(c, p->value != NULL ? KEY : OTHER, RAX);
		extend(c, p->value != NULL ? KEY : OTHER, p->key_size, false);
	}
	if (fits && p->value != NULL) {
		fits = expression(c, p->value);
		code_move(c, OTHER, RAX);
	}
	return fits;
}

size_t
jit_body_none(uint8_t *buf)
{
	struct code c = { .e = { .buf = buf, .size = JIT_BODY_NONE } };

	end(&c, 1);
	return c.e.len;
}

/* The most bytes of all but the expressions. */
#define ROOM_FOR_REST 640U

size_t
body_write(const struct jit_body *b, const struct body_parts *p, uint8_t *buf,
    size_t size)
{
	struct jit_plan plan;
	struct code c = {
		.e = { .buf = buf, .size = size },
		.p = &plan,
		.body = b,
	};
	uint32_t over = 0;

	if (size < ROOM_FOR_REST)
		return 0;
	c.e.size -= ROOM_FOR_REST / 2;
	begin(&c);
	if (keeps_row(p))
		code_move(&c, ROW, RCX);
	bool fits = predicate(&c, p->pred, &over) && operands(&c, p);
	c.e.size = size;
	if (!fits || size - c.e.len < ROOM_FOR_REST / 2)
		return 0;
	update(&c, p);
	code_land(&c, over);
	enc_mi8(&c.e, true, 0x83, 0, RBX, IN_LANE(hits), 1); /* add */
	end(&c, 0);
	code_land(&c, c.gives_up);
	end(&c, 1);
	return c.e.len;
}
