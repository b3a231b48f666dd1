/*
 * Frames of CPython 3.7 to 3.13.
 *
 * Python's frames are a linked list that begins in the thread state.  The C
 * frames of the interpreter's loop stay in the stack, and each Python frame
 * becomes a note on the C frame of the loop that runs it.  From 3.10 on each
 * loop has a structure in its C frame, and the list leads from one to the next:
 *
 *	C stack                       Python
 *	malloc
 *	list_resize
 *	_PyEval_EvalFrameDefault <--- g      the innermost
 *	  [ its _PyCFrame or shim ]   f      called by the same loop
 *	list_sort                     |
 *	_PyEval_EvalFrameDefault <--- main
 *	  [ ... ]
 *
 * So the address of the structure tells which Python frames belong to a C
 * frame, whatever code the compiler made of the loop, also in a program without
 * symbols.  Before 3.10 each call of the loop runs one Python frame, and the
 * loop is found by its name.
 *
 * The thread states of a thread are those that contain its pthread_self().
 * There can be several: one for each interpreter that the thread has been in.
 *
 * If the C stack cannot be followed to its end, the remaining Python frames are
 * reported after its last frame: none is lost.
 */
#include <string.h>

#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "symbols/lang/cpython_impl.h"
#include "symbols/lang/machine/defs.h"

/* Limits: interpreters and threads that are examined in all; frames that are
 * searched and passed over, and frames that are reported, in a walk; thread
 * states of one thread.  They are above what programs have, and end a search in
 * a circular list soon. */
#define STATES_MOST 16384
#define STEPS_MOST  65536
#define PUSHED_MOST 4096
#define CHAINS_MOST 8

/* Bytes of line tables that are read in a walk: a module of a million
 * instructions has as many. */
#define TABLES_MOST (4u << 20)

/* Names that are cached in a walk: the frames of a recursion are at few
 * places. */
#ifdef DTRAP_SHRINK
#define NAMES 1
#else
#define NAMES 64
#endif

/* The frames of one thread state that were not reported yet. */
struct chain {
	uint64_t frame; /* the innermost of them; 0: none */
	uint64_t
	    cframe;    /* the _PyCFrame of its loop, in versions that have it */
	uint64_t mark; /* the structure of its loop in the C stack; 0: not
			  * known */
};

struct cpython {
	struct py_layout layout;
	uint64_t runtime;
	uint64_t code_type, str_type; /* 0: not known */
	const struct load *load;
	uint64_t loop, loop_end; /* _PyEval_EvalFrameDefault */
	/* The state of the walk. */
	struct chain chains[CHAINS_MOST];
	size_t n;
	size_t searched, steps, pushed;
	uint64_t tables; /* bytes of line tables that may still be read */
	struct {
		uint64_t code; /* 0: none */
		int64_t offset;
		uint64_t word;
	} names[NAMES];
	uint64_t low; /* begin of the C stack that is walked */
};

/*
 * The address of a variable of the interpreter.  If the program refers to it by
 * address, the variable is in the program: the run-time linker has copied it
 * (R_X86_64_COPY), and the library uses the copy.
 */
static uint64_t
data_sym(struct lang_walk *w, const struct load *l, const char *name)
{
	const struct load *exec = addrspace_exec(w->as);
	uint64_t at = exec != NULL ? lang_sym(exec, name) : 0;

	return at != 0 ? at : lang_sym(l, name);
}

static void *
cpython_attach(struct lang_walk *w, const struct load *l)
{
	uint64_t runtime = data_sym(w, l, "_PyRuntime");
	const struct sym *loop;
	struct py_layout layout;

	if (lang_sym(l, "_PyRuntime") == 0 ||
	    !py_layout_find(&layout, w, l, runtime))
		return NULL;
	struct cpython *py = mem_zalloc(sizeof(*py));
	py->layout = layout;
	py->runtime = runtime;
	py->code_type = data_sym(w, l, "PyCode_Type");
	py->str_type = data_sym(w, l, "PyUnicode_Type");
	py->load = l;
	loop = object_sym(l->object, "_PyEval_EvalFrameDefault");
	if (loop != NULL) {
		py->loop = l->bias + loop->addr;
		py->loop_end = py->loop + loop->size;
	}
	LOG("lang", "Python %u.%u", layout.version >> 8, layout.version & 0xff);
	return py;
}

static void
cpython_detach(void *self)
{
	mem_free(self);
}

/* ---- a thread's frames ---- */

/* The shim frame at or after a frame.  It is in the C frame of their loop. */
static uint64_t
shim_behind(struct cpython *py, struct lang_walk *w, uint64_t frame)
{
	const struct py_layout *o = &py->layout;

	while (frame != 0 && py->searched < STEPS_MOST) {
		if (lang_u8(w, frame + o->frame.owner) == PY_OWNER_SHIM)
			return frame;
		frame = lang_u64(w, frame + o->frame.previous);
		py->searched++;
	}
	return 0;
}

/* Advance the chain to the frames of the next loop; it may be empty then. */
static void
chain_next(struct cpython *py, struct lang_walk *w, struct chain *c)
{
	const struct py_layout *o = &py->layout;

	c->mark = 0;
	switch (o->frames) {
	case PY_CALLS: break;
	case PY_CFRAME:
	case PY_CFRAMES:
		/* The outermost structure belongs to the thread state, not to a
		 * loop. */
		if (lang_u64(w, c->cframe + o->cframe.previous) == 0)
			break;
		c->mark = c->cframe;
		if (o->frames == PY_CFRAMES)
			c->frame = lang_u64(w, c->cframe + o->cframe.current);
		break;
	case PY_SHIMS: c->mark = shim_behind(py, w, c->frame); break;
	}
}

static void
chain_add(struct cpython *py, struct lang_walk *w, uint64_t thread)
{
	const struct py_layout *o = &py->layout;
	struct chain c = { 0 };

	if (o->thread.cframe != 0)
		c.cframe = lang_u64(w, thread + o->thread.cframe);
	c.frame = o->thread.frame != 0 ?
	    lang_u64(w, thread + o->thread.frame) :
	    lang_u64(w, c.cframe + o->cframe.current);
	chain_next(py, w, &c);
	if (c.frame != 0 && py->n < CHAINS_MOST)
		py->chains[py->n++] = c;
}

static void
cpython_begin(void *self, struct lang_walk *w)
{
	struct cpython *py = self;
	const struct py_layout *o = &py->layout;
	uint64_t interp = lang_u64(w, py->runtime + o->runtime.interpreters);
	size_t left = STATES_MOST;

	py->n = py->searched = py->steps = py->pushed = 0;
	py->low = 0;
	py->tables = TABLES_MOST;
	memset(py->names, 0, sizeof(py->names));
	if (w->th->thread_base == 0)
		return;
	while (interp != 0 && left-- > 0) {
		uint64_t thread = lang_u64(w, interp + o->interp.threads);

		while (thread != 0 && left > 0) {
			left--;
			if (lang_u64(w, thread + o->thread.id) ==
			    w->th->thread_base)
				chain_add(py, w, thread);
			thread = lang_u64(w, thread + o->thread.next);
		}
		interp = lang_u64(w, interp + o->interp.next);
	}
}

/* ---- one frame ---- */

/* The offset, in bytes, of the instruction that a frame executes in its
 * bytecode. */
static int64_t
frame_offset(const struct py_layout *o, struct lang_walk *w, uint64_t frame,
    uint64_t code)
{
	uint64_t at = frame + o->frame.instr;

	if (o->code.bytecode != 0)
		return (int64_t)(lang_u64(w, at) - code - o->code.bytecode);
	return (int64_t)(int32_t)lang_u32(w, at) *
	    (o->lines == PYLINE_RANGES ? 2 : 1);
}

/* Push the frame for an offset in a code object. */
static void
name_push(
    struct cpython *py, struct lang_walk *w, uint64_t code, int64_t offset)
{
	const struct py_layout *o = &py->layout;
	char name[LANG_NAME_BYTES + 1], file[LANG_NAME_BYTES + 1];
	uint64_t lines = lang_u64(w, code + o->code.lines);
	int line;

	py_text(o, w, py->str_type, lang_u64(w, code + o->code.name), name,
	    sizeof(name));
	py_text(o, w, py->str_type, lang_u64(w, code + o->code.filename), file,
	    sizeof(file));
	line = pyline_find(o->lines, w, lines + o->object.bytes,
	    lang_u64(w, lines + o->object.bytes_size),
	    (int)lang_u32(w, code + o->code.firstlineno), offset, &py->tables);
	lang_push(w, name[0] != '\0' ? name : "?",
	    file[0] != '\0' ? file : NULL, line, true);
}

static void
frame_push(struct cpython *py, struct lang_walk *w, uint64_t frame)
{
	const struct py_layout *o = &py->layout;
	uint64_t code = lang_u64(w, frame + o->frame.code);
	int64_t offset = frame_offset(o, w, frame, code);
	typeof(py->names[0]) *kept =
	    &py->names[((code >> 4) + (uint64_t)offset) % NAMES];
	size_t before = w->pushed.len;

	if (code == 0 || py->pushed == PUSHED_MOST ||
	    (py->code_type != 0 &&
		lang_u64(w, code + o->object.type) != py->code_type))
		return;
	py->pushed++;
	if (kept->code == code && kept->offset == offset) {
		*vec_push(&w->pushed) = kept->word;
		return;
	}
	name_push(py, w, code, offset);
	if (w->pushed.len == before)
		return;
	kept->code = code;
	kept->offset = offset;
	kept->word = w->pushed.at[before];
}

/* ---- those of one loop ---- */

/* Is this the last frame of its loop? */
static bool
is_last(const struct py_layout *o, struct lang_walk *w, const struct chain *c,
    uint64_t frame)
{
	switch (o->frames) {
	case PY_CALLS:
	case PY_CFRAME: return true;
	case PY_CFRAMES: return lang_u8(w, frame + o->frame.is_entry) != 0;
	case PY_SHIMS:
		return frame == c->mark ||
		    lang_u8(w, frame + o->frame.owner) == PY_OWNER_SHIM;
	}
	return true;
}

/* Push the frames of the first loop of the chain, and remove them from it. */
static void
chain_take(struct cpython *py, struct lang_walk *w, struct chain *c)
{
	const struct py_layout *o = &py->layout;
	bool last = false;

	while (c->frame != 0 && !last && py->steps < STEPS_MOST) {
		last = is_last(o, w, c, c->frame);
		if (!last || o->frames != PY_SHIMS)
			frame_push(py, w, c->frame);
		c->frame = lang_u64(w, c->frame + o->frame.previous);
		py->steps++;
	}
	if (c->cframe != 0)
		c->cframe = lang_u64(w, c->cframe + o->cframe.previous);
	if (py->steps >= STEPS_MOST || py->pushed == PUSHED_MOST)
		c->frame = 0;
	if (c->frame != 0)
		chain_next(py, w, c);
}

/* Is f a C frame of the interpreter's loop, which already runs a Python
 * frame? */
static bool
is_loop(const struct cpython *py, const struct frame *f)
{
	uint64_t pc = f->r[CFI_PC] - (f->exact ? 0 : 1), in_file;
	const struct sym *s;

	if (pc >= py->loop && pc < py->loop_end)
		return pc != py->loop;
	/* Parts of the loop that the compiler moved elsewhere are found by
	 * their names, if there are symbols. */
	in_file = pc - py->load->bias;
	if (pc < py->load->start || pc >= py->load->end)
		return false;
	s = object_func_at(py->load->object, in_file);
	return s != NULL &&
	    strncmp(s->name, "_PyEval_EvalFrameDefault.", 25) == 0;
}

/*
 * With -X perf (3.12 and later) each function is called through a copy of a
 * trampoline, created at run time, whose frame has nothing but padding.
 */
static enum step
cpython_step(void *self, struct lang_walk *w, const struct frame *f,
    struct frame *caller)
{
	const struct cpython *py = self;
	uint64_t pc = f->r[CFI_PC], back = 0;
	uint8_t code[sizeof(CPYTHON_BEHIND_CALL) - 1];

	if (py->layout.frames != PY_SHIMS || f->exact ||
	    addrspace_load_at(w->as, pc) != NULL ||
	    !lang_read(w, pc, code, sizeof(code)) ||
	    memcmp(code, CPYTHON_BEHIND_CALL, sizeof(code)) != 0 ||
	    !unwind_read(
		w->unwinder, f->r[CFI_SP] + CPYTHON_ROOM, &back, sizeof(back)))
		return STEP_FAIL;
	*caller = *f;
	frame_set(caller, CFI_PC, back);
	frame_set(
	    caller, CFI_SP, f->r[CFI_SP] + CPYTHON_ROOM + MACHINE_CALL_BYTES);
	return STEP_OK;
}

static bool
cpython_frames(void *self, struct lang_walk *w, const struct frame *f,
    const struct frame *caller)
{
	struct cpython *py = self;

	if (f->exact)
		py->low = f->r[CFI_SP];
	if (py->n == 0 || caller == NULL)
		return false;
	if (py->layout.frames == PY_CALLS) {
		for (size_t i = 0; i < py->n && is_loop(py, f); i++)
			if (py->chains[i].frame != 0) {
				chain_take(py, w, &py->chains[i]);
				break;
			}
		return false;
	}
	/* Loops deeper in the stack than this frame: their C frames were not
	 * seen. */
	for (size_t i = 0; i < py->n; i++) {
		struct chain *c = &py->chains[i];

		while (c->frame != 0 && c->mark >= py->low &&
		    c->mark < caller->r[CFI_SP])
			chain_take(py, w, c);
		/* The chain is too long to find the end of this loop. */
		if (c->frame != 0 && c->mark == 0 &&
		    py->layout.frames == PY_SHIMS && is_loop(py, f))
			chain_take(py, w, c);
	}
	return false;
}

static void
cpython_end(void *self, struct lang_walk *w)
{
	struct cpython *py = self;

	for (size_t i = 0; i < py->n; i++)
		while (py->chains[i].frame != 0)
			chain_take(py, w, &py->chains[i]);
}

const struct lang_ops lang_cpython = {
	.name = "Python",
	.attach = cpython_attach,
	.detach = cpython_detach,
	.begin = cpython_begin,
	.end = cpython_end,
	.step = cpython_step,
	.frames = cpython_frames,
};
