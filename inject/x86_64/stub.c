/*
 * The code of a site on x86-64; see stub.h.
 *
 *	the displaced instructions before the site
 *	the site's is to be taken and is not?	then displaced
 *	on a goroutine's stack, without room?	then the int3
 *	lea rsp, [rsp - 128]	the red zone is the program's
 *	push rax
 *	push the flags, by lahf and seto
 *	push rcx
 *	alive == owner?		else out
 *	mine != 0?		else out
 *	what gs leads to says that it is in the lanes, and that fs and the stack are
 *				the thread's?  else trap
 *	with a body: is there stack for it?	a fault is the program's
 *	busy == 0, skip_sp == 0? else lost
 * fire:
 *	busy = rsp
 *	push what the body changes; rbx = lane; call the body; rax = lane; pop
 *	it has done all?	then over
 *	registers to the lane; rsp = lane; cld; hit(lane, id, ask)
 *	registers back, std if the flag was set; rsp = busy
 * over: busy = 0
 *	call != 0?		then trap
 * out:	rcx, flags, rax, rsp back
 * displaced: that of the site, ...; of a call, push the return address
 *	jmp next, or to what is called, or to the code of the next site
 * trap: rcx, flags, rax, rsp back; int3; jmp displaced
 * lost:	busy == 0?		else lost++; jmp out
 *	above skip_sp?		then skip_sp = 0
 *	not it, or not at the site of skip_at? then fire
 *	skip_sp = 0; jmp out
 * ask:	rax = -1; int3; ret
 *
 * A read through gs may fault, if gs has no valid address.  The tracer handles
 * the fault like the trap.  The word at fs:0 is the value of fs itself, as the
 * ABI says.
 *
 * The flags are restored by add and sahf.  Only a call of hit() needs another
 * direction flag, and restores it.  popfq is slow, and would also restore a trap
 * flag, which is not the program's.
 */
#include "inject/stub.h"

#include <asm/hwcap2.h>
#include <cpuid.h>
#include <sys/auxv.h>

#include "dlang/base/base.h"
#include "dlang/base/log.h"
#include "dlang/base/x86_64/emit.h"
#include "dlang/vm/store.h"

#define RED_ZONE 128U
#define REACH    ((UINT64_C(1) << 31) - 4096)

/* The registers that a called function may change, except rax and rcx, which
 * are on the stack; and rbx, which the stub uses. */
static const uint8_t changed[] = { RDX, RBX, RSI, RDI, R8, R9, R10, R11 };

/* ---- the stack ---- */

/* The first instructions, and offsets behind them. */
static const uint8_t way_in[] = {
	0x48, 0x8d, 0x64, 0x24, 0x80, /* lea rsp, [rsp - 128] */
	0x50,                         /* push rax */
	0x9f,                         /* lahf */
	0x0f, 0x90, 0xc0,             /* seto al */
	0x50, 0x51                    /* push rax; push rcx */
};

#define IN_LEA   5U
#define IN_RAX   6U
#define IN_FLAGS 11U
#define IN_RCX   12U

/* Offsets of the three pushed words from rsp, and of the program's stack. */
#define ON_RCX   0
#define ON_FLAGS 8
#define ON_RAX   16
#define ON_SP    (24 + RED_ZONE)

/* The most bytes that a body and the registers pushed for it take. */
#define BODY_STACK 256U

/* The most bytes below rsp that the stub writes, and their place in Go's struct g: the
 * lowest and the highest address of the stack (type g in runtime2.go). */
#define MOST_STACK (ON_SP + BODY_STACK)
#define GO_LO      0
#define GO_HI      8

/* The flags that are restored: those of lahf, and of. */
#define FLAGS_LOW  UINT64_C(0xd5)
#define FLAG_OF    UINT64_C(0x800)
#define FLAGS_KEPT (FLAGS_LOW | FLAG_OF)
#define FLAG_DF    0x400U

/* Offsets behind instructions of the way out. */
#define OUT_RCX   1U
#define OUT_FLAGS 2U
#define OUT_OF    4U
#define OUT_SAHF  5U
#define OUT_RAX   6U

static const uint8_t way_out[] = { 0x59, /* pop rcx */
	0x58,                            /* pop rax */
	0x04, 0x7f,                      /* add al, 127: of */
	0x9e,                            /* sahf: the others */
	0x58,                            /* pop rax */
	0x48, 0x8d, 0xa4, 0x24,          /* lea rsp, [rsp + 128] */
	0x80, 0x00, 0x00, 0x00 };

/* ---- writing ---- */

bool
stub_possible(void)
{
	return true;
}

bool
stub_on_goroutines(void)
{
	return (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE) != 0;
}

/* Does it have rdpid? */
uint32_t
stub_processor(void)
{
	unsigned a, b, c = 0, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && c & 1U << 22;
}

static void
narrow(uint64_t addr, uint64_t *lo, uint64_t *hi)
{
	*lo = MAX(*lo, addr > REACH ? addr - REACH : 0);
	*hi = MIN(*hi, addr < UINT64_MAX - REACH ? addr + REACH : UINT64_MAX);
}

static bool
has_target(const struct insn *in)
{
	return in->kind == INSN_JMP || in->kind == INSN_JCC ||
	    in->kind == INSN_CALL;
}

/* The address of a rip-relative operand. */
static uint64_t
data_of(const struct insn *in)
{
	return in->addr + in->len + (uint64_t)(int64_t)in->disp;
}

void
stub_reach(const struct window *w, uint64_t *lo, uint64_t *hi)
{
	*lo = 0;
	*hi = UINT64_MAX;
	narrow(w->insn[0].addr, lo, hi);
	if (w->onto != 0)
		narrow(w->onto, lo, hi);
	for (unsigned i = 0; i < w->n; i++) {
		if (w->insn[i].rip_relative)
			narrow(data_of(&w->insn[i]), lo, hi);
		if (has_target(&w->insn[i]))
			narrow(w->insn[i].target, lo, hi);
	}
}

/* A forward jump; its distance is written when the target is known. */
struct ahead {
	size_t at[5];
	unsigned n;
};

static void
jump_ahead(struct emit *e, const char *opcode, unsigned len, struct ahead *a)
{
	emit_bytes(e, opcode, len);
	ASSERT(a->n < ARRAY_SIZE(a->at));
	a->at[a->n++] = e->len;
	emit_u32(e, 0);
}

static void
land(struct emit *e, const struct ahead *a)
{
	for (unsigned i = 0; i < a->n; i++)
		emit_patch_rel32(e, a->at[i], a->at[i] + 4, emit_pc(e));
}

/* mov between a register and [rax + off]. */
static void
move(struct emit *e, unsigned opcode, unsigned reg, uint32_t off)
{
	emit_u8(e, 0x48 | (reg >> 3) << 2);
	emit_u8(e, opcode);
	emit_u8(e, 0x80 | (reg & 7) << 3 | RAX);
	emit_u32(e, off);
}

#define STORE 0x89
#define LOAD  0x8b

static uint32_t
kept_at(unsigned reg)
{
	return LANE_REGS + 8U * ureg_by_number(reg);
}

/* mov rcx, [rsp + at]; mov [rax + off], rcx */
static void
move_pushed(struct emit *e, unsigned at, uint32_t off)
{
	emit_bytes(e, "\x48\x8b\x4c\x24", 4);
	emit_u8(e, at);
	move(e, STORE, RCX, off);
}

/* If the branch is not taken, jump to *past. */
static void
write_taken(struct emit *e, const struct insn *in, struct ahead *past)
{
	const char opcode[2] = { 0x0f, (char)(0x80U | (in->cond ^ 1U)) };

	ASSERT(in->kind == INSN_JCC);
	jump_ahead(e, opcode, sizeof(opcode), past);
}

/*
 * Jump to *no if the stack has no room.  Go's calling convention says that r14 is the
 * goroutine's struct g wherever its compiler's functions begin and return, or 0 in a
 * thread that has none, and that r12 and the flags are nobody's there.
 */
static void
write_room(struct emit *e, struct ahead *no)
{
	emit_bytes(e, "\x4d\x85\xf6", 3); /* test r14, r14 */
	jump_ahead(e, "\x0f\x84", 2, no);
	emit_bytes(e, "\x4c\x8d\xa4\x24", 4); /* lea r12, [rsp - MOST_STACK] */
	emit_u32(e, -MOST_STACK);
	emit_bytes(e, "\x4d\x3b\x66", 3); /* cmp r12, [r14 + lo] */
	emit_u8(e, GO_LO);
	jump_ahead(e, "\x0f\x82", 2, no);
	emit_bytes(e, "\x49\x3b\x66", 3); /* cmp rsp, [r14 + hi] */
	emit_u8(e, GO_HI);
	jump_ahead(e, "\x0f\x87", 2, no);
}

static void
write_questions(struct stub *s, struct emit *e, const struct stub_world *w,
    bool goroutine, struct ahead *out, struct ahead *trap, struct ahead *lost)
{
	emit_bytes(e, way_in, sizeof(way_in));
	emit_u8(e, 0xa1); /* mov eax, [alive] */
	emit_u64(e, w->alive);
	emit_u8(e, 0x3d); /* cmp eax, owner */
	emit_u32(e, w->owner);
	jump_ahead(e, "\x0f\x85", 2, out);
	emit_u8(e, 0xa1); /* mov eax, [mine] */
	emit_u64(e, w->mine);
	emit_bytes(e, "\x85\xc0", 2); /* test eax, eax */
	jump_ahead(e, "\x0f\x84", 2, out);
	s->finds[0] = (uint16_t)e->len;
	emit_bytes(e, "\x65\x48\x8b\x04\x25", 5); /* mov rax, gs:[self] */
	emit_u32(e, LANE_SELF);
	emit_bytes(e, "\x48\xb9", 2); /* movabs rcx, -lanes */
	emit_u64(e, -w->lanes);
	emit_bytes(e, "\x48\x01\xc1\x48\x81\xf9", 6); /* add rcx, rax */
	emit_u32(e, (uint32_t)w->span);               /* cmp rcx, span */
	jump_ahead(e, "\x0f\x83", 2, trap);
	s->finds[1] = (uint16_t)e->len;
	if (goroutine) {
		/* A program of Go's without libc has no such word at fs:0. */
		emit_bytes(e, "\xf3\x48\x0f\xae\xc1", 5); /* rdfsbase rcx */
	} else {
		/* mov rcx, fs:[0] */
		emit_bytes(e, "\x64\x48\x8b\x0c\x25", 5);
		emit_u32(e, 0);
	}
	emit_bytes(e, "\x48\x3b\x48", 3); /* cmp rcx, [rax + memory] */
	emit_u8(e, LANE_MEMORY);
	jump_ahead(e, "\x0f\x85", 2, trap);
	emit_bytes(e, "\x48\x3b\x40", 3); /* cmp rax, [rax + self] */
	emit_u8(e, LANE_SELF);
	jump_ahead(e, "\x0f\x85", 2, trap);
	emit_bytes(e, "\x48\x89\xe1\x48\x2b\x48", 6); /* mov rcx, rsp */
	emit_u8(e, LANE_ROOM_AT);         /* sub rcx, [rax + stack_at] */
	emit_bytes(e, "\x48\x3b\x48", 3); /* cmp rcx, [rax + stack_len] */
	emit_u8(e, LANE_ROOM_LEN);
	jump_ahead(e, "\x0f\x83", 2, trap);
	if (s->body.row != 0) {
		/* test [rsp - BODY_STACK], rax: a fault there while the lane is
		 * busy could not be delivered. */
		emit_bytes(e, "\x48\x85\x84\x24", 4);
		emit_u32(e, -BODY_STACK);
	}
	emit_bytes(e, "\x48\x8b\x08\x48\x0b\x48", 6); /* mov rcx, [rax] */
	emit_u8(e, LANE_SKIP_SP); /* or rcx, [rax + skip_sp] */
	jump_ahead(e, "\x0f\x85", 2, lost);
	s->fire = (uint16_t)e->len;
	emit_bytes(e, "\x48\x89\x20", 3); /* mov [rax], rsp */
}

/* ---- the body ---- */

/* The registers are pushed from rax's number up. */
int32_t
stub_saved_at(uint32_t saves, unsigned ureg)
{
	int32_t above = 8; /* the return address is on top */

	if (ureg == UREG_RAX || ureg == UREG_RCX)
		above += ureg == UREG_RAX ? ON_RAX : ON_RCX;
	else if (!(saves & 1U << ureg))
		return INT32_MIN;
	for (unsigned n = UREG_NUMBERS; n-- > 0;) {
		if (ureg_by_number(n) == ureg && saves & 1U << ureg)
			return above;
		if (saves & 1U << ureg_by_number(n))
			above += 8;
	}
	return above;
}

/* The lane is in rax, before and after.  If the body has not done everything, jump
 * to *rest. */
static void
write_body(struct emit *e, const struct stub_body *b, struct ahead *rest)
{
	for (unsigned n = 0; n < UREG_NUMBERS; n++)
		if (b->saves & 1U << ureg_by_number(n))
			emit_push(e, n);
	emit_bytes(e, "\x48\x89\xc3", 3); /* mov rbx, rax */
	emit_bytes(e, "\x48\xb9", 2);     /* movabs rcx, row */
	emit_u64(e, b->row);
	emit_bytes(e, "\xff\x11", 2);     /* call [rcx] */
	emit_bytes(e, "\x89\xc1", 2);     /* mov ecx, eax */
	emit_bytes(e, "\x48\x89\xd8", 3); /* mov rax, rbx */
	for (unsigned n = UREG_NUMBERS; n-- > 0;)
		if (b->saves & 1U << ureg_by_number(n))
			emit_pop(e, n);
	emit_bytes(e, "\x85\xc9", 2); /* test ecx, ecx */
	jump_ahead(e, "\x0f\x85", 2, rest);
}

/* The flags to the lane: some from the stack, and the others as they are.  Other
 * registers than rax are in the lane.  The program's stack may have no room. */
static void
write_flags(struct emit *e)
{
	emit_bytes(e, "\x48\x89\xc4\x9c\x59", 5); /* mov rsp, rax; pushfq; */
	emit_bytes(e, "\x48\x8b\x20", 3);         /* pop rcx; mov rsp, [rax] */
	emit_bytes(e, "\x81\xe1", 2);             /* and ecx, ~FLAGS_KEPT */
	emit_u32(e, (uint32_t)~FLAGS_KEPT);
	emit_bytes(e, "\x8b\x54\x24", 3); /* mov edx, [rsp + flags] */
	emit_u8(e, ON_FLAGS);
	emit_bytes(e, "\x0f\xb6\xf6\x81\xe6", 5);     /* movzx esi, dh */
	emit_u32(e, FLAGS_LOW);                       /* and esi, FLAGS_LOW */
	emit_bytes(e, "\x83\xe2\x01\xc1\xe2\x0b", 6); /* and edx, 1 */
	emit_bytes(e, "\x09\xf1\x09\xd1", 4); /* shl edx, 11; or ecx, esi */
	move(e, STORE, RCX, LANE_REGS + 8U * UREG_RFLAGS); /* or ecx, edx */
}

static void
write_saves(struct emit *e, uint64_t site)
{
	for (unsigned r = 0; r < UREG_NUMBERS; r++)
		if (r != RAX && r != RCX && r != RSP)
			move(e, STORE, r, kept_at(r));
	move_pushed(e, ON_RAX, kept_at(RAX));
	move_pushed(e, ON_RCX, kept_at(RCX));
	write_flags(e);
	emit_bytes(e, "\x48\x8d\x8c\x24", 4); /* lea rcx, [rsp + ON_SP] */
	emit_u32(e, ON_SP);
	move(e, STORE, RCX, kept_at(RSP));
	emit_bytes(e, "\x48\xb9", 2); /* movabs rcx, site */
	emit_u64(e, site);
	move(e, STORE, RCX, LANE_REGS + 8U * UREG_RIP);
}

static void
write_call(
    struct emit *e, const struct stub_world *w, uint32_t id, struct ahead *ask)
{
	emit_bytes(e, "\x48\x89\xc3", 3); /* mov rbx, rax */
	emit_bytes(e, "\x48\x89\xc4", 3); /* mov rsp, rax */
	emit_u8(e, 0xfc);                 /* cld */
	emit_bytes(e, "\x48\x89\xc7", 3); /* mov rdi, rax */
	emit_u8(e, 0xbe);                 /* mov esi, id */
	emit_u32(e, id);
	jump_ahead(e, "\x48\x8d\x15", 3, ask); /* lea rdx, [rip + ask] */
	emit_bytes(e, "\x48\xb8", 2);          /* movabs rax, hit */
	emit_u64(e, w->hit);
	emit_bytes(e, "\xff\xd0", 2);     /* call rax */
	emit_bytes(e, "\x48\x89\xd8", 3); /* mov rax, rbx */
	for (size_t i = 0; i < ARRAY_SIZE(changed); i++)
		move(e, LOAD, changed[i], kept_at(changed[i]));
	emit_bytes(e, "\xf7\x80", 2); /* test dword [rax + rflags], df */
	emit_u32(e, LANE_REGS + 8U * UREG_RFLAGS);
	emit_u32(e, FLAG_DF);
	emit_bytes(e, "\x74\x01\xfd", 3); /* je over it; std */
	emit_bytes(e, "\x48\x8b\x20", 3); /* mov rsp, [rax] */
}

/* The firing is over.  The next instruction can tell by jne whether it is to
 * trap. */
static void
write_over(struct emit *e)
{
	emit_bytes(e, "\x48\x83\x78", 3); /* cmp qword [rax + call], 0 */
	emit_u8(e, LANE_CALL);
	emit_u8(e, 0);
	emit_bytes(e, "\x48\xc7\x00\x00\x00\x00\x00", 7); /* mov [rax], 0 */
}

/* Write one of the instructions that the jump replaces.  False: an operand is
 * out of reach. */
static bool
write_displaced(struct emit *e, const struct insn *in)
{
	size_t at = e->len;

	if (in->kind == INSN_JMP) {
		if (!emit_reaches(emit_pc(e) + EMIT_JMP_NEAR, in->target))
			return false;
		emit_jmp(e, in->target);
		return true;
	}
	if (in->kind == INSN_CALL) {
		emit_bytes(e, "\xff\x35", 2); /* push [rip + .] */
		emit_u32(e, EMIT_JMP_NEAR);   /* behind the jump */
		return true;
	}
	if (in->kind == INSN_JCC) {
		emit_u8(e, 0x0f);
		emit_u8(e, 0x80U | in->cond);
		emit_u32(e, 0);
		if (!emit_reaches(emit_pc(e), in->target))
			return false;
		emit_patch_rel32(e, e->len - 4, e->len, in->target);
		return true;
	}
	emit_bytes(e, in->bytes, in->len);
	if (!in->rip_relative)
		return true;
	if (!emit_reaches(emit_pc(e), data_of(in)))
		return false;
	emit_patch_rel32(e, at + in->disp_at, e->len, data_of(in));
	return true;
}

/* Those from `from' up to `to'. */
static bool
write_some(struct stub *s, struct emit *e, const struct window *w,
    unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++) {
		s->displaced[i] = (uint16_t)e->len;
		s->site[i] = w->insn[i].addr;
		if (!write_displaced(e, &w->insn[i]))
			return false;
	}
	return true;
}

/* The instructions from the site on, and the jump back, or to what is called: then
 * the return address lies behind the jump, and has been pushed. */
static bool
write_rest(struct stub *s, struct emit *e, const struct window *w)
{
	uint64_t to = window_leads(w);

	if (!write_some(s, e, w, w->site, w->n))
		return false;
	s->displaced[w->n] = (uint16_t)e->len;
	s->site[w->n] = to;
	if (w->onto != 0)
		to = w->onto;
	if (w->ends)
		return true;
	if (!emit_reaches(emit_pc(e) + EMIT_JMP_NEAR, to))
		return false;
	emit_jmp(e, to);
	if (window_calls(w))
		emit_u64(e, w->next);
	return true;
}

/* mov qword [rax + skip_sp], 0 */
static void
write_no_skip(struct emit *e)
{
	emit_bytes(e, "\x48\xc7\x40", 3);
	emit_u8(e, LANE_SKIP_SP);
	emit_u32(e, 0);
}

static void
jump_back(struct emit *e, const char *opcode, unsigned len, unsigned to)
{
	emit_bytes(e, opcode, len);
	emit_u32(e, 0);
	emit_patch_rel32(e, e->len - 4, e->len, e->addr + to);
}

static void
write_rare(struct stub *s, struct emit *e, uint64_t site)
{
	struct ahead busy = { 0 }, fires = { 0 };

	emit_bytes(e, "\x48\x83\x38\x00", 4); /* cmp qword [rax], 0 */
	jump_ahead(e, "\x0f\x85", 2, &busy);
	emit_bytes(e, "\x48\x8d\x8c\x24", 4); /* lea rcx, [rsp + ON_SP] */
	emit_u32(e, ON_SP);
	emit_bytes(e, "\x48\x3b\x48", 3); /* cmp rcx, [rax + skip_sp] */
	emit_u8(e, LANE_SKIP_SP);
	jump_back(e, "\x0f\x82", 2, s->fire); /* jb */
	jump_ahead(e, "\x0f\x85", 2, &fires);
	emit_bytes(e, "\x48\xb9", 2); /* movabs rcx, site */
	emit_u64(e, site);
	emit_bytes(e, "\x48\x3b\x48", 3); /* cmp rcx, [rax + skip_at] */
	emit_u8(e, LANE_SKIP_AT);
	jump_ahead(e, "\x0f\x85", 2, &fires);
	write_no_skip(e);
	s->skipped = (uint16_t)e->len;
	jump_back(e, "\xe9", 1, s->out);
	land(e, &fires);
	write_no_skip(e);
	jump_back(e, "\xe9", 1, s->fire);
	land(e, &busy);
	emit_bytes(e, "\x48\xff\x40", 3); /* inc qword [rax + lost] */
	emit_u8(e, LANE_LOST);
	jump_back(e, "\xe9", 1, s->out);
}

/* The whole firing, if there is a body, which may not have done it; and ask(). */
static void
write_whole(struct stub *s, struct emit *e, const struct stub_world *world,
    uint64_t site, uint32_t id, struct ahead *rest, struct ahead *ask)
{
	s->ask = (uint16_t)e->len;
	if (s->body.row != 0) {
		land(e, rest);
		write_saves(e, site);
		write_call(e, world, id, ask);
		jump_back(e, "\xe9", 1, s->over);
	}
	land(e, ask);
	emit_bytes(e, "\x48\xc7\xc0\xff\xff\xff\xff", 7); /* mov rax, -1 */
	s->asked = (uint16_t)e->len;
	emit_bytes(e, "\xcc\xc3", 2);
}

unsigned
stub_write(struct stub *s, const struct stub_world *world,
    const struct stub_body *body, const struct window *w, uint32_t id,
    uint64_t addr, uint8_t buf[STUB_SIZE_MAX])
{
	struct emit e = { .buf = buf, .size = STUB_SIZE_MAX, .addr = addr };
	struct ahead out = { 0 }, trap = { 0 }, lost = { 0 }, over = { 0 };
	struct ahead ask = { 0 }, rest = { 0 }, no_room = { 0 };
	uint64_t site = w->insn[w->site].addr;

	*s = (struct stub){ .addr = addr,
		.n = w->n,
		.first = w->site,
		.onto = w->onto,
		.taken = w->taken };
	if (body != NULL)
		s->body = *body;
	if (!write_some(s, &e, w, 0, w->site))
		return 0;
	s->begin = (uint16_t)e.len;
	if (w->taken)
		write_taken(&e, &w->insn[w->site], &over);
	if (w->goroutine)
		write_room(&e, &no_room);
	s->asks = (uint16_t)e.len;
	write_questions(s, &e, world, w->goroutine, &out, &trap, &lost);
	s->busy = (uint16_t)e.len;
	if (s->body.row != 0) {
		write_body(&e, &s->body, &rest);
	} else {
		write_saves(&e, site);
		write_call(&e, world, id, &ask);
	}
	s->over = (uint16_t)e.len;
	write_over(&e);
	s->free = (uint16_t)e.len;
	jump_ahead(&e, "\x0f\x85", 2, &trap);
	land(&e, &out);
	s->out = (uint16_t)e.len;
	emit_bytes(&e, way_out, sizeof(way_out));
	land(&e, &over);
	if (!write_rest(s, &e, w))
		return 0;
	land(&e, &trap);
	s->trap_out = (uint16_t)e.len;
	emit_bytes(&e, way_out, sizeof(way_out));
	land(&e, &no_room);
	s->trap = (uint16_t)e.len;
	emit_u8(&e, 0xcc);
	jump_back(&e, "\xe9", 1, s->displaced[s->first]);
	land(&e, &lost);
	s->lost = (uint16_t)e.len;
	write_rare(s, &e, site);
	write_whole(s, &e, world, site, id, &rest, &ask);
	s->size = (uint16_t)e.len;
	return s->size;
}

/* ---- leaving ---- */

static uint64_t
pushed(struct target *t, uint64_t addr)
{
	uint64_t word = 0;

	if (t->ops->read(t, addr, &word, sizeof(word)) != 0)
		LOG("stub", "no stack at %#lx", (unsigned long)addr);
	return word;
}

/* What lahf and seto have made. */
static void
take_flags(struct uregs *regs, uint64_t word)
{
	uint64_t flags =
	    (word >> 8 & FLAGS_LOW) | ((word & 1) != 0 ? FLAG_OF : 0);

	regs->r[UREG_RFLAGS] = (regs->r[UREG_RFLAGS] & ~FLAGS_KEPT) | flags;
}

/* rax is on top of the stack. */
static void
take_rax(struct target *t, struct uregs *regs)
{
	regs->r[UREG_RAX] = pushed(t, regs->r[UREG_RSP]);
	regs->r[UREG_RSP] += 8 + RED_ZONE;
}

/* All three words are on the stack: restore the registers from them. */
static void
take_all(struct target *t, struct uregs *regs)
{
	uint64_t *sp = &regs->r[UREG_RSP];

	regs->r[UREG_RCX] = pushed(t, *sp + ON_RCX);
	take_flags(regs, pushed(t, *sp + ON_FLAGS));
	*sp += ON_RAX;
	take_rax(t, regs);
}

/* The thread is `at' bytes into a way out: do the rest of it. */
static void
take_rest(struct target *t, struct uregs *regs, unsigned at)
{
	uint64_t *sp = &regs->r[UREG_RSP];

	if (at < OUT_RCX) {
		take_all(t, regs);
		return;
	}
	if (at < OUT_FLAGS) {
		take_flags(regs, pushed(t, *sp));
		*sp += 8;
	} else if (at < OUT_OF) {
		take_flags(regs, regs->r[UREG_RAX]);
	} else if (at < OUT_SAHF) {
		bool of = (regs->r[UREG_RFLAGS] & FLAG_OF) != 0;
		take_flags(regs, (regs->r[UREG_RAX] & ~UINT64_C(1)) | of);
	}
	if (at < OUT_RAX)
		take_rax(t, regs);
	else if (at < sizeof(way_out))
		*sp += RED_ZONE;
}

/* The thread is `at' bytes into the beginning of the stub: undo what it has
 * pushed.  The first instructions change no flags. */
static void
take_begun(struct uregs *regs, struct target *t, unsigned at)
{
	uint64_t *sp = &regs->r[UREG_RSP];

	if (at >= IN_RCX) {
		take_all(t, regs);
	} else if (at >= IN_RAX) {
		*sp += at >= IN_FLAGS ? 8 : 0;
		take_rax(t, regs);
	} else if (at >= IN_LEA) {
		*sp += RED_ZONE;
	}
}

enum stub_place
stub_leave(const struct stub *s, struct target *t, struct uregs *regs)
{
	unsigned at = (unsigned)(regs->r[UREG_PC] - s->addr);

	if ((at >= s->busy && at < s->free) || at >= s->ask)
		return STUB_FIRING;
	regs->r[UREG_PC] = stub_text_pc(s, regs->r[UREG_PC]);
	if (at < s->begin)
		return STUB_AHEAD;
	if (at < s->busy) {
		take_begun(regs, t, at > s->asks ? at - s->asks : 0);
		return STUB_BEFORE;
	}
	if (at < s->out) {
		take_all(t, regs);
		return STUB_FIRED;
	}
	if (at <= s->displaced[s->first]) {
		take_rest(t, regs, at - s->out);
		return STUB_FIRED;
	}
	if (at < s->trap_out)
		return STUB_BEHIND;
	if (at <= s->trap) {
		take_rest(t, regs, at - s->trap_out);
		return STUB_BEFORE;
	}
	if (at >= s->lost) {
		take_all(t, regs);
		return at == s->skipped ? STUB_FIRED : STUB_BEFORE;
	}
	return STUB_FIRED;
}

uint64_t
stub_text_pc(const struct stub *s, uint64_t pc)
{
	unsigned at = (unsigned)(pc - s->addr), i = s->first;

	if (at < s->begin)
		for (i--; at < s->displaced[i];)
			i--;
	else if (at >= s->displaced[i] && at < s->trap_out)
		for (i = s->n; at < s->displaced[i];)
			i--;
	return s->site[i];
}
