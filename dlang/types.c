/*
 * The type graph; see types.h.
 *
 * A table keeps every type it ever made, and a hash from names to types.
 * Pointers and D's own types are made once, so that most comparisons end at
 * the first pointer test; debug information brings in duplicates, which
 * type_equal() compares by structure, stopping at tags.
 */
#include "dlang/types.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "dlang/base/hash.h"
#include "dlang/base/mem.h"
#include "dlang/base/str.h"

struct types {
	struct arena arena;
	struct hash by_name;  /* "int", "struct foo" -> struct type */
	struct hash pointers; /* address of the base -> its pointer type */
	struct type *string;
};

/* clang-format off */
static const struct { const char *name; enum type_kind kind; uint8_t size;
	bool is_signed; } basic[] = {
	{ "void",		    TYPE_VOID,	0,  false },
	{ "char",		    TYPE_INT,	1,  true },
	{ "signed char",	    TYPE_INT,	1,  true },
	{ "unsigned char",	    TYPE_INT,	1,  false },
	{ "short",		    TYPE_INT,	2,  true },
	{ "unsigned short",	    TYPE_INT,	2,  false },
	{ "int",		    TYPE_INT,	4,  true },
	{ "unsigned int",	    TYPE_INT,	4,  false },
	{ "long",		    TYPE_INT,	8,  true },
	{ "unsigned long",	    TYPE_INT,	8,  false },
	{ "long long",		    TYPE_INT,	8,  true },
	{ "unsigned long long",	    TYPE_INT,	8,  false },
	{ "_Bool",		    TYPE_INT,	1,  false },
	{ "float",		    TYPE_FLOAT, 4,  true },
	{ "double",		    TYPE_FLOAT, 8,  true },
	{ "long double",	    TYPE_FLOAT, 16, true },
	{ "string",		    TYPE_STRING, 0, false },
	{ "stack",		    TYPE_STACK, 8,  false },
	{ "_symaddr",		    TYPE_SYMADDR, 8, false },
	{ "_usymaddr",		    TYPE_USYMADDR, 8, false },
	{ "<DYN>",		    TYPE_DYN,	0,  false },
};

static const struct { const char *name, *of; } aliases[] = {
	{ "int8_t", "signed char" },	{ "uint8_t", "unsigned char" },
	{ "int16_t", "short" },		{ "uint16_t", "unsigned short" },
	{ "int32_t", "int" },		{ "uint32_t", "unsigned int" },
	{ "int64_t", "long" },		{ "uint64_t", "unsigned long" },
	{ "intptr_t", "long" },		{ "uintptr_t", "unsigned long" },
	{ "size_t", "unsigned long" },	{ "ssize_t", "long" },
	{ "ptrdiff_t", "long" },	{ "uchar_t", "unsigned char" },
	{ "ushort_t", "unsigned short" }, { "uint_t", "unsigned int" },
	{ "ulong_t", "unsigned long" },	{ "longlong_t", "long long" },
	{ "u_longlong_t", "unsigned long long" },
	{ "int_t", "int" },		{ "id_t", "int" },
	{ "pid_t", "int" },		{ "uid_t", "unsigned int" },
	{ "gid_t", "unsigned int" },	{ "processorid_t", "int" },
	{ "off_t", "long" },		{ "time_t", "long" },
	{ "offset_t", "long" },
	{ "mode_t", "unsigned int" },	{ "dev_t", "unsigned long" },
	{ "ino_t", "unsigned long" },	{ "caddr_t", NULL },
	{ "uint", "unsigned int" },	{ "ushort", "unsigned short" },
	{ "ulong", "unsigned long" },	{ "bool", "_Bool" },
	{ "__s8", "signed char" },	{ "__u8", "unsigned char" },
	{ "__s16", "short" },		{ "__u16", "unsigned short" },
	{ "__s32", "int" },		{ "__u32", "unsigned int" },
	{ "__s64", "long long" },	{ "__u64", "unsigned long long" },
};

/* Other spellings of the basic types, as the words of C may be ordered. */
static const struct { const char *name, *of; } spellings[] = {
	{ "unsigned", "unsigned int" },	{ "signed", "int" },
	{ "signed int", "int" },	{ "short int", "short" },
	{ "signed short", "short" },
	{ "unsigned short int", "unsigned short" },
	{ "short unsigned int", "unsigned short" },
	{ "long int", "long" },		{ "signed long", "long" },
	{ "unsigned long int", "unsigned long" },
	{ "long unsigned int", "unsigned long" },
	{ "long long int", "long long" },
	{ "signed long long", "long long" },
	{ "unsigned long long int", "unsigned long long" },
	{ "long long unsigned int", "unsigned long long" },
};
/* clang-format on */

struct type *
types_new(struct types *ts, enum type_kind kind)
{
	struct type *t = arena_alloc(&ts->arena, sizeof(*t));

	t->kind = kind;
	return t;
}

static void
add_builtin_names(struct types *ts)
{
	for (size_t i = 0; i < ARRAY_SIZE(basic); i++) {
		struct type *t = types_new(ts, basic[i].kind);
		t->name = basic[i].name;
		t->size = basic[i].size;
		t->is_signed = basic[i].is_signed;
		t->boolean = strcmp(t->name, "_Bool") == 0;
		hash_set_str(&ts->by_name, t->name, t);
	}
	for (size_t i = 0; i < ARRAY_SIZE(spellings); i++)
		hash_set_str(&ts->by_name, spellings[i].name,
		    hash_get_str(&ts->by_name, spellings[i].of));
	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++) {
		struct type *t = types_new(ts, TYPE_TYPEDEF);
		t->name = aliases[i].name;
		t->base = aliases[i].of != NULL ?
		    hash_get_str(&ts->by_name, aliases[i].of) :
		    types_pointer(ts, hash_get_str(&ts->by_name, "char"));
		t->size = t->base->size;
		hash_set_str(&ts->by_name, t->name, t);
	}
}

struct types *
types_create(uint32_t strsize)
{
	struct types *ts = mem_zalloc(sizeof(*ts));

	arena_init(&ts->arena);
	add_builtin_names(ts);
	ts->string = hash_get_str(&ts->by_name, "string");
	types_set_strsize(ts, strsize);
	return ts;
}

void
types_destroy(struct types *ts)
{
	if (ts == NULL)
		return;
	hash_fini(&ts->by_name);
	hash_fini(&ts->pointers);
	arena_fini(&ts->arena);
	mem_free(ts);
}

void
types_set_strsize(struct types *ts, uint32_t strsize)
{
	ts->string->size = strsize;
}

/* "struct foo *" and the like: the name without its last `*', or NULL. */
static struct type *
lookup_pointer(struct types *ts, const char *name)
{
	size_t len = strlen(name);

	if (len < 2 || name[len - 1] != '*')
		return NULL;
	for (len--; len > 0 && name[len - 1] == ' '; len--)
		;
	char *base = mem_strndup(name, len);
	struct type *t = types_lookup(ts, base);
	mem_free(base);
	return t != NULL ? types_pointer(ts, t) : NULL;
}

struct type *
types_lookup(struct types *ts, const char *name)
{
	struct type *t = hash_get_str(&ts->by_name, name);

	if (t != NULL)
		return t;
	if (strncmp(name, "const ", 6) == 0) {
		struct type *base = types_lookup(ts, name + 6);
		if (base == NULL)
			return NULL;
		/* `const char *' is a pointer to const, not const itself. */
		if (name[strlen(name) - 1] != '*') {
			t = types_new(ts, TYPE_CONST);
			t->base = base;
			t->size = base->size;
			types_define(ts, name, t);
			return t;
		}
	}
	return lookup_pointer(ts, name);
}

void
types_each_name(struct types *ts, types_name_fn *each, void *ctx)
{
	hash_foreach(e, &ts->by_name) {
		if (strpbrk(e->str, " <") == NULL)
			each(ctx, e->str);
	}
}

void
types_each_defined(struct types *ts, types_name_fn *each, void *ctx)
{
	hash_foreach(e, &ts->by_name) {
		const struct type *t = e->value;
		if (strchr(e->str, ' ') != NULL &&
		    (t->kind == TYPE_STRUCT || t->kind == TYPE_UNION ||
			t->kind == TYPE_ENUM))
			each(ctx, e->str);
	}
}

struct type *
types_pointer(struct types *ts, struct type *to)
{
	struct type *t = hash_get(&ts->pointers, (uintptr_t)to);

	if (t != NULL)
		return t;
	t = types_new(ts, TYPE_POINTER);
	t->size = 8;
	t->base = to;
	hash_set(&ts->pointers, (uintptr_t)to, t);
	return t;
}

struct type *
types_array(struct types *ts, struct type *of, uint64_t n)
{
	struct type *t = types_new(ts, TYPE_ARRAY);

	t->base = of;
	t->nelems = n;
	t->size = of->size * n;
	return t;
}

void
type_member_bits(
    struct types *ts, struct type_member *m, uint64_t bits, uint64_t width)
{
	const struct type *t = type_resolve(m->type);
	uint64_t unit = t->size * 8;

	if (bits % unit + width > unit) {
		m->type =
		    types_lookup(ts, t->is_signed ? "long" : "unsigned long");
		unit = 8; /* from the byte that it begins in */
	}
	m->offset = bits / unit * (unit / 8);
	m->bit_offset = (uint8_t)(bits % unit);
	m->bit_size = (uint8_t)width;
}

char *
types_strdup(struct types *ts, const char *s)
{
	return arena_strdup(&ts->arena, s);
}

int
types_define(struct types *ts, const char *name, struct type *t)
{
	if (hash_get_str(&ts->by_name, name) != NULL)
		return -EEXIST;
	hash_set_str(&ts->by_name, arena_strdup(&ts->arena, name), t);
	return 0;
}

void
type_disown(struct type *t)
{
	if (t->kind != TYPE_FORWARD)
		t->forward_of = t->kind;
	t->kind = TYPE_FORWARD;
	t->complete = NULL;
	t->foreign = false;
	t->nmembers = t->nenumerators = 0;
	t->size = 0;
}

struct type *
type_resolve(struct type *t)
{
	/* Bounded: a typedef cycle can only come from damaged debug
	 * information, and must not hang the compiler. */
	for (int i = 0; i < 64 && t != NULL; i++) {
		if (t->kind == TYPE_FORWARD && t->complete != NULL)
			t->complete(t);
		if (t->kind != TYPE_TYPEDEF && t->kind != TYPE_CONST &&
		    t->kind != TYPE_VOLATILE && t->kind != TYPE_RESTRICT)
			return t;
		t = t->base;
	}
	return t;
}

static const struct type *
resolve(const struct type *t)
{
	return type_resolve((struct type *)(uintptr_t)t);
}

/* The kind a tag belongs to, defined or not. */
static enum type_kind
tag_kind(const struct type *t)
{
	return t->kind == TYPE_FORWARD ? t->forward_of : t->kind;
}

static bool
same_name(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* Types that are compared before two of damaged debug information are taken to
 * differ: functions may take themselves there. */
#define EQUAL_TYPES 10000

static bool equal(const struct type *a, const struct type *b, unsigned *left);

static bool
func_equal(const struct type *a, const struct type *b, unsigned *left)
{
	if (a->nmembers != b->nmembers || a->varargs != b->varargs ||
	    !equal(a->base, b->base, left))
		return false;
	for (size_t i = 0; i < a->nmembers; i++)
		if (!equal(a->members[i].type, b->members[i].type, left))
			return false;
	return true;
}

static bool
equal(const struct type *a, const struct type *b, unsigned *left)
{
	if (*left == 0)
		return false;
	--*left;
	a = resolve(a);
	b = resolve(b);
	if (a == b)
		return true;
	if (a == NULL || b == NULL || tag_kind(a) != tag_kind(b))
		return false;
	switch (tag_kind(a)) {
	case TYPE_INT:
		return a->size == b->size && a->is_signed == b->is_signed;
	case TYPE_FLOAT: return a->size == b->size;
	case TYPE_POINTER: return equal(a->base, b->base, left);
	case TYPE_ARRAY:
		return a->nelems == b->nelems && equal(a->base, b->base, left);
	case TYPE_ENUM:
	case TYPE_STRUCT:
	case TYPE_UNION: return same_name(a->name, b->name);
	case TYPE_FUNC: return func_equal(a, b, left);
	case TYPE_VOID:
	case TYPE_STRING:
	case TYPE_STACK:
	case TYPE_SYMADDR:
	case TYPE_USYMADDR:
	case TYPE_DYN: return true;
	case TYPE_TYPEDEF:
	case TYPE_CONST:
	case TYPE_VOLATILE:
	case TYPE_RESTRICT:
	case TYPE_FORWARD: return false;
	}
	return false;
}

bool
type_equal(const struct type *a, const struct type *b)
{
	unsigned left = EQUAL_TYPES;

	return equal(a, b, &left);
}

bool
type_is_integer(const struct type *t)
{
	t = resolve(t);
	if (t == NULL)
		return false;
	/* Wider ones (__int128) do not fit a register: bytes to be copied. */
	return (t->kind == TYPE_INT && t->size <= 8) || t->kind == TYPE_ENUM ||
	    (t->kind == TYPE_FORWARD && t->forward_of == TYPE_ENUM);
}

bool
type_is_bool(const struct type *t)
{
	t = resolve(t);
	return t != NULL && t->kind == TYPE_INT && t->boolean;
}

bool
type_is_scalar(const struct type *t)
{
	t = resolve(t);
	return type_is_integer(t) || (t != NULL && t->kind == TYPE_POINTER);
}

bool
type_is_string(const struct type *t)
{
	t = resolve(t);
	return t != NULL && t->kind == TYPE_STRING;
}

bool
type_is_stringlike(const struct type *t)
{
	t = resolve(t);
	if (t == NULL)
		return false;
	if (t->kind == TYPE_STRING)
		return true;
	if (t->kind != TYPE_POINTER && t->kind != TYPE_ARRAY)
		return false;
	const struct type *b = resolve(t->base);
	return b != NULL && b->kind == TYPE_INT && b->size == 1;
}

bool
type_is_byref(const struct type *t)
{
	t = resolve(t);
	if (t == NULL)
		return false;
	return t->kind == TYPE_STRING || t->kind == TYPE_STRUCT ||
	    t->kind == TYPE_UNION || t->kind == TYPE_ARRAY ||
	    ((t->kind == TYPE_FLOAT || t->kind == TYPE_INT) && t->size > 8);
}

/* Unnamed members nest no deeper in any program worth reading; damaged debug
 * information may nest without end. */
#define MEMBER_DEPTH 32
/* ... and breed: so many are looked at. */
#define MEMBERS_SEEN 1000000

static const struct type_member *
find_member(struct type *t, const char *name, uint64_t *offset, int depth,
    unsigned *left)
{
	t = type_resolve(t);
	if (t == NULL || depth > MEMBER_DEPTH ||
	    (t->kind != TYPE_STRUCT && t->kind != TYPE_UNION))
		return NULL;
	for (size_t i = 0; i < t->nmembers && *left != 0; i++) {
		struct type_member *m = &t->members[i];
		--*left;
		if (m->name != NULL && strcmp(m->name, name) == 0) {
			*offset += m->offset;
			return m;
		}
		if (m->name != NULL)
			continue;
		uint64_t inner = *offset + m->offset;
		const struct type_member *found =
		    find_member(m->type, name, &inner, depth + 1, left);
		if (found != NULL) {
			*offset = inner;
			return found;
		}
	}
	return NULL;
}

const struct type_member *
type_member(struct type *t, const char *name, uint64_t *offset)
{
	unsigned left = MEMBERS_SEEN;

	return find_member(t, name, offset, 0, &left);
}

/* ---- printing ---- */

static const char *
tag_word(enum type_kind k)
{
	return k == TYPE_UNION ? "union" : k == TYPE_ENUM ? "enum" : "struct";
}

static bool
is_qualifier(const struct type *t)
{
	return t->kind == TYPE_CONST || t->kind == TYPE_VOLATILE ||
	    t->kind == TYPE_RESTRICT;
}

static const char *
qualifier(const struct type *t)
{
	return t->kind == TYPE_CONST ? "const" :
	    t->kind == TYPE_VOLATILE ? "volatile" :
				       "restrict";
}

static void
name_base(const struct type *t, struct str *out)
{
	for (int i = 0; i < 64 && t != NULL && is_qualifier(t); i++) {
		str_printf(out, "%s ", qualifier(t));
		t = t->base;
	}
	if (t == NULL)
		return;
	switch (t->kind) {
	case TYPE_STRUCT:
	case TYPE_UNION:
	case TYPE_ENUM:
	case TYPE_FORWARD:
		str_printf(out, "%s %s", tag_word(tag_kind(t)),
		    t->name != NULL ? t->name : "(anon)");
		return;
	case TYPE_VOID:
	case TYPE_INT:
	case TYPE_FLOAT:
	case TYPE_TYPEDEF:
	case TYPE_STRING:
	case TYPE_STACK:
	case TYPE_SYMADDR:
	case TYPE_USYMADDR:
	case TYPE_DYN:
		str_add(out, t->name != NULL ? t->name : "(anon)");
		return;
	case TYPE_CONST:
	case TYPE_VOLATILE:
	case TYPE_RESTRICT: /* of themselves */
	case TYPE_POINTER:
	case TYPE_ARRAY:
	case TYPE_FUNC: return; /* name_type() came past these */
	}
}

/* Has it, under its qualifiers, a declarator? */
static bool
is_derived(const struct type *t)
{
	for (int i = 0; i < 64 && t != NULL && is_qualifier(t); i++)
		t = t->base;
	return t != NULL &&
	    (t->kind == TYPE_POINTER || t->kind == TYPE_ARRAY ||
		t->kind == TYPE_FUNC);
}

/* Types that a name is made of: more is of damaged debug information, where
 * functions take themselves. */
#define NAME_TYPES 500

static void name_type(const struct type *t, const char *inner,
    bool inner_is_ptr, unsigned *left, struct str *out);

/* `*const p': the word stands behind the star.  An array's belongs to its
 * elements, where it cannot be told from theirs. */
static void
name_qualified(const struct type *t, const char *inner, bool inner_is_ptr,
    unsigned *left, struct str *out)
{
	const struct type *of = type_resolve((struct type *)(uintptr_t)t);
	struct str next = { 0 };

	if (of->kind == TYPE_POINTER)
		str_printf(&next, "%s%s", qualifier(t),
		    inner[0] != '\0' && inner[0] != '[' ? " " : "");
	str_add(&next, inner);
	name_type(t->base, str_c(&next), inner_is_ptr, left, out);
	str_fini(&next);
}

/* Wrap the declarator built so far (`inner') in what t adds, from the outside
 * in, and end with the base type's name before it. */
static void
name_type(const struct type *t, const char *inner, bool inner_is_ptr,
    unsigned *left, struct str *out)
{
	struct str next = { 0 };

	if (t == NULL || *left == 0) {
		str_add(out, "<unknown>");
		return;
	}
	--*left;
	bool wrap = inner_is_ptr;
	if (is_qualifier(t) && is_derived(t->base)) {
		name_qualified(t, inner, inner_is_ptr, left, out);
		return;
	}
	switch (t->kind) {
	case TYPE_POINTER:
		str_printf(&next, "*%s", inner);
		name_type(t->base, str_c(&next), true, left, out);
		break;
	case TYPE_ARRAY:
		str_printf(&next, wrap ? "(%s)[%lu]" : "%s[%lu]", inner,
		    (unsigned long)t->nelems);
		name_type(t->base, str_c(&next), false, left, out);
		break;
	case TYPE_FUNC:
		str_printf(&next, wrap ? "(%s)(" : "%s(", inner);
		for (size_t i = 0; i<t->nmembers && * left> 0; i++) {
			if (i > 0)
				str_add(&next, ", ");
			name_type(t->members[i].type, "", false, left, &next);
		}
		if (t->varargs)
			str_add(&next, t->nmembers > 0 ? ", ..." : "...");
		str_addc(&next, ')');
		name_type(t->base, str_c(&next), false, left, out);
		break;
	case TYPE_VOID:
	case TYPE_INT:
	case TYPE_FLOAT:
	case TYPE_ENUM:
	case TYPE_STRUCT:
	case TYPE_UNION:
	case TYPE_TYPEDEF:
	case TYPE_CONST:
	case TYPE_VOLATILE:
	case TYPE_RESTRICT:
	case TYPE_FORWARD:
	case TYPE_STRING:
	case TYPE_STACK:
	case TYPE_SYMADDR:
	case TYPE_USYMADDR:
	case TYPE_DYN:
		name_base(t, out);
		if (inner[0] != '\0')
			str_printf(out, " %s", inner);
		break;
	}
	str_fini(&next);
}

char *
type_name(const struct type *t, char *buf, size_t size)
{
	struct str s = { 0 }, shown = { 0 };
	unsigned left = NAME_TYPES;

	name_type(t, "", false, &left, &s);
	/* Messages that have lines of their own are made of it. */
	str_add_shown(&shown, SHOW_NAME, str_c(&s), s.len);
	snprintf(buf, size, "%s", str_c(&shown));
	str_fini(&shown);
	str_fini(&s);
	return buf;
}

/* ---- how DIF sees it ---- */

static enum ctf_kind
ctf_kind(const struct type *t)
{
	switch (t->kind) {
	case TYPE_INT:
	case TYPE_VOID:
	case TYPE_STACK:
	case TYPE_SYMADDR:
	case TYPE_USYMADDR: return CTF_INTEGER;
	case TYPE_FLOAT: return CTF_FLOAT;
	case TYPE_ENUM: return CTF_ENUM;
	case TYPE_POINTER: return CTF_POINTER;
	case TYPE_ARRAY: return CTF_ARRAY;
	case TYPE_STRUCT: return CTF_STRUCT;
	case TYPE_UNION: return CTF_UNION;
	case TYPE_FUNC: return CTF_FUNCTION;
	case TYPE_FORWARD: return CTF_FORWARD;
	case TYPE_TYPEDEF:
	case TYPE_CONST:
	case TYPE_VOLATILE:
	case TYPE_RESTRICT:
	case TYPE_STRING:
	case TYPE_DYN: return CTF_UNKNOWN;
	}
	return CTF_UNKNOWN;
}

struct dif_type
type_dif(const struct type *t)
{
	struct dif_type d = { 0 };

	t = resolve(t);
	if (t == NULL)
		return d;
	d.kind = t->kind == TYPE_STRING ? DIF_TYPE_STRING : DIF_TYPE_CTF;
	d.ckind = (uint8_t)ctf_kind(t);
	d.flags = type_is_byref(t) ? DIF_BY_REF : 0;
	d.is_signed = t->is_signed;
	d.size = t->size > UINT32_MAX ? UINT32_MAX : (uint32_t)t->size;
	if (t->kind == TYPE_STRING)
		d.size++; /* its NUL; sizeof counts the characters */
	if (t->kind == TYPE_FUNC)
		d.size = 8; /* its address */
	return d;
}
