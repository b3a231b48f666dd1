/*
 * Compiled code of V8: finds its begin, and reads its description of a pc; see
 * v8_impl.h.
 *
 * Code follows its code object, which is recognised by its type: it is found by
 * a search backwards from a pc.  Baseline code has a table with the code length
 * of each bytecode.  Optimised code describes, for each return address, the
 * frames that its inlined functions would have, so that V8 can return to
 * unoptimised code there ("deoptimisation data"). The description is a stream
 * of operations; only those that begin a frame are used here.
 *
 * Facts: V8 10.2 and 11.3, src/objects/code.h, src/codegen/safepoint-table.h,
 * src/deoptimizer/translation-{opcode.h,array.cc}, src/base/vlq.h,
 * src/baseline/bytecode-offset-iterator.h.
 */

#include "dlang/base/base.h"
#include "symbols/lang/v8_impl.h"

/* Code begins at a multiple of CODE_ALIGN, and is searched for so far back, in
 * bytes. */
#define CODE_ALIGN 32u
#define CODE_BACK  (256u << 10)
#define CODE_MOST  (64u << 20)
/* Limits: return addresses in a piece of code; bytecodes; operations at one
 * place. */
#define SAFEPOINTS_MOST (1u << 16)
#define BYTECODES_MOST  (1u << 20)
#define OPS_MOST        20000u
/* The most elements of an array that is read. */
#define ELEMENTS_MOST (1 << 24)

/* The meaning of an operation for dtrap. */
enum op {
	OP_OTHER = '-',
	OP_BEGIN = 'B',
	OP_FUNCTION = 'U', /* a frame: offset in the bytecode, its literal */
	OP_BUILTIN = 'S',  /* a frame of a function that V8 has built in */
	OP_FRAME = 'F',    /* a frame of no function */
	/* Repeats as many earlier operations as its operand says. */
	OP_MATCH = 'M',
};

struct v8_layout {
	unsigned from, to; /* versions, major * 100 + minor */
	/* The object before the code: its size in bytes, and the offset in it
	 * of the object that describes the code (0: it is the same). */
	int header, fields;
	/* Members of the describing object. */
	int size, flags, deopt, table;
	/* Operations, two characters each: number of operands, enum op. */
	const char *ops;
	unsigned n_ops;
	/* Operations are bytes and may refer to earlier ones; the operation
	 * that begins a description says how far back these are. */
	bool matches;
};

static const char ops_10_2[] =
    "2F1-0-3B1-1-3F1-3F1-1-1-1-1-1-1-1-1-5U3S3S4F1-1-1-1-1-2-";

static const char ops_11_3[] =
    "1-0-3B3B1-1-3F1-3F1-1-1-1-1-2F1-1-1-1-1-1-1-1-5U3U3S3S4F"
    "0-1-1-1-1-1-2-1M";

static const struct v8_layout layouts[] = {
	{ 1002, 1002, 128, 0, 40, 48, 16, 24, ops_10_2, sizeof(ops_10_2) / 2,
	    false },
	{ 1103, 1103, 16, 8, 56, 48, 16, 24, ops_11_3, sizeof(ops_11_3) / 2,
	    true },
};

/* Kinds of code, the low bits of its flags. */
enum { KIND_INTERPRETED = 10, KIND_BASELINE, KIND_MAGLEV, KIND_TURBOFAN };
#define KIND_MASK 15

/* Indices in the array of deoptimisation data. */
enum { DEOPT_OPS = 0, DEOPT_LITERALS = 2, DEOPT_FIRST = 11, DEOPT_EACH = 3 };

const struct v8_layout *
v8_layout_of(unsigned major, unsigned minor)
{
	unsigned version = major * 100 + minor;

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (version >= layouts[i].from && version <= layouts[i].to)
			return &layouts[i];
	return NULL;
}

/* May the object be code?  Most words at the place of a map are instructions;
 * those that are no address are rejected without a read.  The number of reads
 * is limited. */
static bool
code_may_be(struct v8 *v, struct lang_walk *w, uint64_t object)
{
	uint64_t map = v8_field(w, object, 0);

	if (!v8_is_object(map) || map >> 47 != 0 || v->looks == 0)
		return false;
	v->looks--;
	return true;
}

/* The code that begins at `start'. Its size is 0 unless pc is in it. */
static struct v8_code
code_at_start(struct v8 *v, struct lang_walk *w, uint64_t start, uint64_t pc)
{
	const struct v8_layout *y = v->layout;
	struct v8_code c = { V8_NONE, start, 0,
		start - (unsigned)y->header + 1 };
	int type = y->fields != 0 ? v->type_stream : v->type_code;

	if (!code_may_be(v, w, c.fields) || v8_type(v, w, c.fields) != type)
		return c;
	if (y->fields != 0)
		c.fields = v8_field(w, c.fields, y->fields);
	if (v8_type(v, w, c.fields) != v->type_code)
		return c;
	c.size = lang_u32(w, c.fields - 1 + (unsigned)y->size);
	if (c.size > CODE_MOST || pc - start >= c.size) {
		c.size = 0;
		return c;
	}
	switch (lang_u32(w, c.fields - 1 + (unsigned)y->flags) & KIND_MASK) {
	case KIND_INTERPRETED: c.kind = V8_INTERPRETED; break;
	case KIND_BASELINE: c.kind = V8_BASELINE; break;
	case KIND_MAGLEV:
	case KIND_TURBOFAN: c.kind = V8_OPTIMISED; break;
	}
	return c;
}

/* The same for any pc. */
static struct v8_code
code_search(struct v8 *v, struct lang_walk *w, uint64_t pc)
{
	uint64_t start = pc & ~(uint64_t)(CODE_ALIGN - 1);
	struct v8_code c = { V8_NONE, 0, 0, 0 };

	for (; pc - start < CODE_BACK; start -= CODE_ALIGN) {
		c = code_at_start(v, w, start, pc);
		if (c.size != 0)
			return c;
	}
	c.start = 0;
	return c;
}

struct v8_code
v8_code_at(struct v8 *v, struct lang_walk *w, uint64_t pc)
{
	struct v8_code c = { V8_NONE, 0, 0, 0 };
	size_t slot = (pc >> 2 ^ pc >> 10) % V8_PCS;
	uint64_t bytes;

	if (pc < CODE_BACK + CODE_ALIGN || addrspace_load_at(w->as, pc) != NULL)
		return c;
	bytes = lang_u64(w, pc);
	if (v->pcs[slot].pc == pc) {
		if (v->pcs[slot].start != 0)
			c = code_at_start(v, w, v->pcs[slot].start, pc);
		/* A copy of built-in code is not in V8's heap. */
		else if (v->pcs[slot].bytes == bytes)
			return c;
		if (c.size != 0)
			return c;
	}
	c = code_search(v, w, pc);
	v->pcs[slot].pc = pc;
	v->pcs[slot].start = c.start;
	v->pcs[slot].bytes = bytes;
	return c;
}

/* ---- a stream of numbers, seven bits a byte, the lowest first ---- */

struct stream {
	struct lang_walk *w;
	uint64_t at, end;
};

/* Open an array of bytes as a stream. */
static bool
stream_open(
    const struct v8 *v, struct lang_walk *w, uint64_t bytes, struct stream *s)
{
	int32_t n;

	if (v8_type(v, w, bytes) != v->type_bytes)
		return false;
	n = v8_smi(v8_field(w, bytes, v->array_length));
	s->w = w;
	s->at = bytes - 1 + (uint64_t)v->array_data;
	s->end = s->at + (uint32_t)MAX(n, 0);
	return n > 0;
}

static uint8_t
stream_byte(struct stream *s)
{
	return s->at < s->end ? lang_u8(s->w, s->at++) : 0;
}

static uint32_t
stream_number(struct stream *s)
{
	uint32_t n = 0;
	uint8_t b;

	for (unsigned shift = 0; shift < 35; shift += 7) {
		b = stream_byte(s);
		n |= (uint32_t)((uint64_t)(b & 0x7f) << shift);
		if (!(b & 0x80))
			break;
	}
	return n;
}

/* Convert a number whose lowest bit is the sign. */
static int32_t
signed_of(uint32_t n)
{
	int32_t half = (int32_t)(n >> 1);

	return n & 1 ? -half : half;
}

/* ---- baseline code ---- */

/* The size of the bytecode at addr, with its prefix. */
static unsigned
bytecode_size(const struct v8 *v, struct lang_walk *w, uint64_t addr)
{
	uint8_t b = lang_u8(w, addr);
	unsigned scale = 0, prefix = 0;

	/* The prefixes: wide, extra wide, and variants of these for a
	 * debugger. */
	if (b < 4) {
		scale = 1 + (b & 1);
		prefix = 1;
		b = lang_u8(w, addr + 1);
	}
	if (b >= v->bytecodes)
		return 0;
	return prefix + v->sizes[scale * v->bytecodes + b];
}

int
v8_baseline_offset(struct v8 *v, struct lang_walk *w, const struct v8_code *c,
    uint64_t bytecode, uint64_t pc)
{
	struct stream s;
	uint64_t data = bytecode - 1 + (uint64_t)v->bytecode_data, end;
	int32_t length;
	unsigned at = 0, n = 0;
	int offset = -1;

	if (v8_type(v, w, bytecode) != v->type_bytecode || v->bytecodes == 0 ||
	    !stream_open(v, w, v8_field(w, c->fields, v->layout->table), &s))
		return -1;
	length = v8_smi(v8_field(w, bytecode, v->array_length));
	end = c->start + stream_number(&s); /* of the code before the first
					     * bytecode */
	while (end < pc && s.at < s.end && n++ < BYTECODES_MOST) {
		unsigned size = bytecode_size(v, w, data + at);
		if (size == 0 || length < 0 || at >= (unsigned)length)
			return -1;
		end += stream_number(&s);
		offset = (int)at;
		at += size;
	}
	return offset;
}

/* ---- optimised code ---- */

/* Read a member of the table of return addresses. */
static uint32_t
little_endian(struct lang_walk *w, uint64_t addr, unsigned n)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint32_t)lang_u8(w, addr + i) << (8 * i);
	return v;
}

/*
 * The index of the deoptimisation for a return address; -1 if there is none.
 * The table follows the code: the number of entries, the sizes of their
 * members, and the entries: pc, deoptimisation + 1, address of its code + 1,
 * registers.
 */
static int
deopt_index(struct lang_walk *w, const struct v8_code *c, uint64_t pc)
{
	uint64_t table = c->start + c->size, at = table + 8;
	uint32_t n = lang_u32(w, table), how = lang_u32(w, table + 4);
	unsigned regs = how >> 1 & 7, pcs = how >> 4 & 7, index = how >> 7 & 7;

	if (!(how & 1) || n > SAFEPOINTS_MOST || pcs > 4 || index > 4)
		return -1;
	for (; n > 0; n--, at += 2 * pcs + index + regs) {
		uint32_t off = little_endian(w, at, pcs),
			 away = little_endian(w, at + pcs + index, pcs);
		if (pc - c->start == off ||
		    (away != 0 && pc - c->start == away - 1))
			return (int)(little_endian(w, at + pcs, index) - 1);
	}
	return -1;
}

/* A stream of operations, some of which may be repeated from an earlier
 * place. */
struct ops {
	const struct v8_layout *layout;
	struct stream s;
	struct stream earlier;
	unsigned behind; /* how many operations back `earlier' is */
	unsigned again;  /* operations still to be taken from there */
};

struct operation {
	enum op what;
	uint32_t operand[5];
};

static void
op_operands(const struct v8_layout *y, struct stream *s, unsigned code,
    struct operation *op)
{
	op->what = (enum op)y->ops[2 * code + 1];
	for (unsigned i = 0; i < (unsigned)(y->ops[2 * code] - '0'); i++)
		op->operand[i] = stream_number(s);
}

/* Take one operation from the earlier place. */
static bool
op_again(struct ops *o, struct operation *op)
{
	unsigned code = stream_byte(&o->earlier);

	if (code >= o->layout->n_ops)
		return false;
	op_operands(o->layout, &o->earlier, code, op);
	return op->what != OP_MATCH;
}

static bool
op_match(struct ops *o, unsigned n, struct operation *op)
{
	if (n == 0 || o->earlier.w == NULL)
		return false;
	o->again = n - 1;
	for (; o->behind > 0; o->behind--)
		if (!op_again(o, op))
			return false;
	return op_again(o, op);
}

static bool
op_next(struct ops *o, struct operation *op)
{
	const struct v8_layout *y = o->layout;
	uint64_t at = o->s.at;
	unsigned code;

	*op = (struct operation){ 0 };
	if (o->again > 0) {
		o->again--;
		return op_again(o, op);
	}
	if (at >= o->s.end)
		return false;
	if (!y->matches) {
		code = (unsigned)signed_of(stream_number(&o->s));
		if (code >= y->n_ops)
			return false;
		op_operands(y, &o->s, code, op);
		return true;
	}
	code = stream_byte(&o->s);
	if (code >= y->n_ops)
		return op_match(o, code - y->n_ops, op);
	op_operands(y, &o->s, code, op);
	if (op->what == OP_MATCH)
		return op_match(o, op->operand[0], op);
	if (op->what == OP_BEGIN && op->operand[0] != 0) {
		o->earlier = o->s;
		o->earlier.at = at - op->operand[0];
	}
	o->behind++;
	return true;
}

/* An element of an array, held strongly or weakly. */
static uint64_t
element(const struct v8 *v, struct lang_walk *w, uint64_t array, int i)
{
	uint64_t word;

	if (i < 0 || i > ELEMENTS_MOST ||
	    i >= v8_smi(v8_field(w, array, v->array_length)))
		return 0;
	word = v8_field(w, array, v->array_data + 8 * i);
	return (word & 3) == 3 ? word & ~2ULL : word;
}

/* Read the frames that a translation describes. */
static size_t
translate(struct v8 *v, struct lang_walk *w, struct ops *o, uint64_t literals,
    struct v8_at *out, size_t max)
{
	struct operation op;
	int32_t frames;
	size_t n = 0;

	if (!op_next(o, &op) || op.what != OP_BEGIN)
		return 0;
	frames = signed_of(op.operand[o->layout->matches ? 1 : 0]);
	for (unsigned i = 0; frames > 0 && i < OPS_MOST; i++) {
		if (!op_next(o, &op) || op.what == OP_BEGIN)
			return 0;
		if (op.what == OP_OTHER)
			continue;
		frames--;
		if (op.what == OP_FRAME)
			continue;
		struct v8_at at = { .offset = -1 };
		at.shared = element(v, w, literals, signed_of(op.operand[1]));
		if (v8_type(v, w, at.shared) != v->type_shared || n == max)
			return 0;
		if (op.what == OP_FUNCTION)
			at.offset = signed_of(op.operand[0]);
		out[n++] = at;
	}
	return frames == 0 ? n : 0;
}

size_t
v8_inlined(struct v8 *v, struct lang_walk *w, const struct v8_code *c,
    uint64_t pc, struct v8_at *out, size_t max)
{
	uint64_t data = v8_field(w, c->fields, v->layout->deopt), where;
	struct ops o = { .layout = v->layout };
	int index = deopt_index(w, c, pc);
	uint64_t begin, literals;

	if (index < 0 || index > (int)SAFEPOINTS_MOST ||
	    v8_type(v, w, data) != v->type_array)
		return 0;
	literals = element(v, w, data, DEOPT_LITERALS);
	where = element(v, w, data, DEOPT_FIRST + index * DEOPT_EACH + 1);
	if (!v8_is_object(literals) || !v8_is_smi(where) ||
	    !stream_open(v, w, element(v, w, data, DEOPT_OPS), &o.s))
		return 0;
	begin = o.s.at;
	o.s.at += (uint32_t)MAX(v8_smi(where), 0);
	if (o.s.at < begin || o.s.at >= o.s.end)
		return 0;
	return translate(v, w, &o, literals, out, max);
}
