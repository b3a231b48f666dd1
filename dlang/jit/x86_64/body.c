/*
 * Writes the machine code of a body; see dlang/jit/jit.h.
 *
 *	rbx		the lane
 *	rsi rdi r8 r9 r10 r11 rbp	%r1 .. %r7 while an expression is computed
 *	rcx		at entry: the row
 *	rdi		afterwards: the value of the aggregation that is the last
 *			action of the only clause, or else its key
 *
 *	rsp ->	the frame (struct body_parts), which need not exist
 *		the return address
 *
 * Of each clause the predicate is computed, then all else, with the record's values
 * written where no reader looks yet.  Then the effects of all clauses follow: the
 * aggregations, for which the entries must be found, the variables, the records.
 */
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/base/mem.h"
#include "dlang/jit/x86_64/body.h"
#include "dlang/vm/agg.h"
#include "dlang/vm/dyn.h"

/* The most bytes of what is written between two questions whether there is
 * room. */
#define ROOM_FOR_PIECE 512U

bool
code_has_room(const struct code *c)
{
	return c->e.size - c->e.len >= ROOM_FOR_PIECE;
}

uint32_t
body_changes(const struct body_parts *p)
{
	uint32_t all = bit_of(RBX) | bit_of(RDX) | body_agg_changes(p);

	for (unsigned r = 1; r < DIF_REGS; r++)
		if (p->dif & 1U << r)
			all |= bit_of(code_mapped[r]);
	if (p->records || p->self)
		all |= bit_of(RSI) | bit_of(RDI);
	if (p->nstores > 0)
		all |= bit_of(R8) | bit_of(R9);
	if (p->time || p->texts > 0) /* what a function may change */
		all |= bit_of(RSI) | bit_of(RDI) | bit_of(R8) | bit_of(R9) |
		    bit_of(R10) | bit_of(R11);
	return all;
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
	return fits && code_has_room(c);
}

static bool
predicate(struct code *c, uint32_t *over)
{
	const struct img_difo *d = c->clause->pred;

	if (d == NULL)
		return true;
	if (!expression(c, d))
		return false;
	enc_rr(&c->e, true, OP_TEST, RAX, RAX);
	code_jump_if(c, CC_E, over);
	return true;
}

/* Give up if the thread's variables may have no room: one that cannot be stored is 0
 * when it is read. */
static void
variables_fit(struct code *c)
{
	struct emit *e = &c->e;

	enc_rm(e, true, OP_MOV_LOAD, RAX, RBX, IN_ENV(at.self.hdr));
	enc_rm(e, false, OP_MOV_LOAD, RAX, RAX, DYN_USED);
	enc_ri8(e, false, 0x83, 0, RAX, (int)c->parts->nstores); /* add */
	enc_rm(e, false, OP_CMP_LOAD, RAX, RBX, IN_ENV(at.self.chunks));
	code_jump_if(c, CC_A, &c->gives_up);
}

/* Give up unless the lane's environment is open, probes fire, and the ECB is
 * for this process: see may_fire() and is_on() in dlang/vm/ecb.c. */
static void
begin(struct code *c)
{
	const struct body_parts *p = c->parts;
	struct emit *e = &c->e;

	if (p->words != 0)
		enc_move_stack(e, -8 * (int32_t)p->words);
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
	if (p->self) {
		enc_mi8(e, true, 0x83, 7, RBX, IN_ENV(at.self.hdr), 0);
		code_jump_if(c, CC_E, &c->gives_up);
	}
	if (p->again)
		variables_fit(c);
	if (p->texts > 0) {
		enc_mi32(e, false, 0x81, 7, RBX, IN_ENV(at.scratch_size),
		    (int32_t)p->scratch);
		code_jump_if(c, CC_B, &c->gives_up);
	}
	if (p->keeps_row)
		enc_rm(e, true, OP_MOV_STORE, RCX, RSP, p->row_at);
	if (p->records) {
		enc_rm(e, true, OP_MOV_LOAD, RAX, RBX, IN_LANE(head));
		enc_rm(e, true, OP_MOV_STORE, RAX, RSP, p->head_at);
	}
	if (p->time && p->nclauses > 1)
		enc_mi32(e, true, 0xc7, 0, RSP, p->time_at, 0);
}

/*
 * The end of the firing.  As long as the lane is busy, the tracer may ask for a trap.
 * So this is looked at last, and the flags say
 *	ZF	all has been done
 *	CF	the same, and the thread is to trap
 *	neither	nothing has been done
 */
static void
end(struct code *c, uint32_t result)
{
	if (c->parts->words != 0)
		enc_move_stack(&c->e, 8 * (int32_t)c->parts->words);
	enc_mi32(&c->e, true, 0xc7, 0, RBX, IN_LANE(busy), 0); /* mov */
	enc_set(&c->e, RAX, result);
	if (result == 0)
		enc_rm(&c->e, true, OP_CMP_LOAD, RAX, RBX, IN_LANE(call));
	else
		enc_rr(&c->e, true, OP_TEST, RAX, RAX);
	c->exits[result] = (uint32_t)c->e.len;
	emit_u8(&c->e, 0xc3);
}

/* ---- actions ---- */

/* That of the clause to which the action belongs. */
static const struct body_agg *
agg_of(const struct code *c, const struct img_act *a)
{
	const struct body_agg *g = c->parts->aggs;

	while (g->clause != c->clause || g->act < a)
		g++;
	return g;
}

/* The string at rax becomes a member of the key.  If it is the last one, as much of the
 * key is written as counts: the string, and what its hash has in any case. */
static void
key_text(struct code *c, const struct img_act *a)
{
	const struct body_agg *g = agg_of(c, a);
	uint32_t least = VM_MIN(8 * g->words, AGG_HASH_ALL);
	bool last = g->count != BODY_NOWHERE && a == g->act - 1;
	uint32_t fill = last ? 0 : VM_ALIGN(a->size);

	if (last && a->off < least)
		fill = least - a->off;
	body_text(c, a, RBX, FAR_KEYS + g->key + (int32_t)a->off, fill);
	if (!last)
		return;
	/* Words, from the begin of the key on. */
	enc_rm(&c->e, false, OP_LEA, RAX, RAX, (int32_t)a->off + 7);
	enc_ri8(&c->e, false, 0xc1, 5, RAX, 3); /* shr eax, 3 */
	enc_set(&c->e, RCX, least / 8);
	enc_rr(&c->e, false, OP_CMP, RCX, RAX);
	enc_rr(&c->e, false, OP_0F(0x40U | CC_B), RAX, RCX); /* cmovb */
	enc_rm(&c->e, true, OP_MOV_STORE, RAX, RSP, g->count);
}

/* The value in rax becomes a member of the key, and the rest of the word 0 if it
 * is the first one there. */
static void
key_member(struct code *c, const struct img_act *a)
{
	const struct body_agg *g = agg_of(c, a);
	unsigned base = g->far ? RBX : RSP;
	int32_t at = (g->far ? FAR_KEYS : 0) + g->key + (int32_t)a->off;

	if (body_is_text(c->body, a)) {
		key_text(c, a);
		return;
	}
	if (body_in_register(c->parts, g, true)) {
		code_move(c, RDI, RAX);
		body_extend(c, RDI, a->size, false);
	} else if (a->off % 8 == 0) {
		body_extend(c, RAX, a->size, false);
		enc_rm(&c->e, true, OP_MOV_STORE, RAX, base, at);
	} else {
		body_put(c, base, at, a->size);
	}
}

static void
agg_value(struct code *c, const struct img_act *a)
{
	const struct body_agg *g = agg_of(c, a);

	if (body_in_register(c->parts, g, false))
		code_move(c, RDI, RAX);
	else
		enc_rm(&c->e, true, OP_MOV_STORE, RAX, RSP, g->value);
}

static bool
action(struct code *c, const struct img_act *a)
{
	bool is_key = a->op == OP_EXPR && a->flags & ACT_F_KEY;

	if (a->difo_ref == 0 || (is_key && agg_of(c, a)->pinned))
		return true;
	if (!expression(c, (const void *)(c->body->image.base + a->difo_ref)))
		return false;
	if (is_key)
		key_member(c, a);
	else if (a->op == OP_AGG)
		agg_value(c, a);
	else if (a->size != 0)
		body_record_value(c, a);
	return true;
}

/* ---- the whole ---- */

/* The time, unless it has been read.  A clause before this one may have read it, or
 * not. */
static bool
time_once(struct code *c, bool needed)
{
	uint32_t over = 0;

	if (!needed || c->time_is_read)
		return true;
	if (c->time_may_be_read) {
		enc_mi8(
		    &c->e, true, 0x83, 7, RSP, c->parts->time_at, 0); /* cmp */
		code_jump_if(c, CC_NE, &over);
	}
	bool fits = body_clock(c);
	code_land(c, over);
	return fits;
}

/* What a clause computes; *over is where a false predicate leads. */
static bool
compute(struct code *c, uint32_t *over)
{
	const struct body_clause *k = c->clause;
	bool first = k == c->parts->clauses;

	if (k->fires_at != BODY_NOWHERE)
		enc_mi32(&c->e, true, 0xc7, 0, RSP, k->fires_at, 0);
	if ((first && !body_fetch(c, true)) || !time_once(c, k->time_early))
		return false;
	c->time_is_read |= k->time_early;
	if (!predicate(c, over) || (first && !body_fetch(c, false)) ||
	    !time_once(c, k->time) || !body_record(c))
		return false;
	*(k->pred != NULL ? &c->time_may_be_read : &c->time_is_read) |= k->time;
	for (uint32_t n = 0; n < k->nacts; n++)
		if (!action(c, &k->acts[n]))
			return false;
	if (k->fires_at != BODY_NOWHERE)
		enc_mi32(&c->e, true, 0xc7, 0, RSP, k->fires_at, 1);
	return code_has_room(c);
}

void
body_if_fires(struct code *c, const struct body_clause *k, uint32_t *over)
{
	if (k->fires_at == BODY_NOWHERE)
		return;
	enc_mi8(&c->e, true, 0x83, 7, RSP, k->fires_at, 0); /* cmp */
	code_jump_if(c, CC_E, over);
}

static bool
compute_all(struct code *c, uint32_t *over)
{
	const struct body_parts *p = c->parts;

	for (unsigned n = 0; n < p->nclauses; n++) {
		c->clause = &p->clauses[n];
		*over = 0;
		if (!compute(c, over))
			return false;
		if (p->nclauses > 1)
			code_land(c, *over);
	}
	return true;
}

size_t
body_write(struct jit_body *b, struct body_parts *p, uint8_t *buf, size_t size)
{
	struct jit_plan plan;
	struct code c = {
		.e = { .buf = buf, .size = size },
		.p = &plan,
		.body = b,
		.parts = p,
	};
	uint32_t over = 0;

	if (!code_has_room(&c))
		return 0;
	begin(&c);
	if (!compute_all(&c, &over) || !body_update(&c) ||
	    !body_store_all(&c) || !code_has_room(&c))
		return 0;
	body_commit(&c);
	if (p->nclauses == 1)
		code_land(&c, over);
	enc_mi8(&c.e, true, 0x83, 0, RBX, IN_LANE(hits), 1); /* add */
	end(&c, 0);
	code_land(&c, c.gives_up);
	end(&c, 1);
	memcpy(b->exits, c.exits, sizeof(b->exits));
	return body_var_functions(&c) ? c.e.len : 0;
}
