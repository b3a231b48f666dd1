/*
 * Objects of V8: names of functions, scripts, lines; see v8_impl.h.
 *
 * A function is described by its SharedFunctionInfo.  It has the name or, after
 * compilation, a ScopeInfo with the name; the Script, with the file's name and
 * the source; and the bytecode, with a table from positions in it to positions
 * in the source.  V8 creates that table only when it is needed, for example for
 * the stack of an Error.  Until then only the function's first line is known.
 *
 * Facts: V8 10.2 and 11.3, src/objects/{shared-function-info,scope-info,
 * script,code}.tq, src/codegen/source-position{,-table}.{h,cc}.
 */
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/base/sorted.h"
#include "dlang/base/str.h"
#include "symbols/lang/v8_impl.h"

/* Strings are trees.  Trees of names are not deep. */
#define STRING_DEPTH  16
#define STRING_PIECES 64
/* Limits: words of a scope's names, characters of a script, bytes of a table.
 * More is invalid, or would take too long. */
#define SCOPE_MOST  (1 << 16)
#define SOURCE_MOST (32u << 20)
#define LINES_MOST  (1u << 20)
#define TABLE_MOST  (1 << 20)
#define ARRAY_MOST  (1 << 24)

/* Offsets in V8's heap for which there is no symbol. */
#define SCOPE_FLAGS      8
#define SCOPE_LOCALS     24
#define SCOPE_NAMES      32
#define SCOPE_INLINED    75 /* so many names are in a table instead */
#define BYTECODE_LINES   32
#define INTERP_BYTECODE  8
#define CODE_BYTECODE    16
#define EXTERNAL_DATA    8  /* behind the resource */
#define EXTERNAL_NO_DATA 16 /* a bit of the type */
#define SCRIPT_OFFSET    8  /* behind the name */
#define SCRIPT_ID        8  /* behind the ends of lines */

/* Bits of a scope's flags. */
#define SCOPE_TYPE(f)         ((f)&15)
#define SCOPE_SAVED_CLASS(f)  ((f) >> 10 & 1)
#define SCOPE_HAS_NAME(f)     (((f) >> 12 & 3) != 0)
#define SCOPE_HAS_INFERRED(f) ((f) >> 14 & 1)
#define SCOPE_EMPTY(f)        ((f) >> 29 & 1)

enum scope_type {
	SCOPE_CLASS,
	SCOPE_EVAL,
	SCOPE_FUNCTION,
	SCOPE_MODULE,
	SCOPE_SCRIPT,
	SCOPE_SHADOW_REALM = 8
};

int
v8_type(const struct v8 *v, struct lang_walk *w, uint64_t object)
{
	uint64_t map;

	if (!v8_is_object(object))
		return -1;
	map = v8_field(w, object, 0);
	return v8_is_object(map) ?
	    lang_u16(w, map - 1 + (uint64_t)v->map_type) :
	    -1;
}

/* ---- strings ---- */

struct text {
	char *at;
	size_t len, size; /* size without the NUL */
	unsigned pieces;
};

/* Append a UTF-16 unit as UTF-8. `high' is the first half of a pair, or 0. */
static void
text_put(struct text *t, unsigned c, unsigned *high)
{
	char b[4];
	size_t n;

	if (c >= 0xd800 && c < 0xdc00) {
		*high = c;
		return;
	}
	if (c >= 0xdc00 && c < 0xe000 && *high != 0)
		c = 0x10000 + ((*high - 0xd800) << 10) + (c - 0xdc00);
	*high = 0;
	n = utf8_put(c < ' ' ? '?' : c, b);
	if (t->size - t->len < n) {
		t->size = t->len; /* no half of a character, nor what follows */
		return;
	}
	memcpy(t->at + t->len, b, n);
	t->len += n;
}

/* Append characters of 1 or 2 bytes that are contiguous in memory. */
static void
text_chars(
    struct lang_walk *w, struct text *t, uint64_t addr, size_t n, bool one_byte)
{
	unsigned high = 0;

	for (size_t i = 0; i < n && t->len < t->size; i++)
		text_put(t,
		    one_byte ? lang_u8(w, addr + i) : lang_u16(w, addr + 2 * i),
		    &high);
}

/* The address of the characters of a string that contains them itself; 0 if
 * they are elsewhere. */
static uint64_t
string_chars(const struct v8 *v, struct lang_walk *w, uint64_t s, int type,
    bool *one_byte)
{
	int repr = type & v->string_repr;

	*one_byte = (type & v->string_encoding) == v->tag_one_byte;
	if (repr == 0)
		return s - 1 +
		    (uint64_t)(*one_byte ? v->one_chars : v->two_chars);
	if (repr == v->tag_external && !(type & EXTERNAL_NO_DATA))
		return v8_field(w, s, v->external_resource + EXTERNAL_DATA);
	return 0;
}

static uint32_t
string_length(const struct v8 *v, struct lang_walk *w, uint64_t s)
{
	return lang_u32(w, s - 1 + (uint64_t)v->string_length);
}

/* Append `n' characters of a string, from the `from'th. */
static void
text_string(const struct v8 *v, struct lang_walk *w, struct text *t, uint64_t s,
    size_t from, size_t n, unsigned depth)
{
	int type = v8_type(v, w, s), repr = type & v->string_repr;
	bool one_byte;
	uint64_t chars;
	uint32_t length;

	if (type < 0 || type >= v->first_nonstring || depth > STRING_DEPTH ||
	    t->pieces++ > STRING_PIECES || t->len >= t->size)
		return;
	length = string_length(v, w, s);
	if (from >= length)
		return;
	n = MIN(n, length - from);
	chars = string_chars(v, w, s, type, &one_byte);
	if (chars != 0) {
		text_chars(
		    w, t, chars + from * (one_byte ? 1 : 2), n, one_byte);
	} else if (repr == v->tag_thin) {
		text_string(v, w, t, v8_field(w, s, v->thin_actual), from, n,
		    depth + 1);
	} else if (repr == v->tag_sliced) {
		int32_t off = v8_smi(v8_field(w, s, v->sliced_offset));
		if (off >= 0)
			text_string(v, w, t, v8_field(w, s, v->sliced_parent),
			    from + (size_t)off, n, depth + 1);
	} else if (repr == v->tag_cons) {
		uint64_t first = v8_field(w, s, v->cons_first);
		size_t left =
		    v8_is_object(first) ? string_length(v, w, first) : 0;
		if (from < left)
			text_string(v, w, t, first, from, MIN(n, left - from),
			    depth + 1);
		if (from + n > left)
			text_string(v, w, t, v8_field(w, s, v->cons_second),
			    from > left ? from - left : 0,
			    from > left ? n : from + n - left, depth + 1);
	}
}

/* Read a string as UTF-8; "" if it is not one.  Returns buf. */
static char *
string_text(
    const struct v8 *v, struct lang_walk *w, uint64_t s, char *buf, size_t size)
{
	struct text t = { .at = buf, .size = size - 1 };

	text_string(v, w, &t, s, 0, size, 0);
	buf[t.len] = '\0';
	return buf;
}

/* ---- functions ---- */

uint64_t
v8_shared(const struct v8 *v, struct lang_walk *w, uint64_t function)
{
	uint64_t s;

	if (!v8_is_object(function))
		return 0;
	s = v8_field(w, function, v->function_shared);
	return v8_type(v, w, s) == v->type_shared ? s : 0;
}

static uint64_t
shared_script(const struct v8 *v, struct lang_walk *w, uint64_t shared)
{
	uint64_t s = v8_field(w, shared, v->shared_script);

	return v8_type(v, w, s) == v->type_script ? s : 0;
}

bool
v8_is_builtin(const struct v8 *v, struct lang_walk *w, uint64_t shared)
{
	return shared_script(v, w, shared) == 0;
}

/* The bytecode of a function; 0 if it has none. */
static uint64_t
shared_bytecode(const struct v8 *v, struct lang_walk *w, uint64_t shared)
{
	uint64_t data = v8_field(w, shared, v->shared_data);

	/* Baseline code, or data for a debugger, may stand in between and refer
	 * to the bytecode. */
	for (unsigned i = 0; i < 3; i++) {
		int type = v8_type(v, w, data);
		if (type < 0)
			return 0;
		if (type == v->type_bytecode)
			return data;
		if (type == v->type_code)
			data = v8_field(w, data, CODE_BYTECODE);
		else if (type == v->type_interp)
			data = v8_field(w, data, INTERP_BYTECODE);
		else
			return 0;
	}
	return 0;
}

/* The contents of a ScopeInfo. */
struct scope {
	uint64_t name, inferred; /* strings, or other values */
	int start;               /* position in the source; -1: not known */
	bool is_eval;
};

static struct scope
scope_read(struct lang_walk *w, uint64_t info)
{
	struct scope s = { .start = -1 };
	uint64_t word = v8_field(w, info, SCOPE_FLAGS), end;
	int32_t flags = v8_smi(word), at = SCOPE_NAMES,
		n = v8_smi(v8_field(w, info, SCOPE_LOCALS));

	if (!v8_is_smi(word) || n < 0 || n > SCOPE_MOST || SCOPE_EMPTY(flags))
		return s;
	s.is_eval = SCOPE_TYPE(flags) == SCOPE_EVAL;
	at += 8 * (n < SCOPE_INLINED ? n : 1) + 8 * n;
	at += SCOPE_SAVED_CLASS(flags) ? 8 : 0;
	if (SCOPE_HAS_NAME(flags)) {
		s.name = v8_field(w, info, at);
		at += 16;
	}
	if (SCOPE_HAS_INFERRED(flags)) {
		s.inferred = v8_field(w, info, at);
		at += 8;
	}
	switch (SCOPE_TYPE(flags)) {
	case SCOPE_CLASS:
	case SCOPE_EVAL:
	case SCOPE_FUNCTION:
	case SCOPE_MODULE:
	case SCOPE_SCRIPT:
	case SCOPE_SHADOW_REALM:
		word = v8_field(w, info, at);
		end = v8_field(w, info, at + 8);
		if (v8_is_smi(word) && v8_is_smi(end) && v8_smi(word) >= 0 &&
		    v8_smi(word) <= v8_smi(end))
			s.start = v8_smi(word);
		break;
	}
	return s;
}

static bool
is_uncompiled(const struct v8 *v, int type)
{
	return type >= 0 &&
	    (type == v->type_lazy0 || type == v->type_lazy1 ||
		type == v->type_lazy2 || type == v->type_lazy3);
}

static struct scope
shared_scope(const struct v8 *v, struct lang_walk *w, uint64_t shared)
{
	uint64_t name = v8_field(w, shared, v->shared_name),
		 data = v8_field(w, shared, v->shared_data);
	struct scope s = { .start = -1 };

	if (v8_type(v, w, name) == v->type_scope)
		return scope_read(w, name);
	s.name = name;
	if (is_uncompiled(v, v8_type(v, w, data))) {
		s.inferred = v8_field(w, data, v->uncompiled_name);
		s.start =
		    (int)lang_u32(w, data - 1 + (uint64_t)v->uncompiled_start);
	}
	return s;
}

/* ---- lines ---- */

/* A number of a table of positions: seven bits a byte, the lowest first, and of
 * all the lowest is the sign.  Sums of them wrap round. */
static uint64_t
table_number(struct lang_walk *w, uint64_t *at, uint64_t end)
{
	uint64_t n = 0;
	unsigned shift = 0;
	uint8_t b;

	do {
		if (*at >= end || shift > 63)
			return 0;
		b = lang_u8(w, (*at)++);
		n |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	return n >> 1 ^ (0 - (n & 1));
}

/*
 * The position in the source for one in the bytecode, or -1. An entry has the
 * differences of both to the entry before.  The sign of the first difference
 * says whether it is a statement.
 */
static int
source_position(
    const struct v8 *v, struct lang_walk *w, uint64_t bytecode, int offset)
{
	uint64_t table = v8_field(w, bytecode, BYTECODE_LINES), at, end;
	uint64_t where = UINT64_MAX, raw = 0; /* before the bytecode */
	int32_t length;
	int position = -1;

	if (v8_type(v, w, table) != v->type_bytes)
		return -1;
	length = v8_smi(v8_field(w, table, v->array_length));
	if (length <= 0 || length > TABLE_MOST)
		return -1;
	at = table - 1 + (uint64_t)v->array_data;
	end = at + (uint32_t)length;
	while (at < end) {
		uint64_t n = table_number(w, &at, end);
		where += (int64_t)n >= 0 ? n : ~n;
		raw += table_number(w, &at, end);
		if ((int64_t)where > offset)
			break;
		position = (int)(raw >> 1 & 0x3fffffff) - 1;
	}
	return position;
}

/* The characters of a script. */
struct source {
	uint64_t chars;
	uint32_t length;
	bool one_byte;
};

static bool
source_find(
    const struct v8 *v, struct lang_walk *w, uint64_t s, struct source *src)
{
	size_t from = 0;

	if (v8_type(v, w, s) < 0)
		return false;
	src->length = string_length(v, w, s);
	for (unsigned i = 0; i < STRING_DEPTH; i++) {
		int type = v8_type(v, w, s), repr = type & v->string_repr;

		if (type < 0 || type >= v->first_nonstring)
			return false;
		src->chars = string_chars(v, w, s, type, &src->one_byte);
		if (src->chars != 0) {
			src->chars += from * (src->one_byte ? 1 : 2);
			return src->length <= SOURCE_MOST;
		}
		if (repr == v->tag_thin) {
			s = v8_field(w, s, v->thin_actual);
		} else if (repr == v->tag_sliced) {
			from +=
			    (uint32_t)v8_smi(v8_field(w, s, v->sliced_offset));
			s = v8_field(w, s, v->sliced_parent);
		} else { /* a tree: flattened, or its characters are not
			  * contiguous */
			s = v8_field(w, s, v->cons_first);
			if (v8_type(v, w, s) >= 0 &&
			    string_length(v, w, s) != src->length)
				return false;
		}
	}
	return false;
}

/* Does this character end a line?  As V8 counts, except for a CR on its own. */
static bool
is_line_end(unsigned c)
{
	return c == '\n' || c == 0x2028 || c == 0x2029;
}

static void
lines_count(struct lang_walk *w, const struct source *src, struct v8_lines *l)
{
	uint8_t buf[8192];
	size_t width = src->one_byte ? 1 : 2, per = sizeof(buf) / width;

	vec_clear(&l->ends);
	for (uint32_t i = 0; i < src->length;) {
		size_t n = MIN(per, src->length - i);
		if (reader_read(
			w->mem, src->chars + i * width, buf, n * width) != 0)
			break;
		for (size_t j = 0; j < n; j++) {
			unsigned c = buf[j * width];
			if (width == 2)
				c |= (unsigned)buf[2 * j + 1] << 8;
			if (is_line_end(c) && l->ends.len <= LINES_MOST)
				*vec_push(&l->ends) = i + (uint32_t)j;
		}
		i += (uint32_t)n;
	}
}

static uint64_t
text_hash(const char *s)
{
	uint64_t h = 14695981039346656037u;

	while (*s != '\0')
		h = (h ^ (uint8_t)*s++) * 1099511628211u;
	return h;
}

/* The ends of the lines of a script, which dtrap counts itself; NULL if there
 * is no source. */
static const struct v8_lines *
script_lines(
    struct v8 *v, struct lang_walk *w, uint64_t script, const char *file)
{
	uint64_t name = text_hash(file);
	int32_t id = v8_smi(v8_field(w, script, v->script_ends + SCRIPT_ID));
	struct source src;
	struct v8_lines *l;

	if (!source_find(v, w, v8_field(w, script, v->script_source), &src) ||
	    src.length == 0)
		return NULL;
	for (unsigned i = 0; i < V8_SCRIPTS; i++) {
		l = &v->scripts[i];
		if (l->length == src.length && l->id == id && l->name == name)
			return l;
	}
	l = &v->scripts[v->scripts_next++ % V8_SCRIPTS];
	l->id = id;
	l->length = src.length;
	l->name = name;
	lines_count(w, &src, l);
	return l;
}

/* The number of lines that end before a position, by V8's own table; -1 if
 * there is none. */
static int
ends_before(
    const struct v8 *v, struct lang_walk *w, uint64_t ends, int position)
{
	int32_t lo = 0, hi;

	if (v8_type(v, w, ends) != v->type_array)
		return -1;
	hi = v8_smi(v8_field(w, ends, v->array_length));
	if (hi <= 0 || hi > ARRAY_MOST)
		return -1;
	while (lo < hi) {
		int32_t mid = lo + (hi - lo) / 2;
		if (v8_smi(v8_field(w, ends, v->array_data + 8 * mid)) <
		    position)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The line number, from 1; 0 if it is not known. */
static int
script_line(struct v8 *v, struct lang_walk *w, uint64_t script,
    const char *file, int position)
{
	uint64_t first = v8_field(w, script, v->script_name + SCRIPT_OFFSET);
	int64_t n =
	    ends_before(v, w, v8_field(w, script, v->script_ends), position);
	const struct v8_lines *l;

	if (n < 0) {
		l = script_lines(v, w, script, file);
		if (l == NULL || l->ends.len > LINES_MOST)
			return 0;
		n = (int64_t)sorted_count(
		    l->ends.len, i, l->ends.at[i] < (uint32_t)position);
	}
	n += 1 + (v8_is_smi(first) ? (int64_t)v8_smi(first) : 0);
	return n > 0 && n <= INT32_MAX ? (int)n : 0;
}

/* Read the name of a function, and push the function. */
static void
push_read(struct v8 *v, struct lang_walk *w, const struct v8_at *at,
    uint64_t bytecode)
{
	char text[V8_TEXT], file[V8_TEXT];
	const char *name = text;
	struct scope s = shared_scope(v, w, at->shared);
	uint64_t script = shared_script(v, w, at->shared);
	int position = -1, line = 0;

	string_text(v, w, s.name, text, sizeof(text));
	if (text[0] == '\0')
		string_text(v, w, s.inferred, text, sizeof(text));
	if (script == 0) {
		lang_push(w, name, NULL, 0, true);
		return;
	}
	if (name[0] == '\0')
		name = s.is_eval ? "eval" : "<anonymous>";
	string_text(
	    v, w, v8_field(w, script, v->script_name), file, sizeof(file));
	if (bytecode != 0 && at->offset >= 0)
		position = source_position(v, w, bytecode, at->offset);
	if (position < 0)
		position = s.start;
	if (position >= 0)
		line = script_line(v, w, script, file, position);
	lang_push(w, name, file[0] != '\0' ? file : NULL, line, false);
}

void
v8_push(struct v8 *v, struct lang_walk *w, const struct v8_at *at)
{
	struct v8_named now = {
		.shared = at->shared,
		.bytecode = at->bytecode,
		.offset = (unsigned)at->offset,
		.name = v8_field(w, at->shared, v->shared_name),
		.script = v8_field(w, at->shared, v->shared_script),
		.data = v8_field(w, at->shared, v->shared_data),
	};
	struct v8_named *known =
	    &v->named[(at->shared >> 3 ^ now.offset * 31) % V8_NAMED];
	size_t n = w->pushed.len;

	if (now.bytecode == 0 && at->offset >= 0)
		now.bytecode = shared_bytecode(v, w, at->shared);
	if (now.bytecode != 0) /* V8 may create the table at any time */
		now.lines = v8_field(w, now.bytecode, BYTECODE_LINES);
	now.word = known->word;
	if (now.word != 0 && memcmp(&now, known, sizeof(now)) == 0) {
		*vec_push(&w->pushed) = now.word;
		return;
	}
	push_read(v, w, at, now.bytecode);
	if (w->pushed.len == n)
		return;
	now.word = w->pushed.at[n];
	*known = now;
}
