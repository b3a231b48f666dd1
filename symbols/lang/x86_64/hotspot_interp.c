/*
 * Frames of HotSpot's interpreter on x86-64 (frame_x86.hpp of the JDK; not in
 * the tables):
 *
 *	rbp +8	return address
 *	     0	caller's rbp
 *	    -8	the caller's rsp, before room was made for the callee's locals
 *	   -24	Method
 *	   -64	bcp, the address of the bytecode, as it was at the last call
 *		(8: -56, it has a slot less before it)
 *
 * The current bytecode is in r13. Each way into a method builds this frame by
 * the same instructions, and each way out removes it:
 *
 *	in  ... pop %rax; lea -8(%rsp,%rcx,8),%r14; (push 0 for each local)
 *	    push %rax; push %rbp; mov %rsp,%rbp; push %r13; ... push %rbx
 *	out leave; pop %r13; mov %rbx,%rsp; jmp *%r13
 *
 * Between these instructions the return address is in rax or r13, the method in
 * rbx, and rbp belongs to another frame.
 */
#include <string.h>

#include "dlang/base/base.h"
#include "symbols/lang/hotspot_impl.h"

#define SENDER_SP  (-8)
#define METHOD     (-24)
#define BCP(major) ((major) >= 9 ? -64 : -56)

/* The most bytes between a caller's stack and the frame: room for the callee's
 * locals that are not arguments, at most 64k locals. */
#define EXTENDED_BYTES (8 * (UINT16_MAX + 16))

/* The most bytes from an entry to the instructions that build the frame (86 in
 * 17, without the counters of debug builds). */
#define BEFORE_BYTES 160

static const uint8_t make_frame[] = { 0x50, 0x55, 0x48, 0x8b, 0xec, 0x41,
	0x55 };
static const uint8_t take_return[] = { 0x58, 0x4c, 0x8d, 0x74, 0xcc, 0xf8 };
static const uint8_t leave_frame[] = { 0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x41, 0xff,
	0xe5 };

/* Where in a method the stopped instruction is. */
struct moment {
	enum {
		IN_FRAME, /* or it is not known */
		ENTERING,
		LEAVING,
	} at;
	uint64_t pc, rsp; /* of the caller, if there is no frame */
	uint64_t rbp;
};

static uint64_t
find(const uint8_t *in, size_t len, const uint8_t *what, size_t n)
{
	const uint8_t *p = memmem(in, len, what, n);

	return p != NULL ? (uint64_t)(p - in) : UINT64_MAX;
}

/* The rsp of the caller, which was passed in r13. */
static uint64_t
sender_sp(const struct frame *f, uint64_t sp, uint64_t least)
{
	return sp >= least && sp - f->r[CFI_RSP] <= EXTENDED_BYTES &&
		(sp & 7) == 0 ?
	    sp :
	    least;
}

/* Is the thread at the way in?  `code' has the bytes from f's pc on. */
static bool
is_entering(struct lang_walk *w, const struct frame *f, const uint8_t *code,
    size_t len, struct moment *m)
{
	uint64_t rsp = f->r[CFI_RSP], made, taken;

	/* Before the last two of the three pushes, or before the first. */
	if (memcmp(code, make_frame + 2, sizeof(make_frame) - 2) == 0) {
		m->pc = lang_u64(w, rsp + 8);
		m->rbp = lang_u64(w, rsp);
		m->rsp = sender_sp(f, f->r[CFI_R13], rsp + 16);
		return true;
	}
	m->rbp = f->r[CFI_RBP];
	m->rsp = sender_sp(f, f->r[CFI_R13], rsp + 8);
	if (memcmp(code, make_frame + 1, sizeof(make_frame) - 1) == 0) {
		m->pc = lang_u64(w, rsp);
		return true;
	}
	made = find(code, len, make_frame, sizeof(make_frame));
	if (made == UINT64_MAX)
		return false;
	taken = find(code, len, take_return, sizeof(take_return));
	m->pc = taken < made ? lang_u64(w, rsp) : f->r[CFI_RAX];
	return true;
}

/* Is the thread at the way out, after the leave instruction? */
static bool
is_leaving(struct lang_walk *w, const struct frame *f, const uint8_t *code,
    struct moment *m)
{
	uint64_t rsp = f->r[CFI_RSP];

	m->rbp = f->r[CFI_RBP];
	m->rsp = sender_sp(f, f->r[CFI_RBX], rsp + 8);
	m->pc = f->r[CFI_R13];
	if (memcmp(code, leave_frame, sizeof(leave_frame)) == 0)
		m->pc = lang_u64(w, rsp);
	else if (memcmp(code, leave_frame + 5, sizeof(leave_frame) - 5) == 0)
		m->rsp = MAX(rsp, 8);
	else if (memcmp(code, leave_frame + 2, sizeof(leave_frame) - 2) != 0)
		return false;
	return true;
}

static void
moment_of(struct hotspot *hs, struct lang_walk *w, const struct frame *f,
    struct moment *m)
{
	uint8_t code[BEFORE_BYTES];

	m->at = IN_FRAME;
	if (!f->exact || !lang_read(w, f->r[CFI_RIP], code, sizeof(code)))
		return;
	if (is_leaving(w, f, code, m))
		m->at = LEAVING;
	else if (is_entering(w, f, code, sizeof(code), m) &&
	    hs_method_at(hs, w, f->r[CFI_RBX]) != NULL)
		m->at = ENTERING;
	if (m->at != IN_FRAME && !hs_is_return(hs, w, m->pc))
		m->at = IN_FRAME;
}

bool
hs_interp_step(struct hotspot *hs, struct lang_walk *w, const struct frame *f,
    struct frame *caller)
{
	uint64_t rbp = f->r[CFI_RBP], rsp = f->r[CFI_RSP], pc;
	struct moment m;

	moment_of(hs, w, f, &m);
	if (m.at != IN_FRAME) {
		/* The walk requires that the stack pointer rises. */
		hs_caller_at(hs, w, caller, m.pc, MAX(m.rsp, rsp + 1));
		frame_set(caller, CFI_RBP, m.rbp);
		return true;
	}
	if (!frame_knows(f, CFI_RBP) || rbp < rsp || (rbp & 7) != 0)
		return false;
	pc = lang_u64(w, rbp + 8);
	if (!hs_is_return(hs, w, pc))
		return false;
	/* A compiled caller's frame is found from this address. */
	hs_caller_at(hs, w, caller, pc,
	    sender_sp(f, lang_u64(w, rbp + SENDER_SP), rbp + 16));
	frame_set(caller, CFI_RBP, lang_u64(w, rbp));
	return true;
}

/* The index of the current bytecode.  It is in r13 while the bytecode, or
 * native code that it called, runs; otherwise it was stored before the call. */
static int
bci_of(struct hotspot *hs, struct lang_walk *w, const struct frame *f,
    const struct hs_method *m)
{
	int bci = -1;

	if (frame_knows(f, CFI_R13))
		bci = hs_method_bci(m, f->r[CFI_R13]);
	if (bci < 0)
		bci = hs_method_bci(
		    m, lang_u64(w, f->r[CFI_RBP] + BCP(hs->l.version)));
	return bci;
}

bool
hs_interp_push(struct hotspot *hs, struct lang_walk *w, const struct frame *f)
{
	uint64_t rbp = f->r[CFI_RBP], rsp = f->r[CFI_RSP];
	const struct hs_method *method;
	struct moment m;

	moment_of(hs, w, f, &m);
	if (m.at == LEAVING)
		return false;
	if (m.at == ENTERING ||
	    (f->exact && rbp >= rsp && rbp - rsp < -METHOD)) {
		method = hs_method_at(hs, w, f->r[CFI_RBX]);
		if (method != NULL)
			hs_method_push(w, method, -1);
		return method != NULL;
	}
	if (!frame_knows(f, CFI_RBP) || rbp < rsp)
		return false;
	method = hs_method_at(hs, w, lang_u64(w, rbp + METHOD));
	if (method == NULL)
		return false;
	hs_method_push(w, method, bci_of(hs, w, f, method));
	return true;
}
