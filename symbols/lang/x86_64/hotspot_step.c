/*
 * The caller of a frame of HotSpot's own code on x86-64, and of native code in
 * threads that run Java.
 *
 *	compiled, and stubs           interpreted, and the call stub
 *
 *	     | return address |            | return address |
 *	     | caller's rbp   |       rbp->| caller's rbp   |
 *	     | ...            |            | caller's rsp   | (interpreter)
 *	rsp->| ...            |            | Method, bcp .. |
 *
 * Compiled code uses rbp as an ordinary register, but saves it.  For the
 * stopped instruction this picture is true only between prologue and epilogue.
 * These are recognised by their instructions, of which HotSpot has few forms.
 *
 * Invariant: a value is used as a return address only if it points into a blob
 * of the code cache or into a library's code.  A frame whose caller cannot be
 * found ends the Java part of the stack; it is not guessed.
 */
#include <string.h>

#include "dlang/base/base.h"
#include "symbols/lang/hotspot_impl.h"

/* What the call stub saves, by offset from its rbp (stubGenerator_x86_64.cpp of
 * the JDK, generate_call_stub(); unchanged since 8). The wrapper has the anchor
 * that was set before. */
#define CALL_STUB_WRAPPER (-48)
#define CALL_STUB_SAVED   (-56)
static const uint8_t call_stub_saved[] = { CFI_RBX, CFI_R12, CFI_R13, CFI_R14,
	CFI_R15 };

/* The number of slots above rsp in which a return address is searched, if it is
 * not known how many registers a routine has saved. */
#define SLOTS_MOST 64

/* The most bytes that compiled code pushes for a stub with arguments on the
 * stack. */
#define EXTRA_BYTES 64

/* The largest frame of a routine in assembly. */
#define ROUTINE_BYTES 8192

/* The caller, if its return address is at `at'. */
static bool
return_from(struct hotspot *hs, struct lang_walk *w, const struct frame *f,
    uint64_t at, struct frame *caller)
{
	uint64_t pc;

	if (at < f->r[CFI_RSP] || !lang_read(w, at, &pc, sizeof(pc)) ||
	    !hs_is_return(hs, w, pc))
		return false;
	hs_caller_at(hs, w, caller, pc, at + 8);
	return true;
}

/* The caller, if the frame has at most the pushed rbp. */
static bool
return_bare(struct hotspot *hs, struct lang_walk *w, const struct frame *f,
    bool pushed, struct frame *caller)
{
	uint64_t rsp = f->r[CFI_RSP], rbp = f->r[CFI_RBP];
	bool known = frame_knows(f, CFI_RBP);

	if (pushed) {
		rbp = lang_u64(w, rsp);
		known = true;
		rsp += 8;
	}
	if (!return_from(hs, w, f, rsp, caller))
		return false;
	if (known)
		frame_set(caller, CFI_RBP, rbp);
	return true;
}

/* The caller of a complete frame of known size, in which rbp was saved. */
static bool
return_sized(struct hotspot *hs, struct lang_walk *w, const struct frame *f,
    uint64_t size, struct frame *caller)
{
	uint64_t end = f->r[CFI_RSP] + size;

	if (size < 16 || !return_from(hs, w, f, end - 8, caller))
		return false;
	frame_set(caller, CFI_RBP, lang_u64(w, end - 16));
	return true;
}

/* The caller, by the frame pointer. */
static bool
return_framed(struct hotspot *hs, struct lang_walk *w, const struct frame *f,
    uint64_t most, struct frame *caller)
{
	uint64_t rbp = f->r[CFI_RBP];

	if (!frame_knows(f, CFI_RBP) || rbp < f->r[CFI_RSP] ||
	    rbp - f->r[CFI_RSP] > most || (rbp & 7) != 0 ||
	    !return_from(hs, w, f, rbp + 8, caller))
		return false;
	frame_set(caller, CFI_RBP, lang_u64(w, rbp));
	return true;
}

/* ---- the stopped instruction ---- */

/* How much of the frame exists. */
enum part {
	PART_WHOLE,
	PART_NONE,    /* the return address is at rsp */
	PART_PUSHED,  /* and rbp was pushed below it */
	PART_UNSAVED, /* all except rbp, which still has the caller's value */
};

/* The bytes of a prologue that are read: the last ones before the frame is
 * complete. */
#define PROLOGUE_BYTES 96

/* The length of a "sub $imm,%rsp" at p; 0 if it is another instruction. */
static size_t
sub_rsp(const uint8_t *p, size_t len, uint32_t *imm)
{
	if (len >= 7 && p[0] == 0x48 && p[1] == 0x81 && p[2] == 0xec) {
		memcpy(imm, p + 3, sizeof(*imm));
		return 7;
	}
	if (len >= 4 && p[0] == 0x48 && p[1] == 0x83 && p[2] == 0xec) {
		*imm = p[3];
		return 4;
	}
	return 0;
}

/*
 * The prologues (each may first touch the end of the stack):
 *
 *	push %rbp; [mov %rsp,%rbp;] [sub $frame-16,%rsp]
 *	sub $frame-8,%rsp; mov %rbp,frame-16(%rsp)
 *
 * An instruction belongs to the prologue if its number fits the frame size.
 */
static enum part
part_of_prologue(struct lang_walk *w, const struct hs_blob *b, uint64_t pc)
{
	uint64_t from =
	    b->complete - MIN(PROLOGUE_BYTES, b->complete - b->code);
	size_t len = b->complete - from, at = pc - from;
	uint8_t code[PROLOGUE_BYTES];
	uint32_t imm;

	if (pc < from || !lang_read(w, from, code, len))
		return PART_NONE;
	for (size_t i = 0; i < len; i++) {
		size_t n = sub_rsp(code + i, len - i, &imm);
		if (n != 0 && imm == b->frame - 8)
			return at <= i  ? PART_NONE :
			    at <= i + n ? PART_UNSAVED :
					  PART_WHOLE;
		if (n == 0 || imm != b->frame - 16)
			continue;
		if (at > i)
			return PART_WHOLE;
		if (i >= 4 && code[i - 4] == 0x55)
			return at <= i - 4 ? PART_NONE : PART_PUSHED;
		return at < i ? PART_NONE : PART_PUSHED;
	}
	/* There is no sub: the frame has only rbp. */
	for (size_t i = len; i-- > 0;)
		if (code[i] == 0x55)
			return at <= i ? PART_NONE : PART_PUSHED;
	return PART_NONE;
}

/* Instructions with an 8-bit or 32-bit displacement from r15, the thread. */
struct form {
	uint8_t len, n, bytes[3];
};

static size_t
form_at(const uint8_t *p, size_t len, const struct form *f)
{
	return len > f->len && memcmp(p, f->bytes, f->n) == 0 ? f->len : 0;
}

/*
 * Does the code at p return, with at most a safepoint poll before?
 */
static bool
is_returning(const uint8_t *p, size_t len)
{
	static const struct form asks[] = {
		{ 7, 3, { 0x49, 0x3b, 0xa7 } },
		{ 4, 3, { 0x49, 0x3b, 0x67 } },
		{ 6, 2, { 0x0f, 0x87 } },
		{ 7, 3, { 0x4d, 0x8b, 0x97 } },
		{ 4, 3, { 0x4d, 0x8b, 0x57 } },
		{ 3, 3, { 0x41, 0x85, 0x02 } },
		{ 6, 2, { 0x85, 0x05 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(asks) && *p != 0xc3; i++) {
		size_t n = form_at(p, len, &asks[i]);
		p += n;
		len -= n;
	}
	return *p == 0xc3;
}

/* In out-of-line code that enters a safepoint, the frame is also gone: */
static bool
is_stopping(const uint8_t *p, size_t len)
{
	static const struct form lea = { 7, 3, { 0x4c, 0x8d, 0x15 } };
	static const struct form movs[] = {
		{ 7, 3, { 0x4d, 0x89, 0x97 } },
		{ 4, 3, { 0x4d, 0x89, 0x57 } },
	};
	size_t n = form_at(p, len, &lea);

	for (size_t i = 0; i < ARRAY_SIZE(movs); i++) {
		size_t mov = form_at(p + n, len - n, &movs[i]);
		if (mov != 0 && p[n + mov] == 0xe9)
			return true;
	}
	return false;
}

/* The epilogue: the frame is complete up to "add $frame-16,%rsp"; then follow
 * "pop %rbp" and the instructions of is_returning(). */
static enum part
part_of_epilogue(struct lang_walk *w, uint64_t pc)
{
	uint8_t code[24];

	if (!lang_read(w, pc, code, sizeof(code)))
		return PART_WHOLE;
	if (is_returning(code, sizeof(code)) || is_stopping(code, sizeof(code)))
		return PART_NONE;
	if (code[0] == 0x5d && is_returning(code + 1, sizeof(code) - 1))
		return PART_PUSHED;
	return PART_WHOLE;
}

static bool
compiled_step(struct hotspot *hs, struct lang_walk *w, const struct hs_blob *b,
    const struct frame *f, struct frame *caller)
{
	uint64_t pc = f->r[CFI_RIP];
	enum part part = PART_WHOLE;

	if (f->exact)
		part = pc < b->complete ? part_of_prologue(w, b, pc) :
					  part_of_epilogue(w, pc);
	if (part == PART_NONE || part == PART_PUSHED)
		return return_bare(hs, w, f, part == PART_PUSHED, caller);
	if (return_sized(hs, w, f, b->frame, caller)) {
		if (part == PART_UNSAVED)
			frame_set(caller, CFI_RBP, f->r[CFI_RBP]);
		return true;
	}
	/* In out-of-line code the frame may have been removed already. */
	if (f->exact && return_bare(hs, w, f, false, caller))
		return true;
	/* Some stubs take arguments from the stack. */
	for (uint64_t more = 8; more <= EXTRA_BYTES; more += 8)
		if (return_sized(hs, w, f, b->frame + more, caller) &&
		    hs_call_before(w, caller->r[CFI_RIP], &pc) != HS_CALL_NONE)
			return true;
	return false;
}

/* ---- the others ---- */

/* The caller of the call stub: the native code that called Java. */
static bool
call_stub_step(struct hotspot *hs, struct lang_walk *w, const struct frame *f,
    struct frame *caller)
{
	uint64_t rbp = f->r[CFI_RBP];
	uint64_t wrapper;

	if (!return_framed(hs, w, f, UINT32_MAX, caller))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(call_stub_saved); i++)
		frame_set(caller, call_stub_saved[i],
		    lang_u64(w, rbp + CALL_STUB_SAVED - i * 8));
	wrapper = lang_u64(w, rbp + CALL_STUB_WRAPPER);
	hs_anchor_read(hs, w, wrapper + hs->l.wrapper_anchor.at);
	return true;
}

/* May code of this kind return to pc?  A routine is called directly; for other
 * code, the call may have been changed since. */
static bool
has_called(
    struct hotspot *hs, struct lang_walk *w, uint64_t pc, enum hs_kind kind)
{
	struct hs_blob b;
	uint64_t target;

	switch (hs_call_before(w, pc, &target)) {
	case HS_CALL_NONE: return false;
	case HS_CALL_OTHER: return true;
	case HS_CALL_DIRECT: break;
	}
	return kind != HS_CODE ||
	    (hs_blob_at(hs, w, target, &b) && b.kind == HS_CODE);
}

/* The caller by the first slot above rsp with an address after a call: for a
 * routine that has saved registers. */
static bool
searched(struct hotspot *hs, struct lang_walk *w, enum hs_kind kind,
    const struct frame *f, struct frame *caller)
{
	bool known = frame_knows(f, CFI_RBP);
	uint64_t rbp = f->r[CFI_RBP];

	for (size_t i = 0; i < SLOTS_MOST; i++) {
		uint64_t at = f->r[CFI_RSP] + i * 8;
		if (!return_from(hs, w, f, at, caller) ||
		    !has_called(hs, w, caller->r[CFI_RIP], kind))
			continue;
		if (known)
			frame_set(caller, CFI_RBP,
			    at - 8 == rbp ? lang_u64(w, rbp) : rbp);
		return true;
	}
	return false;
}

/* The caller of a routine by rbp, unless rbp belongs to another frame.  The
 * routine that checks a compiled method on entry has a word of ones below the
 * return address (generate_method_entry_barrier() of the JDK). */
static bool
routine_framed(struct hotspot *hs, struct lang_walk *w, enum hs_kind kind,
    const struct frame *f, struct frame *caller)
{
	uint64_t rbp = f->r[CFI_RBP], at = rbp + 8;

	if (!frame_knows(f, CFI_RBP) || rbp < f->r[CFI_RSP] ||
	    rbp - f->r[CFI_RSP] > ROUTINE_BYTES || (rbp & 7) != 0)
		return false;
	if (lang_u64(w, at) == UINT64_MAX)
		at += 8;
	if (!return_from(hs, w, f, at, caller) ||
	    !has_called(hs, w, caller->r[CFI_RIP], kind))
		return false;
	frame_set(caller, CFI_RBP, lang_u64(w, rbp));
	return true;
}

/*
 * Adapters keep the return address in rax while they move arguments.  The
 * adapter that calls native code (gen_c2i_adapter() of the JDK,
 * patch_callers_callsite()) saves rsp in r13 before it aligns it.
 */
static bool
adapter_step(struct hotspot *hs, struct lang_walk *w, const struct frame *f,
    struct frame *caller)
{
	if (return_bare(hs, w, f, false, caller))
		return true;
	if (!f->exact && frame_knows(f, CFI_R13) &&
	    return_from(hs, w, f, f->r[CFI_R13], caller)) {
		if (frame_knows(f, CFI_RBP))
			frame_set(caller, CFI_RBP, f->r[CFI_RBP]);
		return true;
	}
	if (!f->exact || !hs_is_return(hs, w, f->r[CFI_RAX]))
		return searched(hs, w, HS_ADAPTER, f, caller);
	hs_caller_at(hs, w, caller, f->r[CFI_RAX], f->r[CFI_RSP] + 8);
	frame_set(caller, CFI_RBP, f->r[CFI_RBP]);
	return true;
}

static bool
stub_step(struct hotspot *hs, struct lang_walk *w, const struct hs_blob *b,
    const struct frame *f, struct frame *caller)
{
	uint64_t target;

	/* A return address that no call precedes: that of the outermost mounted
	 * frame of a virtual thread.  hs_caller_at() has left it, because this
	 * JVM does not export where the stack continues. */
	if (!f->exact && b->kind == HS_CODE &&
	    hs_call_before(w, f->r[CFI_RIP], &target) == HS_CALL_NONE)
		return false;
	/* Its frame may not exist yet, or no longer. */
	if (f->exact && return_bare(hs, w, f, false, caller) &&
	    has_called(hs, w, caller->r[CFI_RIP], b->kind))
		return true;
	if (b->frame != 0 && (!f->exact || f->r[CFI_RIP] >= b->complete) &&
	    return_sized(hs, w, f, b->frame, caller))
		return true;
	return routine_framed(hs, w, b->kind, f, caller) ||
	    searched(hs, w, b->kind, f, caller);
}

static bool
java_step(struct hotspot *hs, struct lang_walk *w, const struct hs_blob *b,
    const struct frame *f, struct frame *caller)
{
	if (f->r[CFI_RIP] == hs->call_stub_return)
		return call_stub_step(hs, w, f, caller);
	switch (b->kind) {
	case HS_INTERPRETER: return hs_interp_step(hs, w, f, caller);
	case HS_NMETHOD: return compiled_step(hs, w, b, f, caller);
	case HS_VTABLE: return return_bare(hs, w, f, false, caller);
	case HS_ADAPTER: return adapter_step(hs, w, f, caller);
	case HS_CODE:
	case HS_STUB: return stub_step(hs, w, b, f, caller);
	case HS_NONE: break;
	}
	return false;
}

/* The caller is the place where Java was left, if that is above f. */
static bool
anchor_step(struct hotspot *hs, struct lang_walk *w, const struct frame *f,
    struct frame *caller)
{
	const struct hs_anchor *a = hs_anchor_of(hs, w);

	if (a->sp <= f->r[CFI_RSP] || !hs_is_return(hs, w, a->pc))
		return false;
	hs_caller_at(hs, w, caller, a->pc, a->sp);
	if (a->fp != 0)
		frame_set(caller, CFI_RBP, a->fp);
	return true;
}

/* The caller by the object's unwind rules.  If it has none, by convention, if
 * that does not lead past the Java frames. */
static enum step
native_step(struct hotspot *hs, struct lang_walk *w, const struct frame *f,
    struct frame *caller)
{
	enum step s = unwind_step(w->unwinder, f, caller);
	const struct hs_anchor *a;

	if (s != STEP_FAIL)
		return s;
	a = hs_anchor_of(hs, w);
	if (a->sp <= f->r[CFI_RSP])
		return STEP_FAIL;
	s = unwind_fp_step(w->unwinder, f, caller);
	if (s == STEP_OK && caller->r[CFI_RSP] <= a->sp)
		return s;
	return anchor_step(hs, w, f, caller) ? STEP_OK : STEP_FAIL;
}

enum step
hs_step(struct hotspot *hs, struct lang_walk *w, const struct frame *f,
    struct frame *caller)
{
	struct hs_blob b;

	if (!hs_blob_at(hs, w, f->r[CFI_RIP] - (f->exact ? 0 : 1), &b))
		return native_step(hs, w, f, caller);
	if (java_step(hs, w, &b, f, caller) || anchor_step(hs, w, f, caller))
		return STEP_OK;
	/* Do not let other ways follow rbp, which is not a frame pointer
	 * here. */
	return STEP_END;
}
