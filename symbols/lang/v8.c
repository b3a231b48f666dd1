/*
 * JavaScript in V8, as in Node, by V8's symbols for debuggers, named v8dbg_...
 * .
 *
 * Every frame of V8's own code has a frame pointer.  The word below the saved
 * frame pointer tells what the frame is: a context for a JavaScript function,
 * which is in the next word; or a small number for the kind of a helper frame.
 *
 *	fp + 8	return address
 *	fp	caller's fp
 *	fp - 8	context, or kind
 *	fp - 16	JSFunction
 *	fp - 32	bytecode, fp - 40 place in it	(interpreted)
 *
 * The code is created at run time, or it is V8's built-in functions, stubs and
 * the interpreter, which are in the text of the object and have no unwind
 * rules.  Functions written in JavaScript replace their native frame.  A
 * built-in function, or a C++ function of the program, is a note on the native
 * frame that calls it.
 *
 * Facts: V8 10.2 and 11.3, src/execution/frame-constants.h, src/execution/
 * frames.h, src/execution/x64/frame-constants-x64.h.
 */
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "symbols/lang/v8_impl.h"

/* The most functions that are inlined into one. */
#define INLINED_MOST 64

/* The kinds of frames are below this; the word is twice the kind. */
#define FRAME_KINDS 64

/* A greater offset, type or mask is invalid. */
#define NUMBER_MOST (1 << 20)

/* The offset of the function in a frame that calls a C++ function. */
#define EXIT_FUNCTION 24

/* ---- what is known of an object ---- */

static const struct row {
	size_t member;
	const char *symbol;
	bool must;
	int32_t otherwise;
} rows[] = {
#define V8(member, symbol) \
	{ offsetof(struct v8, member), "v8dbg_" symbol, true, 0 },
#define V8_ELSE(member, symbol, value) \
	{ offsetof(struct v8, member), "v8dbg_" symbol, false, value },
#include "symbols/lang/v8dbg.def"
#include "symbols/lang/machine/defs.h"
#undef V8
#undef V8_ELSE
};

static const char *
rows_read(struct v8 *v, struct lang_walk *w, const struct load *l)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t addr = lang_sym(l, rows[i].symbol);
		int32_t value = rows[i].otherwise;

		if (addr != 0)
			value = (int32_t)lang_u32(w, addr);
		else if (rows[i].must)
			return rows[i].symbol;
		if (value < -NUMBER_MOST || value > NUMBER_MOST)
			return rows[i].symbol;
		memcpy((char *)v + rows[i].member, &value, sizeof(value));
	}
	return NULL;
}

static void
sizes_read(struct v8 *v, const struct load *l)
{
	const struct sym *s = object_sym(l->object,
	    "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE");

	if (s != NULL && s->size <= sizeof(v->sizes) && s->size % 3 == 0 &&
	    object_read(l->object, s->addr, v->sizes, s->size) == 0)
		v->bytecodes = (unsigned)s->size / 3;
}

static void *
v8_attach(struct lang_walk *w, const struct load *l)
{
	const char *lacks;
	struct v8 *v;
	uint32_t major, minor;

	if (lang_sym(l, rows[0].symbol) == 0)
		return NULL;
	v = mem_zalloc(sizeof(*v));
	v->load = l;
	lacks = rows_read(v, w, l);
	if (lacks != NULL || v->tagged_size != 8 || v->smi_shift != 31) {
		LOG("lang", "V8 without %s",
		    lacks != NULL ? lacks : "pointers");
		mem_free(v);
		return NULL;
	}
	major = lang_u32(w, lang_sym(l, "_ZN2v88internal7Version6major_E"));
	minor = lang_u32(w, lang_sym(l, "_ZN2v88internal7Version6minor_E"));
	v->layout =
	    major < 100 && minor < 100 ? v8_layout_of(major, minor) : NULL;
	LOG("lang", "V8 %u.%u%s", major, minor,
	    v->layout != NULL ? "" : ", which is not known");
	if (v->layout == NULL) {
		mem_free(v);
		return NULL;
	}
	sizes_read(v, l);
	return v;
}

static void
v8_detach(void *self)
{
	struct v8 *v = self;

	for (unsigned i = 0; i < V8_SCRIPTS; i++)
		vec_fini(&v->scripts[i].ends);
	mem_free(v);
}

static void
v8_begin(void *self, struct lang_walk *w)
{
	struct v8 *v = self;

	v->looks = V8_LOOKS;
}

/* ---- frames ---- */

/* Is it code built into the object?  It has no unwind rules, which every
 * function that a compiler made has. */
static bool
is_builtin_code(const struct v8 *v, struct lang_walk *w, uint64_t pc)
{
	const struct load *l = addrspace_load_at(w->as, pc);
	const struct sym *s;
	uint64_t start, end;

	if (l != v->load || !object_is_text(l->object, pc - l->bias) ||
	    object_fde_range(l->object, pc - l->bias, &start, &end) == 0)
		return false;
	s = object_func_at(l->object, pc - l->bias);
	return s == NULL || strncmp(s->name, "Builtins_", 9) == 0;
}

/* Is it code that was created at run time?  V8 makes pages executable that were
 * mapped long before, so the last copy of the maps may not show it yet. */
static bool
is_made_code(struct v8 *v, struct lang_walk *w, uint64_t pc)
{
	return addrspace_load_at(w->as, pc) == NULL &&
	    (v8_code_at(v, w, pc).size != 0 ||
		unwind_is_made_code(w->unwinder, pc));
}

static bool
is_code(struct v8 *v, struct lang_walk *w, uint64_t pc)
{
	return is_builtin_code(v, w, pc) || is_made_code(v, w, pc);
}

static uint64_t
frame_pc(const struct frame *f)
{
	return f->r[CFI_PC] - (f->exact ? 0 : 1);
}

static bool
is_return_address(struct v8 *v, struct lang_walk *w, uint64_t addr)
{
	return is_code(v, w, addr - 1) &&
	    unwind_is_after_call(w->unwinder, addr);
}

/*
 * The address of the return address of a function whose frame is not set up
 * yet, or no longer, or never; 0 if it has a frame.
 */
static uint64_t
bare_return(struct v8 *v, struct lang_walk *w, const struct frame *f)
{
	uint64_t sp = f->r[CFI_SP], top[2];
	uint8_t code[sizeof(V8_PROLOGUE) - 1];

	if (!f->exact || !unwind_read(w->unwinder, sp, top, sizeof(top)))
		return 0;
	/* The function has pushed the frame pointer but not yet set it. */
	if (unwind_text(
		w->unwinder, f->r[CFI_PC] - V8_PUSHED, code, sizeof(code)) &&
	    memcmp(code, V8_PROLOGUE, sizeof(code)) == 0)
		return top[0] == f->r[CFI_FP] ? sp + 8 : 0;
	return is_return_address(v, w, top[0]) ? sp : 0;
}

static enum step
v8_step(void *self, struct lang_walk *w, const struct frame *f,
    struct frame *caller)
{
	struct v8 *v = self;
	uint64_t fp = f->r[CFI_FP], at, words[2];

	if (!frame_knows(f, CFI_FP) || !is_code(v, w, frame_pc(f)))
		return STEP_FAIL;
	at = bare_return(v, w, f);
	if (at != 0) {
		words[0] = fp;
		if (!unwind_read(w->unwinder, at, &words[1], 8))
			return STEP_FAIL;
	} else {
		at = fp + 8;
		if (fp < f->r[CFI_SP] || (fp & 7) != 0 ||
		    !unwind_read(w->unwinder, fp, words, sizeof(words)))
			return STEP_FAIL;
	}
	*caller = (struct frame){ .sure = is_code(v, w, words[1] - 1) };
	if (!caller->sure && !unwind_is_code(w->unwinder, words[1] - 1))
		return STEP_FAIL;
	frame_set(caller, CFI_FP, words[0]);
	frame_set(caller, CFI_SP, at + 8);
	frame_set(caller, CFI_PC, words[1]);
	return STEP_OK;
}

/* Push the functions of optimised code: several may be inlined. */
static bool
push_optimised(struct v8 *v, struct lang_walk *w, const struct frame *f,
    const struct v8_code *c)
{
	struct v8_at at[INLINED_MOST];
	size_t n;

	/* Only return addresses are described. */
	if (f->exact)
		return false;
	n = v8_inlined(v, w, c, f->r[CFI_PC], at, INLINED_MOST);
	for (size_t i = n; i > 0; i--)
		v8_push(v, w, &at[i - 1]);
	return n != 0;
}

/* Read the bytecode, and the position in it, from a frame with the
 * interpreter's layout. */
static void
read_bytecode(struct v8 *v, struct lang_walk *w, const struct frame *f,
    const struct v8_code *c, struct v8_at *at)
{
	uint64_t fp = f->r[CFI_FP],
		 bytecode = lang_u64(w, fp + (uint64_t)(int64_t)v->fp_bytecode),
		 offset = lang_u64(w, fp + (uint64_t)(int64_t)v->fp_offset);

	if (v8_type(v, w, bytecode) != v->type_bytecode)
		return;
	at->bytecode = bytecode;
	if (c->kind == V8_BASELINE)
		at->offset = v8_baseline_offset(
		    v, w, c, bytecode, f->r[CFI_PC] + (f->exact ? 1 : 0));
	else if (v8_is_smi(offset) && v8_smi(offset) >= 0)
		/* It counts from the address of the array object, which has its
		 * tag bit set. */
		at->offset = v8_smi(offset) - v->bytecode_data + 1;
}

/* Push a JavaScript function or a built-in one. */
static bool
push_function(
    struct v8 *v, struct lang_walk *w, const struct frame *f, uint64_t function)
{
	struct v8_at at = { .shared = v8_shared(v, w, function), .offset = -1 };
	struct v8_code c;

	if (at.shared == 0)
		return false;
	if (v8_is_builtin(v, w, at.shared)) {
		v8_push(v, w, &at);
		return false;
	}
	c = v8_code_at(v, w, frame_pc(f));
	if (c.kind == V8_OPTIMISED && push_optimised(v, w, f, &c))
		return true;
	if (c.kind != V8_OPTIMISED)
		read_bytecode(v, w, f, &c, &at);
	v8_push(v, w, &at);
	return true;
}

/* A function that has no frame yet is in the register with which it is
 * called. */
static bool
push_bare(struct v8 *v, struct lang_walk *w, const struct frame *f)
{
	struct v8_at at = { .offset = -1 };

	if (v8_code_at(v, w, frame_pc(f)).kind == V8_NONE)
		return false;
	at.shared = v8_shared(v, w, f->r[V8_FUNCTION]);
	if (at.shared == 0 || v8_is_builtin(v, w, at.shared))
		return false;
	v8_push(v, w, &at);
	return true;
}

static bool
js_frames(struct v8 *v, struct lang_walk *w, const struct frame *f)
{
	uint64_t fp = f->r[CFI_FP], kind, function;

	if (!frame_knows(f, CFI_FP) || !is_code(v, w, frame_pc(f)))
		return false;
	if (bare_return(v, w, f) != 0)
		return push_bare(v, w, f);
	if (fp < f->r[CFI_SP] || (fp & 7) != 0)
		return false;
	kind = lang_u64(w, fp + (uint64_t)(int64_t)v->fp_context);
	function = lang_u64(w, fp + (uint64_t)(int64_t)v->fp_function);
	if (v8_is_object(kind))
		return push_function(v, w, f, function);
	if (kind < 2 * FRAME_KINDS && v->frame_builtin_exit > 0 &&
	    kind == 2 * (uint64_t)v->frame_builtin_exit) {
		struct v8_at at = { .offset = -1 };
		at.shared = v8_shared(v, w, lang_u64(w, fp + EXIT_FUNCTION));
		if (at.shared != 0 && v8_is_builtin(v, w, at.shared))
			v8_push(v, w, &at);
	}
	return false;
}

/* Put the frame that was pushed last before those from `at' on. */
static void
move_last(struct lang_walk *w, size_t at)
{
	uint64_t last = w->pushed.at[w->pushed.len - 1];

	memmove(&w->pushed.at[at + 1], &w->pushed.at[at],
	    (w->pushed.len - 1 - at) * sizeof(last));
	w->pushed.at[at] = last;
}

/* Built-in code that V8 has mapped again is in no object that names it.  What
 * belongs to it follows its name. */
static bool
v8_frames(void *self, struct lang_walk *w, const struct frame *f,
    const struct frame *caller)
{
	struct v8 *v = self;
	size_t before = w->pushed.len;
	char name[V8_TEXT];

	if (js_frames(v, w, f))
		return true;
	if (!v8_blob_name(v, w, frame_pc(f), name, sizeof(name)))
		return false;
	size_t notes = w->pushed.len;
	lang_push(w, name, NULL, 0, false);
	if (w->pushed.len == notes)
		return false;
	move_last(w, before);
	return true;
}

const struct lang_ops lang_v8 = {
	.name = "V8",
	.attach = v8_attach,
	.detach = v8_detach,
	.begin = v8_begin,
	.step = v8_step,
	.frames = v8_frames,
};
