/*
 * What expressions of a body read and set: arguments, variables, the time.  See
 * body.h.
 */
#include "dlang/base/base.h"
#include "dlang/jit/x86_64/body.h"
#include "dlang/vm/agg.h"
#include "dlang/vm/dyn.h"

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
		enc_rm(&c->e, true, OP_MOV_LOAD, to, RSP,
		    off + 8 * (int32_t)c->parts->words);
}

void
body_extend(struct code *c, unsigned r, unsigned size, bool is_signed)
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
		body_extend(c, to, a->size, a->is_signed != 0);
	}
}

void
body_put(struct code *c, unsigned base, int32_t disp, unsigned size)
{
	if (size == 2)
		emit_u8(&c->e, 0x66);
	enc_rm(
	    &c->e, size == 8, size == 1 ? 0x88 : OP_MOV_STORE, RAX, base, disp);
}

/* ---- the time ---- */

/* rax = the result of the function at this offset of the lane; rdi gets the lane.  The
 * thread's stack may be too small: the function gets that of the lane.  The direction
 * flag is what it was at the site. */
static void
call_out(struct code *c, int32_t function)
{
	struct emit *e = &c->e;

	enc_rm(e, true, OP_MOV_LOAD, RAX, RBX, function);
	enc_rr(e, true, OP_TEST, RAX, RAX);
	code_jump_if(c, CC_E, &c->gives_up);
	code_move(c, RDI, RBX);
	enc_rm(e, true, OP_MOV_STORE, RSP, RBX, -8);
	enc_rm(e, true, OP_LEA, RSP, RBX, -24);
	emit_bytes(e, "\x9c\xfc\xff\xd0", 4); /* pushfq; cld; call rax */
	enc_mi32(e, false, 0xf7, 0, RBX, -32, 0x400); /* test [], df */
	emit_bytes(e, "\x74\x01\xfd", 3);             /* je over it; std */
	enc_rm(e, true, OP_MOV_LOAD, RSP, RBX, -8);
}

void
body_text(struct code *c, const struct img_act *a, unsigned base, int32_t disp,
    uint32_t fill)
{
	code_move(c, RSI, RAX);
	enc_rm(&c->e, true, OP_LEA, RDX, base, disp);
	enc_set(&c->e, RCX, body_text_limit(c->body, a));
	enc_set(&c->e, R8, a->size);
	enc_set(&c->e, R9, fill);
	call_out(c, IN_LANE(text));
	enc_rr(&c->e, true, OP_TEST, RAX, RAX);
	code_jump_if(c, CC_S, &c->gives_up);
}

/* rax = the time from the processor's count, as agent_now() tells it.  If it does not
 * tell that from the count, jump to *slow. */
static void
tell_time(struct code *c, uint32_t *slow)
{
	struct emit *e = &c->e;

	enc_mi8(e, true, 0x83, 7, RBX, IN_LANE(tick_most), 0); /* cmp */
	code_jump_if(c, CC_E, slow);
	emit_bytes(e, "\x0f\x31", 2);                      /* rdtsc */
	enc_ri8(e, true, 0xc1, 4, RDX, 32);                /* shl rdx, 32 */
	enc_rr(e, true, 0x09, RDX, RAX);                   /* or rax, rdx */
	enc_rm(e, true, 0x2b, RAX, RBX, IN_LANE(tick_at)); /* sub */
	enc_rm(e, true, OP_CMP_LOAD, RAX, RBX, IN_LANE(tick_most));
	code_jump_if(c, CC_A, slow);
	enc_rm(e, true, OP_0F(0xaf), RAX, RBX, IN_LANE(tick_rate)); /* imul */
	enc_ri8(e, true, 0xc1, 5, RAX, 32);                /* shr rax, 32 */
	enc_rm(e, true, 0x03, RAX, RBX, IN_LANE(tick_ns)); /* add */
	enc_rm(e, true, OP_MOV_LOAD, RDX, RBX, IN_LANE(tick_last));
	enc_rr(e, true, OP_CMP, RDX, RAX);
	enc_rr(e, true, OP_0F(0x40U | CC_B), RAX, RDX); /* cmovb rax, rdx */
	enc_rm(e, true, OP_MOV_STORE, RAX, RBX, IN_LANE(tick_last));
}

bool
body_clock(struct code *c)
{
	uint32_t slow = 0, over = 0;

	if (!code_has_room(c))
		return false;
	tell_time(c, &slow);
	code_jump(c, &over);
	code_land(c, slow);
	call_out(c, IN_LANE(clock));
	code_land(c, over);
	enc_rm(&c->e, true, OP_MOV_STORE, RAX, RSP, c->parts->time_at);
	return true;
}

/* ---- built-in variables ---- */

/* The word `off' of the row. */
static void
of_row(struct code *c, unsigned to, int32_t off)
{
	enc_rm(&c->e, true, OP_MOV_LOAD, to, RSP, c->parts->row_at);
	enc_rm(&c->e, false, OP_MOV_LOAD, to, to, off);
}

void
body_builtin(struct code *c, unsigned to, uint32_t id)
{
	switch (id) {
	case DIF_VAR_PID:
		enc_rm(&c->e, false, OP_MOV_LOAD, to, RBX, IN_ENV(pid));
		break;
	case DIF_VAR_TID:
	case DIF_VAR_CURTHREAD:
		enc_rm(&c->e, false, OP_MOV_LOAD, to, RBX, IN_ENV(tid));
		break;
	case DIF_VAR_TIMESTAMP:
		enc_rm(&c->e, true, OP_MOV_LOAD, to, RSP, c->parts->time_at);
		break;
	case DIF_VAR_EPID: of_row(c, to, epid_of(c, c->clause)); break;
	case DIF_VAR_ID:
		of_row(c, to, (int32_t)offsetof(struct jit_row, probe));
		break;
	default: argument(c, to, id - DIF_VAR_ARG0);
	}
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

/* ---- variables ---- */

#define IN_SELF(member) \
	(int32_t)(IN_ENV(at.self) + (int32_t)offsetof(struct dyn_view, member))
#define IN_CHUNK(member) (int32_t) offsetof(struct dyn_chunk, member)

static_assert(IN_CHUNK(next) == 0 && IN_CHUNK(key_size) == IN_CHUNK(id) + 4,
    "a chunk is a link; both are compared at once");

void
body_load_var(struct code *c, unsigned to, enum dif_scope scope, uint32_t id)
{
	enc_rm(&c->e, true, OP_MOV_LOAD, to, RSP,
	    body_var(c->parts, scope, id)->at);
}

void
body_store_var(struct code *c, unsigned from, enum dif_scope scope, uint32_t id)
{
	enc_rm(&c->e, true, OP_MOV_STORE, from, RSP,
	    body_var(c->parts, scope, id)->at);
}

/* The only variable that is stored is at the place where it was found. */
static bool
is_kept(const struct body_parts *p, const struct body_var *v)
{
	return p->nstores == 1 && v->stored != NULL && v->fetched;
}

static void
fetch(struct code *c, const struct body_var *v)
{
	struct emit *e = &c->e;

	enc_set(e, RDI, v->id);
	code_call(c, &c->find_self);
	if (is_kept(c->parts, v)) {
		enc_rm(e, true, OP_MOV_STORE, RDX, RSP, c->parts->kept_at);
		enc_rm(e, true, OP_MOV_STORE, RSI, RSP, c->parts->kept_at + 8);
	}
	enc_set(e, RAX, 0);
	enc_rr(e, true, OP_TEST, RDX, RDX);
	size_t none = code_jump_near(c, 0x70U | CC_E);
	enc_rm(e, true, OP_MOV_LOAD, RAX, RDX, IN_CHUNK(data));
	code_land_near(c, none);
	enc_rm(e, true, OP_MOV_STORE, RAX, RSP, v->at);
}

bool
body_fetch(struct code *c, bool early)
{
	const struct body_parts *p = c->parts;

	for (unsigned n = 0; n < p->nvars; n++) {
		const struct body_var *v = &p->vars[n];
		if (!code_has_room(c))
			return false;
		if (v->scope == DIF_LOCAL && early)
			enc_mi32(&c->e, true, 0xc7, 0, RSP, v->at, 0);
		else if (v->scope == DIF_THREAD && v->fetched &&
		    v->early == early)
			fetch(c, v);
	}
	return true;
}

bool
body_store_all(struct code *c)
{
	const struct body_parts *p = c->parts;
	struct emit *e = &c->e;

	for (unsigned n = 0; n < p->nstores; n++) {
		const struct body_var *v = p->stores[n];
		uint32_t over = 0;
		if (!code_has_room(c))
			return false;
		body_if_fires(c, v->stored, &over);
		enc_set(e, RDI, v->id);
		if (is_kept(p, v)) {
			enc_rm(e, true, OP_MOV_LOAD, RDX, RSP, p->kept_at);
			enc_rm(e, true, OP_MOV_LOAD, RSI, RSP, p->kept_at + 8);
		} else {
			code_call(c, &c->find_self);
		}
		enc_rm(e, true, OP_MOV_LOAD, R8, RSP, v->at);
		code_call(c, &c->put_self);
		code_land(c, over);
	}
	return true;
}

/* rax = the hash of the variable whose id is in rdi.  Changes rcx. */
static void
hash_self(struct code *c)
{
	struct emit *e = &c->e;

	enc_rm(e, true, OP_MOV_LOAD, RAX, RBX, IN_ENV(thread));
	enc_rr(e, true, 0x31, RDI, RAX);        /* xor rax, rdi */
	enc_set(e, RCX, AGG_HASH_BEGIN(1));     /* of id ^ thread: a multiple */
	enc_rr(e, true, OP_0F(0xaf), RAX, RCX); /* imul rax, rcx */
}

/* rsi = its bucket; the hash is in eax and changes. */
static void
bucket_self(struct code *c)
{
	struct emit *e = &c->e;

	enc_rm(e, false, 0x23, RAX, RBX, IN_SELF(mask)); /* and eax, mask */
	enc_rm(e, true, OP_MOV_LOAD, RSI, RBX, IN_SELF(bucket));
	emit_bytes(e, "\x48\x8d\x34\x86", 4); /* lea rsi, [rsi + 4 * rax] */
}

/* rdx = the chunk number eax, from 0. */
static void
chunk_self(struct code *c)
{
	struct emit *e = &c->e;

	enc_rm(e, false, OP_MOV_LOAD, RDX, RBX, IN_SELF(chunk_size));
	enc_rr(e, true, OP_0F(0xaf), RDX, RAX);          /* imul rdx, rax */
	enc_rm(e, true, 0x03, RDX, RBX, IN_SELF(chunk)); /* add */
}

/* As dyn_lookup() for the variable whose id is in rdi: rdx is the chunk or 0, rsi
 * the address of the link.  Changes rax and rcx. */
static void
write_find(struct code *c)
{
	struct emit *e = &c->e;
	uint32_t none = 0;

	hash_self(c);
	bucket_self(c);
	enc_rm(e, false, OP_MOV_LOAD, RCX, RBX, IN_SELF(chunks));
	size_t again = e->len;
	enc_rm(e, false, OP_MOV_LOAD, RAX, RSI, 0);
	enc_ri8(e, false, 0x83, 5, RAX, 1); /* sub eax, 1 */
	code_jump_if(c, CC_B, &none);
	enc_rm(e, false, OP_CMP_LOAD, RAX, RBX, IN_SELF(chunks));
	code_jump_if(c, CC_AE, &none);
	chunk_self(c);
	enc_rm(e, true, OP_CMP_LOAD, RDI, RDX, IN_CHUNK(id));
	size_t other = code_jump_near(c, 0x70U | CC_NE);
	enc_rm(e, true, OP_MOV_LOAD, RAX, RDX, IN_CHUNK(thread));
	enc_rm(e, true, OP_CMP_LOAD, RAX, RBX, IN_ENV(thread));
	size_t another = code_jump_near(c, 0x70U | CC_NE);
	emit_u8(e, 0xc3);
	code_land_near(c, other);
	code_land_near(c, another);
	code_move(c, RSI, RDX);
	enc_ri8(e, false, 0x83, 5, RCX, 1); /* sub ecx, 1 */
	size_t over = code_jump_near(c, 0x70U | CC_E);
	code_jump_back(c, again);
	code_land_near(c, over);
	code_land(c, none);
	enc_set(e, RDX, 0);
	emit_u8(e, 0xc3);
}

/* As dyn_free(): what write_find() has found. */
static void
write_free(struct code *c)
{
	struct emit *e = &c->e;

	enc_rr(e, true, OP_TEST, RDX, RDX);
	size_t over = code_jump_near(c, 0x70U | CC_E);
	enc_rm(e, false, OP_MOV_LOAD, RAX, RSI, 0);
	enc_rm(e, false, OP_MOV_LOAD, RCX, RDX, IN_CHUNK(next));
	enc_rm(e, false, OP_MOV_STORE, RCX, RSI, 0);
	enc_mi32(e, false, 0xc7, 0, RDX, IN_CHUNK(id), 0);
	enc_rm(e, true, OP_MOV_LOAD, RCX, RBX, IN_SELF(hdr));
	enc_rm(e, false, OP_MOV_LOAD, RSI, RCX, DYN_FREED);
	enc_rm(e, false, OP_MOV_STORE, RSI, RDX, IN_CHUNK(next));
	enc_rm(e, false, OP_MOV_STORE, RAX, RCX, DYN_FREED);
	code_land_near(c, over);
	emit_u8(e, 0xc3);
}

/* A chunk that is free, in rdx, and its number in r9; if there is none, jump to
 * *none. */
static void
write_take(struct code *c, uint32_t *none)
{
	struct emit *e = &c->e;

	enc_rm(e, true, OP_MOV_LOAD, RCX, RBX, IN_SELF(hdr));
	enc_rm(e, false, OP_MOV_LOAD, RAX, RCX, DYN_FREED);
	enc_rm(e, false, OP_LEA, R9, RAX, 0);
	enc_ri8(e, false, 0x83, 5, RAX, 1); /* sub eax, 1 */
	enc_rm(e, false, OP_CMP_LOAD, RAX, RBX, IN_SELF(chunks));
	size_t fresh = code_jump_near(c, 0x70U | CC_AE);
	chunk_self(c);
	enc_rm(e, false, OP_MOV_LOAD, RSI, RDX, IN_CHUNK(next));
	enc_rm(e, false, OP_MOV_STORE, RSI, RCX, DYN_FREED);
	size_t over = code_jump_near(c, 0xeb);
	code_land_near(c, fresh);
	enc_rm(e, false, OP_MOV_LOAD, RAX, RCX, DYN_USED);
	enc_rm(e, false, OP_CMP_LOAD, RAX, RBX, IN_SELF(chunks));
	code_jump_if(c, CC_AE, none);
	enc_rm(e, false, OP_LEA, R9, RAX, 1);
	enc_rm(e, false, OP_MOV_STORE, R9, RCX, DYN_USED);
	chunk_self(c);
	code_land_near(c, over);
}

/* As dyn_add(). */
static void
write_add(struct code *c, uint32_t *none)
{
	struct emit *e = &c->e;

	write_take(c, none);
	hash_self(c);
	enc_rm(e, false, OP_MOV_STORE, RAX, RDX, IN_CHUNK(hash));
	bucket_self(c);
	enc_rm(e, false, OP_MOV_LOAD, RAX, RSI, 0);
	enc_rm(e, false, OP_MOV_STORE, RAX, RDX, IN_CHUNK(next));
	enc_rm(e, true, OP_MOV_STORE, RDI, RDX, IN_CHUNK(id));
	enc_rm(e, true, OP_MOV_LOAD, RAX, RBX, IN_ENV(thread));
	enc_rm(e, true, OP_MOV_STORE, RAX, RDX, IN_CHUNK(thread));
	enc_rm(e, false, OP_MOV_STORE, R9, RSI, 0);
}

/* As dyn_store() in dlang/vm/vars.c, of the value r8, with rdi, rdx and rsi as
 * write_find() leaves them. */
static void
write_put(struct code *c)
{
	struct emit *e = &c->e;
	uint32_t frees = 0, none = 0, puts = 0;

	enc_rr(e, true, OP_TEST, R8, R8);
	code_jump_if(c, CC_E, &frees);
	enc_rr(e, true, OP_TEST, RDX, RDX);
	code_jump_if(c, CC_NE, &puts);
	write_add(c, &none);
	code_land(c, puts);
	enc_rm(e, true, OP_MOV_STORE, R8, RDX, IN_CHUNK(data));
	emit_u8(e, 0xc3);
	code_land(c, none);
	enc_mi8(e, true, 0x83, 0, RBX, IN_LANE(drops[DROP_DYNAMIC]), 1);
	emit_u8(e, 0xc3);
	code_land(c, frees);
	write_free(c);
}

bool
body_var_functions(struct code *c)
{
	if (c->find_self == 0 && c->put_self == 0)
		return true;
	if (!code_has_room(c))
		return false;
	code_land(c, c->find_self);
	write_find(c);
	code_land(c, c->put_self);
	write_put(c);
	return true;
}
