/*
 * The code of a site on x86-64; see stub.h.  stub_leave.c knows it, too.
 *
 *	the displaced instructions before the site
 *	the site's is to be taken and is not?	then displaced
 *	on a goroutine's stack, without room?	then the int3
 *
 * with a body:
 *	lea rsp, [rsp - 128]	the red zone is the program's
 *	push rax
 *	push the flags, by lahf and seto
 *	push rcx
 *	push what the body changes; ecx = row; call run; pop
 *	it has not done all?	then again
 *	rcx, flags, rax, rsp back
 *	displaced, as below
 * again: done, but called?	then called
 *	rcx, flags, rax, rsp back
 *
 * start: lea rsp, [rsp - 128]
 *	push rax, flags, rcx
 *	alive == owner?		else out
 *	mine != 0?		else out
 *	what gs leads to says that it is in the lanes, and that fs and the stack are
 *				the thread's?  else trap
 *	busy == 0, skip_sp == 0? else lost
 * fire:
 *	busy = rsp
 *	registers to the lane; rsp = lane; cld; hit(lane, id, ask)
 *	registers back, std if the flag was set; rsp = busy
 * over: busy = 0
 *	call != 0?		then called
 * out:	rcx, flags, rax, rsp back
 * displaced: that of the site, ...; of a call, push the return address
 *	jmp next, or to what is called, or to the code of the next site
 * trap: rcx, flags, rax, rsp back; int3; jmp displaced
 * called: the same
 * lost:	busy == 0?		else lost++; jmp out
 *	above skip_sp?		then skip_sp = 0
 *	not it, or not at the site of skip_at? then fire
 *	skip_sp = 0; jmp out
 * ask:	rax = -1; int3; ret
 *
 * run:	rdx = mine; rcx = rdx + ecx
 *	alive, mine, gs, fs, the stack, busy, skip_sp as above, and
 *	[rcx] == number?	else eax = -1; ret
 *	is there stack for a body?	a fault is the program's
 *	busy = rsp; rbx = lane
 *	the body: busy = 0; eax = what it has done; ret, with the flags
 *		ZF	all
 *		CF	all, and call != 0
 *		neither	nothing
 *
 * A read through gs may fault, if gs has no valid address.  The tracer handles
 * the fault like the trap.  The word at fs:0 is the value of fs itself, as the
 * ABI says.
 *
 * The flags are restored by add and sahf.  Only a call of hit() needs another
 * direction flag, and restores it.  popfq is slow, and would also restore a trap
 * flag, which is not the program's.
 */
#include "inject/x86_64/stub_impl.h"

#include <asm/hwcap2.h>
#include <cpuid.h>
#include <sys/auxv.h>

#include "dlang/base/base.h"
#include "dlang/base/log.h"
#include "dlang/base/x86_64/emit.h"
#include "dlang/vm/store.h"

#define REACH ((UINT64_C(1) << 31) - 4096)

/* The registers that a called function may change, except rax and rcx, which
 * are on the stack; and rbx, which the stub uses. */
static const uint8_t changed[] = { RDX, RBX, RSI, RDI, R8, R9, R10, R11 };

/* ---- the stack ---- */

/* The first instructions. */
static const uint8_t way_in[] = {
	0x48, 0x8d, 0x64, 0x24, 0x80, /* lea rsp, [rsp - 128] */
	0x50,                         /* push rax */
	0x9f,                         /* lahf */
	0x0f, 0x90, 0xc0,             /* seto al */
	0x50, 0x51                    /* push rax; push rcx */
};

/* The most bytes that a body takes, and those that are pushed for it: registers, and a
 * return address. */
#define BODY_FRAME 144U
#define BODY_STACK (BODY_FRAME + 13U * 8U + 8U)

/* The most bytes below rsp that the stub writes, and their place in Go's struct g: the
 * lowest and the highest address of the stack (type g in runtime2.go). */
#define MOST_STACK (ON_SP + BODY_STACK)
#define GO_LO      0
#define GO_HI      8

static const uint8_t way_out[] = { 0x59, /* pop rcx */
	0x58,                            /* pop rax */
	0x04, 0x7f,                      /* add al, 127: of */
	0x9e,                            /* sahf: the others */
	0x58,                            /* pop rax */
	0x48, 0x8d, 0xa4, 0x24,          /* lea rsp, [rsp + 128] */
	0x80, 0x00, 0x00, 0x00 };

static_assert(
    sizeof(way_in) == IN_RCX && sizeof(way_out) == OUT_RSP, "stub_leave.c");

#define FLAG_DF 0x400U

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

/* A forward jump; its distance is written when the target is known.  The target may
 * be in the other piece. */
struct ahead {
	size_t at[8];
	uint64_t end[8]; /* of the instruction */
	unsigned n;
};

static void
jump_ahead(struct emit *e, const char *opcode, unsigned len, struct ahead *a)
{
	emit_bytes(e, opcode, len);
	ASSERT(a->n < ARRAY_SIZE(a->at));
	a->at[a->n] = e->len;
	emit_u32(e, 0);
	a->end[a->n++] = emit_pc(e);
}

static void
land(struct emit *e, const struct ahead *a)
{
	for (unsigned i = 0; i < a->n; i++)
		emit_patch_rel32(
		    e, a->at[i], (size_t)(a->end[i] - e->addr), emit_pc(e));
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
	emit_bytes(e, "\x48\x8b\x08\x48\x0b\x48", 6); /* mov rcx, [rax] */
	emit_u8(e, LANE_SKIP_SP); /* or rcx, [rax + skip_sp] */
	jump_ahead(e, "\x0f\x85", 2, lost);
	s->fire = (uint16_t)e->len;
	emit_bytes(e, "\x48\x89\x20", 3); /* mov [rax], rsp */
}

/* ---- run() ---- */

/* run() begins with what says that nothing was done, so that a distance to it has one
 * byte; then follows its entry. */
#define RUN_NONE  12U
#define RUN_ENTRY 16U

/* If `cc', nothing is done. */
static void
give_up_if(struct emit *e, unsigned cc)
{
	emit_u8(e, 0x70U | cc);
	ASSERT(e->len + 1 - RUN_NONE <= 128);
	emit_u8(e, (uint8_t)(RUN_NONE - (e->len + 1)));
}

#define CC_AE 0x3U
#define CC_E  0x4U
#define CC_NE 0x5U

/* The lane, to rbx.  Changes rdx. */
static void
write_lane(struct stub_run *r, struct emit *e, const struct stub_world *w)
{
	r->finds[0] = (uint16_t)e->len;
	emit_bytes(e, "\x65\x48\x8b\x1c\x25", 5); /* mov rbx, gs:[self] */
	emit_u32(e, LANE_SELF);
	emit_bytes(e, "\x48\xba", 2); /* movabs rdx, -lanes */
	emit_u64(e, -w->lanes);
	emit_bytes(e, "\x48\x01\xda\x48\x81\xfa", 6); /* add rdx, rbx */
	emit_u32(e, (uint32_t)w->span);               /* cmp rdx, span */
	give_up_if(e, CC_AE);
	r->finds[1] = (uint16_t)e->len;
	if (r->goroutine) {
		/* A program of Go's without libc has no such word at fs:0. */
		emit_bytes(e, "\xf3\x48\x0f\xae\xc2", 5); /* rdfsbase rdx */
	} else {
		/* mov rdx, fs:[0] */
		emit_bytes(e, "\x64\x48\x8b\x14\x25", 5);
		emit_u32(e, 0);
	}
	emit_bytes(e, "\x48\x3b\x53", 3); /* cmp rdx, [rbx + memory] */
	emit_u8(e, LANE_MEMORY);
	give_up_if(e, CC_NE);
	emit_bytes(e, "\x48\x3b\x5b", 3); /* cmp rbx, [rbx + self] */
	emit_u8(e, LANE_SELF);
	give_up_if(e, CC_NE);
	emit_bytes(e, "\x48\x89\xe2\x48\x2b\x53", 6); /* mov rdx, rsp */
	emit_u8(e, LANE_ROOM_AT);         /* sub rdx, [rbx + stack_at] */
	emit_bytes(e, "\x48\x3b\x53", 3); /* cmp rdx, [rbx + stack_len] */
	emit_u8(e, LANE_ROOM_LEN);
	give_up_if(e, CC_AE);
}

unsigned
stub_run_write(struct stub_run *r, const struct stub_world *w,
    const struct stub_body *body, bool goroutine, uint64_t addr,
    uint8_t buf[STUB_RUN_MAX])
{
	struct emit e = { .buf = buf, .size = STUB_RUN_MAX, .addr = addr };

	*r = (struct stub_run){ .addr = addr,
		.number = body->number,
		.goroutine = goroutine,
		.entry = RUN_ENTRY };
	while (e.len < RUN_NONE)
		emit_u8(&e, 0x90);
	emit_bytes(&e, "\x83\xc8\xff\xc3", 4); /* or eax, -1; ret */
	emit_bytes(&e, "\x48\xba", 2);         /* movabs rdx, mine */
	emit_u64(&e, w->mine);
	emit_bytes(&e, "\x48\x01\xd1", 3); /* add rcx, rdx */
	emit_bytes(&e, "\x81\xba", 2);     /* cmp dword [rdx + alive], owner */
	emit_u32(&e, (uint32_t)(w->alive - w->mine));
	emit_u32(&e, w->owner);
	give_up_if(&e, CC_NE);
	emit_bytes(&e, "\x83\x3a\x00", 3); /* cmp dword [rdx], 0 */
	give_up_if(&e, CC_E);
	write_lane(r, &e, w);
	/* test [rsp - BODY_FRAME], rax: a fault there while the lane is busy
	 * could not be delivered. */
	emit_bytes(&e, "\x48\x85\x84\x24", 4);
	emit_u32(&e, -BODY_FRAME);
	emit_bytes(&e, "\x81\x39", 2); /* cmp dword [rcx], number */
	emit_u32(&e, body->number);
	give_up_if(&e, CC_NE);
	emit_bytes(&e, "\x48\x8b\x13\x48\x0b\x53", 6); /* mov rdx, [rbx] */
	emit_u8(&e, LANE_SKIP_SP); /* or rdx, [rbx + skip_sp] */
	give_up_if(&e, CC_NE);
	emit_bytes(&e, "\x48\x89\x23", 3); /* mov [rbx], rsp */
	r->busy = (uint16_t)e.len;
	for (unsigned i = 0; i < 2; i++)
		r->exits[i] = (uint16_t)(e.len + body->exits[i]);
	emit_bytes(&e, body->code, body->size);
	r->size = (uint16_t)e.len;
	return r->size;
}

/* ---- the first piece, if there are two ---- */

/* The body and run() change these. */
#define RUN_SAVES (1U << UREG_RBX | 1U << UREG_RDX)

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

/* Where run() has not done all, jump to *again.  It leaves in the flags what it has
 * done, which pop does not change. */
static void
write_run(struct stub *s, struct emit *e, uint64_t run, uint32_t row,
    struct ahead *again)
{
	uint32_t saves = s->saves;

	emit_bytes(e, way_in, sizeof(way_in));
	for (unsigned n = 0; n < UREG_NUMBERS; n++)
		if (saves & 1U << ureg_by_number(n))
			emit_push(e, n);
	emit_u8(e, 0xb9); /* mov ecx, row */
	emit_u32(e, row);
	emit_u8(e, 0xe8); /* call run */
	emit_u32(e, 0);
	emit_patch_rel32(e, e->len - 4, e->len, run);
	s->back = (uint16_t)e->len;
	for (unsigned n = UREG_NUMBERS; n-- > 0;)
		if (saves & 1U << ureg_by_number(n))
			emit_pop(e, n);
	jump_ahead(e, "\x0f\x85", 2, again);
	s->done = (uint16_t)e->len;
	emit_bytes(e, way_out, sizeof(way_out));
}

/* ---- the whole firing ---- */

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

/* The firing is over.  Then jump to *called, if the tracer has asked for that. */
static void
write_over(struct stub *s, struct emit *e, struct ahead *called)
{
	s->over = (uint16_t)e->len;
	emit_bytes(e, "\x48\xc7\x00\x00\x00\x00\x00", 7); /* mov [rax], 0 */
	emit_bytes(e, "\x48\x83\x78", 3); /* cmp qword [rax + call], 0 */
	emit_u8(e, LANE_CALL);
	emit_u8(e, 0);
	s->free = (uint16_t)e->len;
	jump_ahead(e, "\x0f\x85", 2, called);
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
	if (!w->ends) {
		if (!emit_reaches(emit_pc(e) + EMIT_JMP_NEAR, to))
			return false;
		emit_jmp(e, to);
		if (window_calls(w))
			emit_u64(e, w->next);
	}
	s->ends = (uint16_t)e->len;
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
jump_back(const struct stub *s, struct emit *e, const char *opcode,
    unsigned len, unsigned to)
{
	emit_bytes(e, opcode, len);
	emit_u32(e, 0);
	emit_patch_rel32(e, e->len - 4, e->len, stub_address(s, to));
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
	jump_back(s, e, "\x0f\x82", 2, s->fire); /* jb */
	jump_ahead(e, "\x0f\x85", 2, &fires);
	emit_bytes(e, "\x48\xb9", 2); /* movabs rcx, site */
	emit_u64(e, site);
	emit_bytes(e, "\x48\x3b\x48", 3); /* cmp rcx, [rax + skip_at] */
	emit_u8(e, LANE_SKIP_AT);
	jump_ahead(e, "\x0f\x85", 2, &fires);
	write_no_skip(e);
	s->skipped = (uint16_t)e->len;
	jump_back(s, e, "\xe9", 1, s->out);
	land(e, &fires);
	write_no_skip(e);
	jump_back(s, e, "\xe9", 1, s->fire);
	land(e, &busy);
	emit_bytes(e, "\x48\xff\x40", 3); /* inc qword [rax + lost] */
	emit_u8(e, LANE_LOST);
	jump_back(s, e, "\xe9", 1, s->out);
}

static void
write_ask(struct stub *s, struct emit *e, struct ahead *ask)
{
	land(e, ask);
	s->ask = (uint16_t)e->len;
	emit_bytes(e, "\x48\xc7\xc0\xff\xff\xff\xff", 7); /* mov rax, -1 */
	s->asked = (uint16_t)e->len;
	emit_bytes(e, "\xcc\xc3", 2);
}

/* An int3, behind which are the displaced instructions.  Returns where it is. */
static uint16_t
write_trap(const struct stub *s, struct emit *e)
{
	size_t at = e->len;

	emit_u8(e, 0xcc);
	jump_back(s, e, "\xe9", 1, s->displaced[s->first]);
	return (uint16_t)at;
}

/* All behind the instructions before the site, if there is no body; or else the
 * second piece. */
static bool
write_firing(struct stub *s, struct emit *e, const struct stub_world *world,
    const struct window *w, uint32_t id, const struct ahead *past,
    const struct ahead *no_room, struct ahead *called)
{
	struct ahead out = { 0 }, lost = { 0 }, ask = { 0 }, trap = { 0 };
	uint64_t site = w->insn[w->site].addr;

	s->start = (uint16_t)e->len;
	write_questions(s, e, world, w->goroutine, &out, &trap, &lost);
	s->busy = (uint16_t)e->len;
	write_saves(e, site);
	write_call(e, world, id, &ask);
	write_over(s, e, called);
	land(e, &out);
	s->out = (uint16_t)e->len;
	emit_bytes(e, way_out, sizeof(way_out));
	if (s->rare != 0) {
		jump_back(s, e, "\xe9", 1, s->displaced[s->first]);
	} else {
		land(e, past);
		if (!write_rest(s, e, w))
			return false;
	}
	land(e, &trap);
	s->trap_out = (uint16_t)e->len;
	emit_bytes(e, way_out, sizeof(way_out));
	land(e, no_room);
	s->trap = write_trap(s, e);
	land(e, called);
	s->called_out = (uint16_t)e->len;
	emit_bytes(e, way_out, sizeof(way_out));
	s->called_trap = write_trap(s, e);
	land(e, &lost);
	s->lost = (uint16_t)e->len;
	write_rare(s, e, site);
	write_ask(s, e, &ask);
	return true;
}
/* Are the pieces near enough to one another? */
static bool
is_within(const struct stub_places *at)
{
	uint64_t lo = 0, hi = UINT64_MAX;

	narrow(at->addr, &lo, &hi);
	return at->rare >= lo && at->rare <= hi && at->run >= lo &&
	    at->run <= hi;
}

/* The first piece, behind the instructions before the site, and the begin of the
 * second one. */
static bool
write_first(struct stub *s, struct emit *e, uint32_t row,
    const struct window *w, const struct stub_places *at,
    const struct ahead *past, struct ahead *called)
{
	struct ahead again = { 0 };

	write_run(s, e, at->run, row, &again);
	land(e, past);
	if (!is_within(at) || !write_rest(s, e, w))
		return false;
	s->first_size = (uint16_t)e->len;
	e->addr = at->rare - e->len;
	land(e, &again);
	s->again = (uint16_t)e->len;
	jump_ahead(e, "\x0f\x82", 2, called);
	emit_bytes(e, way_out, sizeof(way_out));
	return true;
}

unsigned
stub_write(struct stub *s, const struct stub_world *world,
    const struct stub_body *body, const struct window *w, uint32_t id,
    const struct stub_places *at, uint8_t buf[STUB_SIZE_MAX])
{
	struct emit e = { .buf = buf, .size = STUB_SIZE_MAX, .addr = at->addr };
	struct ahead past = { 0 }, called = { 0 }, no_room = { 0 };
	bool two = body != NULL && body->row != 0;

	*s = (struct stub){ .addr = at->addr,
		.n = w->n,
		.first = w->site,
		.onto = w->onto,
		.taken = w->taken,
		.first_size = UINT16_MAX };
	if (two) {
		ASSERT((body->saves & RUN_SAVES) == RUN_SAVES);
		s->saves = body->saves;
		s->rare = at->rare;
	}
	if (!write_some(s, &e, w, 0, w->site))
		return 0;
	s->begin = (uint16_t)e.len;
	if (w->taken)
		write_taken(&e, &w->insn[w->site], &past);
	if (w->goroutine)
		write_room(&e, &no_room);
	s->asks = (uint16_t)e.len;
	if (two &&
	    !write_first(s, &e, (uint32_t)(body->row - world->mine), w, at,
		&past, &called))
		return 0;
	if (!write_firing(s, &e, world, w, id, &past, &no_room, &called))
		return 0;
	s->size = (uint16_t)e.len;
	if (s->rare == 0)
		s->first_size = s->size;
	return s->size;
}
