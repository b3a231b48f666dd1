/*
 * print(): an object as a tree, by its type.
 *
 *	0x7ffd1000 = *
 *	                                            (struct point) {
 *	                                             .x = (int)1,
 *	                                             .tag = (char [4]) [
 *	                                              (char)'a',
 *	                                             ],
 *	                                            }
 *
 * Members that are 0 are left out.  What lies beyond `printsize', or was not
 * recorded, is one line of dots at the depth of the first member that is
 * missing; the braces that are open there close after it.
 *
 * Types come from debug information as well as from D, so sizes and offsets
 * are checked against the bytes that were recorded.
 */
#include <string.h>

#include "dlang/types.h"
#include "tracer/consume/consume_impl.h"

/* The most levels: a type with more contains itself. */
#define TYPED_DEPTH 32
/* The most unions at one byte: more would print the same again. */
#define TYPED_VIEWS 64
#define TYPED_NAME  512
/* The column where the data of a line begins (record.c). */
#define TYPED_INDENT 44

struct typed {
	struct printer *p;
	const uint8_t *at;
	size_t size;
	/* The closing brackets of those that are open, outermost first. */
	char closers[TYPED_DEPTH];
	unsigned depth; /* how many */
	size_t left;    /* the number of members and elements that may still be
			 * printed */
	bool partial;   /* the last array was cut */
	bool cut;       /* the dots are printed: nothing else follows */
};

static void typed_value(struct typed *t, const struct type *type, uint64_t off);

/* The definition of a tag of the target may be read only here. */
const struct type *
print_type_resolve(const struct type *type)
{
	return type_resolve((struct type *)(uintptr_t)type);
}

/* Without a name, just what it is. */
void
print_type_name(const struct type *type, char *buf, size_t size)
{
	if (type->name == NULL && type->kind == TYPE_STRUCT)
		snprintf(buf, size, "struct");
	else if (type->name == NULL && type->kind == TYPE_UNION)
		snprintf(buf, size, "union");
	else if (type->name == NULL && type->kind == TYPE_ENUM)
		snprintf(buf, size, "enum");
	else
		type_name(type, buf, size);
}

static bool
typed_is_aggregate(const struct type *type)
{
	return type->kind == TYPE_STRUCT || type->kind == TYPE_UNION ||
	    type->kind == TYPE_ARRAY;
}

/* What type is, by a name of it. */
static void
typed_type(struct printer *p, const char *name, const struct type *type)
{
	str_addc(p->to, '(');
	text_name(p, name);
	str_add(p->to, typed_is_aggregate(type) ? ") " : ")");
}

/* ---- lines ---- */

static void
typed_indent(struct typed *t, unsigned depth)
{
	str_printf(t->p->to, "%*s", (int)(TYPED_INDENT + depth), "");
}

/* Close the brackets that are open beyond `depth'. This is done as late as
 * possible, so that the dots for missing members come before them. */
static void
typed_close(struct typed *t, unsigned depth)
{
	while (t->depth > depth) {
		t->depth--;
		typed_indent(t, t->depth);
		str_addc(t->p->to, t->closers[t->depth]);
		str_add(t->p->to, t->depth > 0 ? ",\n" : "\n");
	}
}

static bool
typed_open(struct typed *t, const char *brackets)
{
	if (t->depth == TYPED_DEPTH)
		return false;
	t->closers[t->depth++] = brackets[1];
	str_addc(t->p->to, brackets[0]);
	str_addc(t->p->to, '\n');
	return true;
}

static void
typed_dots(struct typed *t, unsigned depth)
{
	typed_indent(t, depth);
	str_add(t->p->to, "...\n");
	t->cut = true;
}

/* The end of a value that has no brackets. */
static void
typed_end(struct typed *t)
{
	str_add(t->p->to, t->depth > 0 ? ",\n" : "\n");
}

/* ---- what there is of a value ---- */

/* A scalar is recorded if all of it is; other values as far as their bytes
 * go. */
static bool
typed_is_there(const struct typed *t, const struct type *type, uint64_t off)
{
	if (off >= t->size)
		return false;
	return typed_is_aggregate(type) || type->size <= t->size - off;
}

static bool
typed_is_zero(const struct typed *t, uint64_t off, uint64_t size)
{
	for (size = MIN(size, t->size - off); size > 0; size--)
		if (t->at[off + size - 1] != 0)
			return false;
	return true;
}

/* Other types of one byte are printed as numbers. */
static bool
typed_is_char(const struct type *type)
{
	return type->kind == TYPE_INT && type->size == 1 &&
	    type->name != NULL && strcmp(type->name, "char") == 0;
}

/* ---- values ---- */

static void
typed_integer(struct typed *t, const struct type *type, uint64_t off)
{
	uint32_t size = (uint32_t)type->size;
	const uint8_t *v = t->at + off;

	if (typed_is_char(type) && *v >= ' ' && *v <= '~')
		str_printf(t->p->to, "'%c'", *v);
	else if (type->is_signed)
		str_printf(t->p->to, "%lld", (long long)value_int(v, size));
	else
		str_printf(
		    t->p->to, "%llu", (unsigned long long)value_uint(v, size));
	typed_end(t);
}

static void
typed_enum(struct typed *t, const struct type *type, uint64_t off)
{
	uint32_t size = (uint32_t)type->size;
	int64_t v = type->is_signed ? value_int(t->at + off, size) :
				      (int64_t)value_uint(t->at + off, size);
	const char *name = NULL;

	for (size_t i = 0; i < type->nenumerators && name == NULL; i++)
		if (type->enumerators[i].value == v)
			name = type->enumerators[i].name;
	if (name != NULL)
		text_name(t->p, name);
	else
		str_printf(t->p->to, "%lld", (long long)v);
	typed_end(t);
}

static void
typed_pointer(struct typed *t, const struct type *type, uint64_t off)
{
	const struct type *to = print_type_resolve(type->base);
	uint64_t addr = value_uint(t->at + off, (uint32_t)type->size);
	char name[TYPED_NAME];

	if (to != NULL && to->kind == TYPE_FUNC && addr != 0) {
		addr_text(t->p, addr, name, sizeof(name));
		text_name(t->p, name);
	} else {
		str_printf(t->p->to, "0x%llx", (unsigned long long)addr);
	}
	typed_end(t);
}

/* Characters end at a NUL. */
static void
typed_array(struct typed *t, const struct type *type, uint64_t off)
{
	const struct type *of = print_type_resolve(type->base);
	unsigned depth = t->depth + 1;
	char name[TYPED_NAME];

	if (of == NULL || of->size == 0 || !typed_open(t, "[]"))
		return;
	print_type_name(type->base, name, sizeof(name));
	for (uint64_t i = 0; i < type->nelems && !t->cut; i++) {
		uint64_t at = off + i * of->size;
		if (!typed_is_there(t, of, at) || t->left == 0) {
			t->partial = true;
			break;
		}
		t->left--;
		if (typed_is_char(of) && t->at[at] == 0)
			break;
		typed_close(t, depth);
		typed_indent(t, depth);
		typed_type(t->p, name, of);
		typed_value(t, type->base, at);
	}
	/* Dots for elements are in it only where nothing is around it. */
	if (!t->cut && depth > 1)
		typed_close(t, depth - 1);
}

uint64_t
print_type_bits(const struct type_member *m, const uint8_t *at, size_t size)
{
	const struct type *type = print_type_resolve(m->type);
	size_t n = (size_t)MIN(type->size, 8);
	uint64_t v = value_uint(at, (uint32_t)MIN(n, size));
	unsigned spare = 64 - MIN(m->bit_size, 64);

	/* Shift to the top and back, with the sign. */
	v = v >> MIN(m->bit_offset, 63) << spare;
	return type->is_signed ? (uint64_t)((int64_t)v >> spare) : v >> spare;
}

static void
typed_member(
    struct typed *t, const struct type_member *m, uint64_t off, unsigned depth)
{
	const struct type *type = print_type_resolve(m->type);
	char name[TYPED_NAME];

	if (type == NULL || (m->name == NULL && m->bit_size != 0))
		return;
	if (t->partial || !typed_is_there(t, type, off)) {
		typed_dots(t, depth);
		return;
	}
	if (m->bit_size != 0 ?
		print_type_bits(m, t->at + off, t->size - off) == 0 :
		typed_is_zero(t, off, type->size))
		return;
	typed_close(t, depth);
	typed_indent(t, depth);
	if (m->name != NULL) {
		str_addc(t->p->to, '.');
		text_name(t->p, m->name);
		str_add(t->p->to, " = ");
	}
	print_type_name(m->type, name, sizeof(name));
	typed_type(t->p, name, type);
	if (m->bit_size == 0) {
		typed_value(t, m->type, off);
		return;
	}
	str_printf(t->p->to, type->is_signed ? "%lld" : "%llu",
	    (long long)print_type_bits(m, t->at + off, t->size - off));
	typed_end(t);
}

static void
typed_struct(struct typed *t, const struct type *type, uint64_t off)
{
	unsigned depth = t->depth + 1;

	if (!typed_open(t, "{}"))
		return;
	for (size_t i = 0; i < type->nmembers && !t->cut && t->left > 0; i++) {
		t->left--;
		typed_member(
		    t, &type->members[i], off + type->members[i].offset, depth);
	}
}

static void
typed_string(struct typed *t, uint64_t off)
{
	const char *s = (const char *)t->at + off;

	str_addc(t->p->to, '"');
	text_add_quoted(t->p->to, s, strnlen(s, t->size - off), '"');
	str_addc(t->p->to, '"');
	typed_end(t);
}

/* What typed_is_there(), after its type. */
static void
typed_value(struct typed *t, const struct type *type, uint64_t off)
{
	type = print_type_resolve(type);
	switch (type->kind) {
	case TYPE_INT:
		if (type->size <= 8) {
			typed_integer(t, type, off);
			break;
		}
		str_add(t->p->to, "...");
		typed_end(t);
		break;
	case TYPE_ENUM: typed_enum(t, type, off); break;
	case TYPE_FLOAT:
		str_printf(t->p->to, "%Lg",
		    value_float(t->at + off, (uint32_t)type->size));
		typed_end(t);
		break;
	case TYPE_POINTER: typed_pointer(t, type, off); break;
	case TYPE_ARRAY: typed_array(t, type, off); break;
	case TYPE_STRUCT:
	case TYPE_UNION: typed_struct(t, type, off); break;
	case TYPE_STRING: typed_string(t, off); break;
	case TYPE_VOID:
	case TYPE_FUNC:
	case TYPE_FORWARD:
	case TYPE_STACK:
	case TYPE_SYMADDR:
	case TYPE_USYMADDR:
	case TYPE_DYN:
	case TYPE_TYPEDEF:
	case TYPE_CONST:
	case TYPE_VOLATILE:
	case TYPE_RESTRICT:
		str_add(t->p->to, "...");
		typed_end(t);
		break;
	}
}

void
print_typed(
    struct printer *p, const struct type *type, const void *v, size_t size)
{
	size_t most = (size_t)option_get(p->c->env.opts, OPT_PRINTSIZE);
	struct typed t = { .p = p, .at = v, .size = MIN(size, most) };
	t.left = (t.size + 64) * TYPED_VIEWS;
	const struct type *of = print_type_resolve(type);
	char name[TYPED_NAME];

	if (of == NULL) {
		print_dump(p, v, size);
		return;
	}
	print_type_name(type, name, sizeof(name));
	typed_type(p, name, of);
	if (!typed_is_there(&t, of, 0)) {
		str_add(p->to, "...\n");
		return;
	}
	typed_value(&t, type, 0);
	if (t.partial && !t.cut)
		typed_dots(&t, 1);
	typed_close(&t, 0);
}

void
print_object(struct printer *p, uint64_t addr, const struct type *type,
    const void *v, size_t size)
{
	str_printf(p->to, "0x%llx = *\n%*s", (unsigned long long)addr,
	    TYPED_INDENT, "");
	print_typed(p, type, v, size);
}
