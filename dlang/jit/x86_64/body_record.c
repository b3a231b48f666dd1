/*
 * The record of a body: see body.h, and dlang/vm/buf.h for the buffer.
 *
 * A record that does not fit before the end of the buffer, or does not fit at all,
 * is the VM's.
 */
#include "dlang/base/base.h"
#include "dlang/jit/x86_64/body.h"

#define IN_REC(member) (int32_t) offsetof(struct rec_hdr, member)

static_assert(IN_ENV(tid) == IN_ENV(pid) + 4 && IN_REC(tid) == IN_REC(pid) + 4,
    "both are copied at once");

/* cmp r, n */
static void
compare(struct code *c, unsigned r, uint32_t n)
{
	enc_rr(&c->e, true, 0x81, 7, r);
	emit_u32(&c->e, n);
}

/* rdx = where the head is; see buf_reserve(). */
static void
find_place(struct code *c)
{
	struct emit *e = &c->e;
	uint32_t size = c->clause->rec_size;

	enc_mi8(e, false, 0x83, 7, RBX, IN_ENV(at.policy), BUF_SWITCH);
	code_jump_if(c, CC_NE, &c->gives_up);
	enc_rm(e, false, OP_MOV_LOAD, RCX, RBX, IN_ENV(at.buf_size));
	compare(c, RCX, size);
	code_jump_if(c, CC_B, &c->gives_up);
	enc_rm(e, true, OP_MOV_LOAD, RAX, RSP, c->parts->head_at);
	enc_ri8(e, true, 0x83, 4, RAX, -8); /* and rax, -8 */
	enc_rm(e, true, OP_LEA, RSI, RAX, (int32_t)size);
	enc_rm(e, true, OP_MOV_STORE, RSI, RSP, c->parts->head_at);
	enc_rm(e, true, 0x2b, RSI, RBX, IN_LANE(tail)); /* sub rsi, tail */
	enc_rr(e, true, OP_CMP, RCX, RSI);
	code_jump_if(c, CC_A, &c->gives_up);
	enc_set(e, RDX, 0);
	enc_rr(e, true, 0xf7, 6, RCX);   /* div rcx */
	enc_rr(e, true, 0x29, RDX, RCX); /* sub rcx, rdx */
	compare(c, RCX, size);
	code_jump_if(c, CC_B, &c->gives_up);
	enc_rm(e, true, 0x03, RDX, RBX, IN_ENV(at.buf)); /* add rdx, buf */
	enc_rm(e, true, OP_MOV_STORE, RDX, RSP, c->parts->rec_at);
}

/* eax = the number of the processor: see inject/agent/x86_64/cpu.c. */
static void
processor(struct code *c)
{
	struct emit *e = &c->e;

	if (c->body->rdpid) {
		emit_bytes(e, "\xf3\x0f\xc7\xf8", 4); /* rdpid rax */
	} else {
		enc_set(e, RCX, 15 * 8 + 3);
		enc_set(e, RAX, 0);
		enc_rr(e, false, OP_0F(0x03), RAX, RCX); /* lsl eax, ecx */
	}
	enc_rr(e, false, 0x81, 4, RAX); /* and eax, 0xfff */
	emit_u32(e, 0xfff);
}

/* As fill_header() in dlang/vm/ecb.c. */
static void
header(struct code *c)
{
	struct emit *e = &c->e;

	enc_rm(e, true, OP_MOV_LOAD, RCX, RSP, c->parts->row_at);
	enc_rm(e, false, OP_MOV_LOAD, RAX, RCX, epid_of(c, c->clause));
	enc_rm(e, false, OP_MOV_STORE, RAX, RDX, IN_REC(epid));
	processor(c);
	enc_rm(e, false, OP_MOV_STORE, RAX, RDX, IN_REC(cpu));
	enc_rm(e, true, OP_MOV_LOAD, RAX, RBX, IN_ENV(pid));
	enc_rm(e, true, OP_MOV_STORE, RAX, RDX, IN_REC(pid));
	enc_rm(e, true, OP_MOV_LOAD, RAX, RSP, c->parts->time_at);
	enc_rm(e, true, OP_MOV_STORE, RAX, RDX, IN_REC(timestamp));
}

/* Is the whole word at this offset the value of an action, or part of a string? */
static bool
is_value(const struct code *c, uint32_t off)
{
	const struct body_clause *k = c->clause;

	for (uint32_t n = 0; n < k->nacts; n++) {
		const struct img_act *a = &k->acts[n];
		uint32_t size = body_is_text(c->body, a) ? a->size : 8;
		if (a->op == OP_EXPR && !(a->flags & ACT_F_KEY) &&
		    a->size >= 8 && off - a->off < VM_ALIGN(size))
			return true;
	}
	return false;
}

bool
body_record(struct code *c)
{
	const struct body_clause *k = c->clause;

	if (k->rec_size == 0)
		return true;
	if (!code_has_room(c))
		return false;
	find_place(c);
	header(c);
	for (uint32_t off = sizeof(struct rec_hdr); off < k->rec_size;
	     off += 8) {
		if (!code_has_room(c))
			return false;
		if (!is_value(c, off))
			enc_mi32(&c->e, true, 0xc7, 0, RDX, (int32_t)off, 0);
	}
	return true;
}

void
body_record_value(struct code *c, const struct img_act *a)
{
	if (body_is_text(c->body, a)) {
		enc_rm(&c->e, true, OP_MOV_LOAD, RDX, RSP, c->parts->rec_at);
		body_text(c, a, RDX, (int32_t)a->off, VM_ALIGN(a->size));
		return;
	}
	enc_rm(&c->e, true, OP_MOV_LOAD, RDX, RSP, c->parts->rec_at);
	body_put(c, RDX, (int32_t)a->off, a->size);
}

void
body_commit(struct code *c)
{
	if (!c->parts->records)
		return;
	enc_rm(&c->e, true, OP_MOV_LOAD, RAX, RSP, c->parts->head_at);
	enc_rm(&c->e, true, OP_MOV_STORE, RAX, RBX, IN_LANE(head));
}
