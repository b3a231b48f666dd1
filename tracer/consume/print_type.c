/*
 * print(): a value as a tree, by its type.
 *
 *	struct point {
 *	    int x = 0x1
 *	    char [4] tag = [ "abc" ]
 *	}
 *
 * Types come from debug information as well as from D, so sizes and offsets
 * are checked against the bytes that were recorded.
 */
#include <string.h>

#include "dlang/types.h"
#include "tracer/consume/consume_impl.h"

#define TYPED_DEPTH 32 /* of nesting: more is a type that holds itself */
#define TYPED_NAME  512

struct typed {
	struct printer *p;
	const uint8_t *at;
	size_t size;
	unsigned depth;
};

static void typed_value(struct typed *t, const struct type *type, uint64_t off);

/* A tag of the target may be defined here for the first time. */
static const struct type *
typed_resolve(const struct type *type)
{
	return type_resolve((struct type *)(uintptr_t)type);
}

static void
typed_indent(struct typed *t)
{
	str_printf(t->p->to, "%*s", (int)t->depth * 4, "");
}

static bool
typed_is_char(const struct type *type)
{
	return type->kind == TYPE_INT && type->size == 1 &&
	    type->name != NULL && strstr(type->name, "char") != NULL;
}

static void
typed_integer(struct typed *t, const struct type *type, uint64_t off)
{
	char c = (char)t->at[off];

	if (typed_is_char(type)) {
		str_addc(t->p->to, '\'');
		text_add_quoted(t->p->to, &c, 1, '\'');
		str_addc(t->p->to, '\'');
		return;
	}
	str_printf(t->p->to, "%#llx",
	    (unsigned long long)value_uint(t->at + off, (uint32_t)type->size));
}

static void
typed_enum(struct typed *t, const struct type *type, uint64_t off)
{
	uint32_t size = (uint32_t)type->size;
	int64_t v = type->is_signed ? value_int(t->at + off, size) :
				      (int64_t)value_uint(t->at + off, size);

	for (size_t i = 0; i < type->nenumerators; i++)
		if (type->enumerators[i].value == v) {
			str_add(t->p->to, type->enumerators[i].name);
			return;
		}
	str_printf(t->p->to, "%lld", (long long)v);
}

static void
typed_pointer(struct typed *t, const struct type *type, uint64_t off)
{
	const struct type *to = typed_resolve(type->base);
	uint64_t addr = value_uint(t->at + off, (uint32_t)type->size);
	char name[TYPED_NAME];

	if (to != NULL && to->kind == TYPE_FUNC && addr != 0) {
		addr_text(t->p, addr, name, sizeof(name));
		text_add(t->p, name, strlen(name));
		return;
	}
	str_printf(t->p->to, "0x%llx", (unsigned long long)addr);
}

static void
typed_quote(struct typed *t, uint64_t off, size_t len)
{
	str_addc(t->p->to, '"');
	text_add_quoted(t->p->to, (const char *)t->at + off, len, '"');
	str_addc(t->p->to, '"');
}

static void
typed_array(struct typed *t, const struct type *type, uint64_t off)
{
	const struct type *of = typed_resolve(type->base);
	uint64_t n = type->nelems;
	size_t len;

	if (of == NULL || of->size == 0)
		n = 0;
	else
		n = MIN(n, (t->size - off) / of->size);
	if (n != 0 && typed_is_char(of) &&
	    text_is_printable(t->at + off, n, &len)) {
		str_add(t->p->to, t->depth == 0 ? "" : "[ ");
		typed_quote(t, off, len);
		str_add(t->p->to, t->depth == 0 ? "" : " ]");
		return;
	}
	str_add(t->p->to, "[ ");
	t->depth++;
	for (uint64_t i = 0; i < n; i++) {
		str_add(t->p->to, i != 0 ? ", " : "");
		typed_value(t, type->base, off + i * of->size);
	}
	t->depth--;
	str_add(t->p->to, n != 0 ? " ]" : "]");
}

static void
typed_bits(struct typed *t, const struct type_member *m, uint64_t off)
{
	const struct type *type = typed_resolve(m->type);
	uint32_t size = (uint32_t)MIN(type->size, 8);

	if (off > t->size || size > t->size - off || m->bit_size > 64 ||
	    m->bit_offset > 63)
		return;
	uint64_t v = value_uint(t->at + off, size) >> m->bit_offset;
	if (m->bit_size < 64)
		v &= (1ULL << m->bit_size) - 1;
	str_printf(t->p->to, "%#llx", (unsigned long long)v);
}

static void
typed_struct(struct typed *t, const struct type *type, uint64_t off)
{
	char name[TYPED_NAME];

	str_add(t->p->to, "{\n");
	t->depth++;
	for (size_t i = 0; i < type->nmembers; i++) {
		const struct type_member *m = &type->members[i];
		if (m->type == NULL || (m->name == NULL && m->bit_size != 0))
			continue;
		typed_indent(t);
		type_name(m->type, name, sizeof(name));
		str_printf(t->p->to, "%s%s%s = ", name,
		    m->name != NULL ? " " : "", m->name != NULL ? m->name : "");
		if (m->bit_size != 0)
			typed_bits(t, m, off + m->offset);
		else
			typed_value(t, m->type, off + m->offset);
		str_addc(t->p->to, '\n');
	}
	t->depth--;
	typed_indent(t);
	str_addc(t->p->to, '}');
}

static void
typed_value(struct typed *t, const struct type *type, uint64_t off)
{
	type = typed_resolve(type);
	if (type == NULL || t->depth > TYPED_DEPTH || off > t->size ||
	    type->size > t->size - off) {
		str_add(t->p->to, "..."); /* not recorded */
		return;
	}
	switch (type->kind) {
	case TYPE_INT: typed_integer(t, type, off); break;
	case TYPE_ENUM: typed_enum(t, type, off); break;
	case TYPE_FLOAT:
		str_printf(t->p->to, "%+.7Le",
		    value_float(t->at + off, (uint32_t)type->size));
		break;
	case TYPE_POINTER: typed_pointer(t, type, off); break;
	case TYPE_ARRAY: typed_array(t, type, off); break;
	case TYPE_STRUCT:
	case TYPE_UNION: typed_struct(t, type, off); break;
	case TYPE_STRING:
		typed_quote(
		    t, off, strnlen((const char *)t->at + off, t->size - off));
		break;
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
	case TYPE_RESTRICT: str_add(t->p->to, "..."); break;
	}
}

void
print_typed(
    struct printer *p, const struct type *type, const void *v, size_t size)
{
	struct typed t = { .p = p, .at = v, .size = size };
	char name[TYPED_NAME];

	if (type == NULL) {
		print_dump(p, v, size);
		return;
	}
	type_name(type, name, sizeof(name));
	str_printf(p->to, "%s ", name);
	typed_value(&t, type, 0);
}
