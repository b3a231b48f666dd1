/*
 * Frames of Ruby 3.0 to 3.3.
 *
 * A Ruby thread has an execution context, to which the thread-local variable
 * ruby_current_ec points.  (A fiber has its own context, which is then the
 * current one.) The context has the stack of control frames, which grows down.
 * The innermost frame is at `cfp'; the outermost one belongs to no function.
 *
 *	C stack                      control frames
 *	write
 *	rb_io_puts                   puts     a method in C
 *	vm_exec_core                 |
 *	rb_vm_exec  <--------------- block    FINISH: its loop ends here
 *	rb_yield
 *	rb_ary_each                  each     a method in C
 *	vm_exec_core                 |
 *	rb_vm_exec  <--------------- <main>   FINISH
 *
 * A method in C becomes a note on its C frame, if that function is known by its
 * start address; otherwise on the loop that called it.  The other frames of a
 * loop become notes on rb_vm_exec(). If that function cannot be found (before
 * 3.1 it is not a symbol), they are reported at the end of the stack.
 */
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "symbols/lang/ruby_impl.h"

/* clang-format off */
static const struct ruby_layout layouts[] = {
	{ .version = 0x0300, .frame_size = 56, .insns_info = 120,
	  .insn_entry = 8, .last_op_id = 168 },
	{ .version = 0x0301, .frame_size = 64, .insns_info = 120,
	  .insn_entry = 12, .last_op_id = 169 },
	{ .version = 0x0302, .frame_size = 64, .insns_info = 112,
	  .insn_entry = 12, .last_op_id = 169, .long_strings = true },
	{ .version = 0x0303, .frame_size = 56, .insns_info = 112,
	  .insn_entry = 12, .last_op_id = 169, .long_strings = true },
};
/* clang-format on */

/* rb_execution_context_t. */
#define EC_STACK      0
#define EC_STACK_SIZE 8 /* in words */
#define EC_CFP        16
#define EC_SIZE       24

/* rb_control_frame_t. */
#define CFP_PC   0
#define CFP_ISEQ 16
#define CFP_EP   32

/* Words relative to ep: a method entry (or a pointer to it), and the frame's
 * flags. */
#define EP_METHOD       (-16)
#define EP_FLAGS        0
#define FRAME_TYPE_MASK 0x7fff0001u
#define FRAME_CFUNC     0x55550001u
#define FRAME_FINISH    0x20u

/* rb_iseq_t, rb_iseq_constant_body. */
#define ISEQ_BODY  16
#define BODY_PATH  64
#define BODY_LABEL 80

/* struct vm_svar; rb_callable_method_entry_t; rb_method_definition_t, whose
 * first bits are its type. */
#define SVAR_METHOD    8
#define METHOD_DEF     16
#define DEF_TYPE_MASK  0xf
#define DEF_TYPE_CFUNC 1
#define DEF_FUNC       8
#define DEF_ID         32

/* The largest size of a stack of control frames, in words.  The default is 128
 * Ki, and users set more. */
#define STACK_MOST (1u << 26)

/* Limits in a walk: frames that are examined, and frames that are reported. */
#define STEPS_MOST  65536
#define PUSHED_MOST 4096

/* The number of blocks of thread-local variables that are searched. */
#define MODULES_MOST 256

struct ruby {
	const struct ruby_layout *layout;
	const struct load *load;
	uint64_t ec_offset;      /* of ruby_current_ec, in its module's block */
	uint64_t module;         /* that module; 0: not known yet */
	uint64_t loop, loop_end; /* rb_vm_exec */
	uint64_t symbols;        /* ruby_global_symbols; 0: not known yet */
	/* State of the walk: the control frames that were not reported yet. */
	uint64_t cfp, end;
	size_t steps, pushed;
};

static const struct ruby_layout *
layout_of(struct lang_walk *w, const struct load *l)
{
	uint64_t at = lang_sym(l, "ruby_api_version");
	uint32_t v[2] = { 0 };

	if (at == 0 || !lang_read(w, at, v, sizeof(v)))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].version >> 8 == v[0] &&
		    (layouts[i].version & 0xff) == v[1])
			return &layouts[i];
	LOG("lang", "%s: no layout of Ruby %u.%u is known", l->module, v[0],
	    v[1]);
	return NULL;
}

static void *
ruby_attach(struct lang_walk *w, const struct load *l)
{
	const struct sym *ec = object_sym(l->object, "ruby_current_ec"), *loop;
	const struct ruby_layout *o;

	if (ec == NULL || ec->kind != SYM_TLS || (o = layout_of(w, l)) == NULL)
		return NULL;
	struct ruby *rb = mem_zalloc(sizeof(*rb));
	rb->layout = o;
	rb->load = l;
	rb->ec_offset = ec->addr;
	loop = object_sym(l->object, "rb_vm_exec");
	if (loop != NULL) {
		rb->loop = l->bias + loop->addr;
		rb->loop_end = rb->loop + loop->size;
	}
	rb->symbols = lang_sym(l, "ruby_global_symbols");
	LOG("lang", "Ruby %u.%u", o->version >> 8, o->version & 0xff);
	return rb;
}

static void
ruby_detach(void *self)
{
	mem_free(self);
}

/*
 * A stripped library has no name for the table of symbols.  An exported
 * function of a few bytes returns its first member: the address to which that
 * function refers, relative to itself.
 */
static void
find_symbols(struct ruby *rb, struct lang_walk *w)
{
	const struct sym *s =
	    object_sym(rb->load->object, "rb_sym_immortal_count");
	uint8_t code[32];
	size_t len = s != NULL ? MIN(s->size, sizeof(code)) : 0;

	if (len == 0 || object_read(rb->load->object, s->addr, code, len) != 0)
		return;
	for (size_t i = 0; i + 4 <= len && rb->symbols == 0; i++) {
		int32_t rel;
		uint64_t at;

		memcpy(&rel, code + i, sizeof(rel));
		at = s->addr + i + 4 + (int64_t)rel;
		if (object_is_data(rb->load->object, at, 24) &&
		    ruby_is_symbols(w, rb->load->bias + at))
			rb->symbols = rb->load->bias + at;
	}
}

/* ---- the stack of control frames ---- */

/* Is this an execution context?  If so, the walk uses its frames. */
static bool
use_context(struct ruby *rb, struct lang_walk *w, uint64_t ec)
{
	uint64_t m[EC_SIZE / 8], stack, size, cfp;
	unsigned step = rb->layout->frame_size;

	if (ec == 0 || ec % 8 != 0 || !lang_read(w, ec, m, sizeof(m)))
		return false;
	stack = m[EC_STACK / 8];
	size = m[EC_STACK_SIZE / 8];
	cfp = m[EC_CFP / 8];
	if (stack == 0 || stack % 8 != 0 || size == 0 || size > STACK_MOST ||
	    cfp < stack || cfp >= stack + size * 8 ||
	    (stack + size * 8 - cfp) % step != 0)
		return false;
	rb->cfp = cfp;
	rb->end = stack + size * 8 - step;
	return true;
}

/*
 * The module of a block of thread-local variables is not stored anywhere that
 * can be relied on; the contents of the block identify it.  The list of blocks
 * (glibc's dtv, MACHINE_DTV) has 16 bytes for each module.  Its length is in
 * the entry before the first.
 */
static bool
use_module(struct ruby *rb, struct lang_walk *w, uint64_t dtv, uint64_t module)
{
	uint64_t block = lang_u64(w, dtv + module * 16);

	return block != 0 && block != UINT64_MAX &&
	    use_context(rb, w, lang_u64(w, block + rb->ec_offset));
}

static void
ruby_begin(void *self, struct lang_walk *w)
{
	struct ruby *rb = self;
	uint64_t dtv, n;

	rb->cfp = rb->end = 0;
	rb->steps = rb->pushed = 0;
	if (w->th->thread_base == 0)
		return;
	dtv = lang_u64(w, w->th->thread_base + MACHINE_DTV);
	n = dtv != 0 ? MIN(lang_u64(w, dtv - 16), MODULES_MOST) : 0;
	if (rb->module != 0) {
		if (rb->module <= n)
			use_module(rb, w, dtv, rb->module);
		return;
	}
	for (uint64_t i = 1; i <= n && rb->module == 0; i++)
		if (use_module(rb, w, dtv, i))
			rb->module = i;
}

static uint32_t
frame_flags(struct lang_walk *w, uint64_t cfp)
{
	return lang_u32(w, lang_u64(w, cfp + CFP_EP) + EP_FLAGS);
}

/* ---- one frame ---- */

/* Path and line of a frame that runs Ruby code.  False if it does not. */
static bool
frame_place(struct ruby *rb, struct lang_walk *w, uint64_t cfp,
    uint64_t *body_out, char *file, size_t size, int *line)
{
	uint64_t pc = lang_u64(w, cfp + CFP_PC);
	uint64_t iseq = lang_u64(w, cfp + CFP_ISEQ), body, path;

	if (pc == 0 || ruby_type(w, iseq) != RUBY_IMEMO_ISEQ)
		return false;
	body = lang_u64(w, iseq + ISEQ_BODY);
	path = lang_u64(w, body + BODY_PATH);
	/* A path, or an array of the path and the real path. */
	if (ruby_type(w, path) == RUBY_ARRAY)
		path = ruby_element(w, path, 0);
	ruby_text(rb->layout, w, path, file, size);
	*line = ruby_line(rb->layout, w, body, pc);
	*body_out = body;
	return true;
}

/* The definition of the C method that a frame runs; 0 if it runs none. */
static uint64_t
frame_cfunc(struct lang_walk *w, uint64_t cfp)
{
	uint64_t ep = lang_u64(w, cfp + CFP_EP), me;

	if ((frame_flags(w, cfp) & FRAME_TYPE_MASK) != FRAME_CFUNC)
		return 0;
	me = lang_u64(w, ep + EP_METHOD);
	if (ruby_type(w, me) == RUBY_IMEMO_SVAR)
		me = lang_u64(w, me + SVAR_METHOD);
	return ruby_type(w, me) == RUBY_IMEMO_MENT ?
	    lang_u64(w, me + METHOD_DEF) :
	    0;
}

/* The address of that method's function; 0 if it is not in C. */
static uint64_t
cfunc_start(struct lang_walk *w, uint64_t def)
{
	if (def == 0 || (lang_u8(w, def) & DEF_TYPE_MASK) != DEF_TYPE_CFUNC)
		return 0;
	return lang_u64(w, def + DEF_FUNC);
}

/* Push the innermost frame that was not reported, and advance to the next.  As
 * in Ruby, a C method has the line of its caller. */
static void
frame_take(struct ruby *rb, struct lang_walk *w)
{
	char name[LANG_NAME_BYTES + 1] = "", file[LANG_NAME_BYTES + 1] = "";
	uint64_t cfp = rb->cfp, def, body;
	int line = 0;

	rb->cfp += rb->layout->frame_size;
	rb->steps++;
	if (rb->pushed == PUSHED_MOST)
		return;
	if (frame_place(rb, w, cfp, &body, file, sizeof(file), &line)) {
		ruby_text(rb->layout, w, lang_u64(w, body + BODY_LABEL), name,
		    sizeof(name));
	} else {
		def = frame_cfunc(w, cfp);
		if (def == 0)
			return;
		/* Not earlier, because the program may still have been
		 * starting. */
		if (rb->symbols == 0)
			find_symbols(rb, w);
		ruby_id_text(rb->layout, w, rb->symbols,
		    lang_u64(w, def + DEF_ID), name, sizeof(name));
		do
			cfp += rb->layout->frame_size;
		while (cfp < rb->end && ++rb->steps < STEPS_MOST &&
		    !frame_place(rb, w, cfp, &body, file, sizeof(file), &line));
	}
	rb->pushed++;
	lang_push(w, name[0] != '\0' ? name : "?",
	    file[0] != '\0' ? file : NULL, line, true);
}

static bool
more(const struct ruby *rb)
{
	return rb->cfp < rb->end && rb->steps < STEPS_MOST;
}

/* Is f a C frame of the interpreter's loop? */
static bool
is_loop(const struct ruby *rb, const struct frame *f)
{
	uint64_t pc = f->r[CFI_PC] - (f->exact ? 0 : 1);
	const struct sym *s;

	if (pc >= rb->loop && pc < rb->loop_end)
		return pc != rb->loop;
	if (pc < rb->load->start || pc >= rb->load->end)
		return false;
	/* A part of the loop that the compiler moved elsewhere. */
	s = object_func_at(rb->load->object, pc - rb->load->bias);
	return s != NULL && strncmp(s->name, "rb_vm_exec.", 11) == 0;
}

/* Is f in the function that begins at `start'? */
static bool
is_in(struct lang_walk *w, const struct frame *f, uint64_t start)
{
	uint64_t pc = f->r[CFI_PC] - (f->exact ? 0 : 1), from, to;
	const struct load *l;

	if (start == 0 || pc < start ||
	    (l = addrspace_load_at(w->as, pc)) == NULL)
		return false;
	return object_fde_range(l->object, pc - l->bias, &from, &to) == 0 &&
	    l->bias + from == start;
}

static bool
ruby_frames(void *self, struct lang_walk *w, const struct frame *f,
    const struct frame *caller)
{
	struct ruby *rb = self;

	if (!more(rb))
		return false;
	if (is_loop(rb, f)) {
		bool last = false;

		while (more(rb) && !last) {
			last = frame_flags(w, rb->cfp) & FRAME_FINISH;
			frame_take(rb, w);
		}
	} else if (is_in(w, f, cfunc_start(w, frame_cfunc(w, rb->cfp)))) {
		frame_take(rb, w);
	}
	return false;
}

static void
ruby_end(void *self, struct lang_walk *w)
{
	while (more(self))
		frame_take(self, w);
}

const struct lang_ops lang_ruby = {
	.name = "Ruby",
	.attach = ruby_attach,
	.detach = ruby_detach,
	.begin = ruby_begin,
	.end = ruby_end,
	.frames = ruby_frames,
};
