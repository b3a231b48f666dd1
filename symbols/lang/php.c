/*
 * Frames of PHP without threads (NTS, as in Debian).
 *
 * The running functions are a linked list of frames on PHP's own stack; a
 * global variable points to the innermost.  The interpreter's function
 * execute_ex() runs a PHP function and all PHP functions that it calls; a
 * native function that calls PHP calls execute_ex() again.  A frame tells
 * whether such a run begins with it, so each PHP frame becomes a note on the
 * execute_ex() that runs it.
 *
 * If the native stack ends early, at code created at run time, the remaining
 * frames are reported after it.
 *
 * Facts: Zend/zend_{compile,globals,execute,generators,modules,hash}.h and
 * zend_generators.c of PHP 8.2 and 8.4; offsets by offsetof() from these.
 */
#include <stdio.h>

#include "dlang/base/base.h"
#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "symbols/lang/lang_impl.h"
#include "symbols/lang/machine/defs.h"

/* Limits: frames of one stack; generators that wait for each other. */
#define FRAMES_MOST  4096u
#define WAITING_MOST 32u

/* Offsets that differ between versions.  The version is known by the number of
 * its module interface. */
static const struct layout {
	uint32_t api;
	int current; /* of executor_globals: the frame that runs */
	/* A function: */
	int opcodes, last, filename, line_start;
	/* A generator: */
	int gen_frame, gen_parent;
} layouts[] = {
	{ 20220829, 488, 88, 80, 152, 160, 56, 152 },  /* 8.2 */
	{ 20240924, 488, 104, 96, 168, 176, 56, 152 }, /* 8.4 */
};

/* Offsets in a frame. */
enum {
	FRAME_OPLINE = 0,
	FRAME_FUNCTION = 24,
	FRAME_THIS = 32,
	FRAME_INFO = 40,
	FRAME_PREV = 48,
};
#define INFO_TYPE(i) ((i)&0xff)
#define INFO_TOP     0x20000u /* a run of execute_ex() begins with it */
#define TYPE_OBJECT  8

/* Offsets in a function, a class, a string and an instruction. */
enum {
	FUNCTION_TYPE = 0,
	FUNCTION_NAME = 8,
	FUNCTION_CLASS = 16,
	CLASS_NAME = 8,
	STRING_LENGTH = 16,
	STRING_BYTES = 24,
	OP_EXTENDED = 20,
	OP_LINE = 24,
	OP_CODE = 28,
	OP_BYTES = 32,
};
#define TYPE_INTERNAL 1
#define OP_INCLUDE    73

/* Offsets in the table of modules, and in a module. */
enum {
	TABLE_BUCKETS = 16,
	TABLE_USED = 24,
	MODULE_API = 4,
	MODULE_THREADS = 9,
};

#define TEXT_BYTES (LANG_NAME_BYTES + 1)

struct php {
	const struct load *load;
	uint64_t globals, modules, execute;
	const struct layout *layout; /* NULL: not determined yet */
	bool unknown;                /* the version is not supported */
	/* The walk. */
	uint64_t next; /* frame */
	uint64_t waiting[WAITING_MOST];
	unsigned n_waiting;
	unsigned left;
};

static void *
php_attach(struct lang_walk *w, const struct load *l)
{
	uint64_t globals = lang_sym(l, "executor_globals");
	struct php *p;

	if (globals == 0 || lang_sym(l, "execute_ex") == 0 ||
	    lang_sym(l, "module_registry") == 0)
		return NULL;
	p = mem_zalloc(sizeof(*p));
	p->load = l;
	p->globals = globals;
	p->modules = lang_sym(l, "module_registry");
	p->execute = lang_sym(l, "execute_ex");
	return p;
}

static void
php_detach(void *self)
{
	mem_free(self);
}

/* Find the version in the first module of the table, which exists as soon as
 * PHP has started. */
static void
layout_find(struct php *p, struct lang_walk *w)
{
	uint64_t buckets = lang_u64(w, p->modules + TABLE_BUCKETS), module;
	uint32_t api;

	if (p->layout != NULL || p->unknown || buckets == 0 ||
	    lang_u32(w, p->modules + TABLE_USED) == 0)
		return;
	module = lang_u64(w, buckets);
	api = lang_u32(w, module + MODULE_API);
	if (api == 0)
		return;
	if (lang_u8(w, module + MODULE_THREADS) == 0)
		for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
			if (layouts[i].api == api)
				p->layout = &layouts[i];
	p->unknown = p->layout == NULL;
	LOG("lang", "PHP with interface %u%s", api,
	    p->unknown ? ", which is not known" : "");
}

/* ---- the list of frames ---- */

static void
php_begin(void *self, struct lang_walk *w)
{
	struct php *p = self;

	layout_find(p, w);
	p->n_waiting = 0;
	p->left = FRAMES_MOST;
	p->next = 0;
	/* Only the first thread runs PHP. */
	if (p->layout != NULL && w->th->inner_tid == w->th->inner_pid)
		p->next =
		    lang_u64(w, p->globals + (unsigned)p->layout->current);
}

static uint64_t
function_of(struct lang_walk *w, uint64_t frame)
{
	return lang_u64(w, frame + FRAME_FUNCTION);
}

/*
 * Generators that wait for one another ("yield from"): the list has a single
 * frame in their place, which names the outermost.  Each one points to the
 * generator for which it waits.  The innermost is running, and has a frame of
 * its own in the list.
 */
static void
waiting_find(struct php *p, struct lang_walk *w, uint64_t frame)
{
	uint64_t g = lang_u64(w, frame + FRAME_THIS);

	while (g != 0 && p->n_waiting < WAITING_MOST) {
		uint64_t parent =
		    lang_u64(w, g + (unsigned)p->layout->gen_parent);
		if (parent == 0)
			break;
		p->waiting[p->n_waiting++] =
		    lang_u64(w, g + (unsigned)p->layout->gen_frame);
		g = parent;
	}
}

/* The next frame that has a function, the innermost first; 0 if there is none.
 * *top: a run of execute_ex() begins with it. */
static uint64_t
frame_next(struct php *p, struct lang_walk *w, bool *top)
{
	*top = false;
	while (p->left > 0) {
		uint64_t frame;
		uint32_t info;

		p->left--;
		if (p->n_waiting > 0)
			return p->waiting[--p->n_waiting];
		frame = p->next;
		if (frame == 0)
			return 0;
		p->next = lang_u64(w, frame + FRAME_PREV);
		info = lang_u32(w, frame + FRAME_INFO);
		*top = info & INFO_TOP;
		if (function_of(w, frame) != 0)
			return frame;
		if (INFO_TYPE(info) == TYPE_OBJECT)
			waiting_find(p, w, frame);
	}
	return 0;
}

/* ---- one frame ---- */

static void
string_text(struct lang_walk *w, uint64_t s, char *buf, size_t size)
{
	buf[0] = '\0';
	if (s != 0)
		lang_text(w, s + STRING_BYTES, lang_u64(w, s + STRING_LENGTH),
		    buf, size);
}

/* The current instruction of a PHP frame; 0 if it is not known. */
static uint64_t
opline_of(
    const struct php *p, struct lang_walk *w, uint64_t frame, uint64_t reg)
{
	uint64_t f = function_of(w, frame),
		 begin = lang_u64(w, f + (unsigned)p->layout->opcodes),
		 bytes = OP_BYTES *
	    (uint64_t)lang_u32(w, f + (unsigned)p->layout->last),
		 op = lang_u64(w, frame + FRAME_OPLINE);

	/* While the function runs, the instruction is in a register and need
	 * not be stored. */
	if (reg - begin < bytes && (reg - begin) % OP_BYTES == 0)
		op = reg;
	return op - begin < bytes ? op : 0;
}

/* The file name of code outside of functions: of the program, or of an included
 * file. */
static const char *
file_name(const struct php *p, struct lang_walk *w)
{
	static const char *const names[] = { "eval", "include", "include_once",
		"require", "require_once" };
	uint64_t f = p->next != 0 ? function_of(w, p->next) : 0, op;
	uint32_t how;

	if (f == 0 || lang_u8(w, f + FUNCTION_TYPE) == TYPE_INTERNAL)
		return "{main}";
	op = lang_u64(w, p->next + FRAME_OPLINE);
	if (lang_u8(w, op + OP_CODE) != OP_INCLUDE)
		return "{main}";
	how = lang_u32(w, op + OP_EXTENDED);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (how == 1u << i)
			return names[i];
	return "{main}";
}

static void
frame_push(struct php *p, struct lang_walk *w, uint64_t frame, uint64_t reg)
{
	uint64_t f = function_of(w, frame), class, op;
	bool internal = lang_u8(w, f + FUNCTION_TYPE) == TYPE_INTERNAL;
	char text[TEXT_BYTES], file[TEXT_BYTES], in[TEXT_BYTES] = "";
	char name[2 * TEXT_BYTES + 2];
	const char *between = "";
	uint32_t line;

	string_text(w, lang_u64(w, f + FUNCTION_NAME), text, sizeof(text));
	/* The outermost frame of a fiber. */
	if (internal && text[0] == '\0')
		return;
	class = lang_u64(w, f + FUNCTION_CLASS);
	if (class != 0)
		string_text(w, lang_u64(w, class + CLASS_NAME), in, sizeof(in));
	if (in[0] != '\0')
		between =
		    INFO_TYPE(lang_u32(w, frame + FRAME_INFO)) == TYPE_OBJECT ?
		    "->" :
		    "::";
	snprintf(name, sizeof(name), "%s%s%s", in, between,
	    text[0] != '\0' ? text : file_name(p, w));
	if (internal) {
		lang_push(w, name, NULL, 0, true);
		return;
	}
	string_text(w, lang_u64(w, f + (unsigned)p->layout->filename), file,
	    sizeof(file));
	op = opline_of(p, w, frame, reg);
	line = op != 0 ? lang_u32(w, op + OP_LINE) :
			 lang_u32(w, f + (unsigned)p->layout->line_start);
	lang_push(w, name, file[0] != '\0' ? file : NULL,
	    (int)MIN(line, INT32_MAX), true);
}

static bool
is_execute(const struct php *p, const struct frame *f)
{
	const struct load *l = p->load;
	uint64_t pc = f->r[CFI_PC] - (f->exact ? 0 : 1), start, end;

	return pc >= l->start && pc < l->end &&
	    object_fde_range(l->object, p->execute - l->bias, &start, &end) ==
	    0 &&
	    pc - l->bias >= start && pc - l->bias < end;
}

static bool
php_frames(void *self, struct lang_walk *w, const struct frame *f,
    const struct frame *caller)
{
	struct php *p = self;
	uint64_t frame, reg = 0;
	bool top = false;

	if (p->next == 0 || !is_execute(p, f))
		return false;
	/* The registers of the interpreter are valid only in its innermost
	 * frame. */
	if (f->exact && f->r[PHP_FRAME] == p->next)
		reg = f->r[PHP_OPLINE];
	while (!top && (frame = frame_next(p, w, &top)) != 0) {
		frame_push(p, w, frame, reg);
		reg = 0;
	}
	return false;
}

static void
php_end(void *self, struct lang_walk *w)
{
	struct php *p = self;
	uint64_t frame;
	bool top;

	while ((frame = frame_next(p, w, &top)) != 0)
		frame_push(p, w, frame, 0);
}

const struct lang_ops lang_php = {
	.name = "PHP",
	.attach = php_attach,
	.detach = php_detach,
	.begin = php_begin,
	.end = php_end,
	.frames = php_frames,
};
