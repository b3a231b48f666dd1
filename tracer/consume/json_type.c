/*
 * print() as JSON: a list of objects, the value itself and then each of its
 * members, whose name is the path to it:
 *
 *	{"name":"struct line"},
 *	{"member-name":"from.x","name":"int","value":1},
 *	{"member-name":"tag","name":"char [4]","value":"abc"}
 *
 * Unlike the text, it has members that are 0.  Types come from debug
 * information as well as from D, so sizes and offsets are checked against the
 * bytes that were recorded.
 */
#include "tracer/consume/json.h"

#include <string.h>

#include "dlang/types.h"

/* The most levels: a type with more contains itself. */
#define WALK_DEPTH 32
/* The most members for each byte: more would show the same again. */
#define WALK_VIEWS 8
#define WALK_NAME  512

struct walk {
	struct printer *p;
	const uint8_t *at;
	size_t size;
	struct str path;
	const uint8_t *addr; /* of the object; NULL: not known */
	unsigned depth;
	size_t left; /* members that may still be shown */
	bool any;
	bool cut;
};

static void walk_members(struct walk *w, const struct type *type, uint64_t off);
static void walk_value(struct walk *w, const struct type *named,
    const struct type_member *bits, uint64_t off);

/* The begin of an object for what the path names. */
static void
walk_open(struct walk *w, const struct type *type)
{
	struct str *to = w->p->to;
	char name[WALK_NAME];

	str_add(to, w->any ? ",{" : "{");
	if (w->path.len != 0) {
		str_add(to, "\"member-name\":");
		text_add_json(to, str_c(&w->path));
		str_addc(to, ',');
	}
	str_add(to, "\"name\":");
	print_type_name(type, name, sizeof(name));
	text_add_json(to, name);
	if (!w->any && w->addr != NULL) {
		str_add(to, ",\"address\":");
		json_hex(to, value_uint(w->addr, 8));
	}
	w->any = true;
}

static bool
walk_is_char(const struct type *type)
{
	return type->kind == TYPE_INT && type->size == 1 &&
	    type->name != NULL && strcmp(type->name, "char") == 0;
}

static void
walk_enum(struct walk *w, const struct type *type, uint64_t off)
{
	struct prog_rec rec = { .size = (uint32_t)type->size,
		.is_signed = type->is_signed };
	int64_t v = type->is_signed ?
	    value_int(w->at + off, rec.size) :
	    (int64_t)value_uint(w->at + off, rec.size);

	for (size_t i = 0; i < type->nenumerators; i++)
		if (type->enumerators[i].value == v) {
			text_add_json(w->p->to, type->enumerators[i].name);
			return;
		}
	json_int(w->p->to, &rec, w->at + off);
}

static void
walk_pointer(struct walk *w, const struct type *type, uint64_t off)
{
	const struct type *to = print_type_resolve(type->base);
	uint64_t addr = value_uint(w->at + off, (uint32_t)type->size);
	char name[WALK_NAME];

	json_hex(w->p->to, addr);
	if (to == NULL || to->kind != TYPE_FUNC || addr == 0)
		return;
	addr_text(w->p, addr, name, sizeof(name));
	str_add(w->p->to, ",\"symbol\":");
	text_add_json(w->p->to, name);
}

/* The value of a scalar that has been recorded as a whole. */
static void
walk_scalar(struct walk *w, const struct type *type,
    const struct type_member *bits, uint64_t off)
{
	const uint8_t *v = w->at + off;
	struct prog_rec rec = { .size = (uint32_t)type->size,
		.is_signed = type->is_signed };
	uint64_t field;

	str_add(w->p->to, ",\"value\":");
	if (bits != NULL) {
		field = print_type_bits(bits, v, w->size - off);
		rec.size = sizeof(field);
		json_int(w->p->to, &rec, &field);
		return;
	}
	switch (type->kind) {
	case TYPE_ENUM: walk_enum(w, type, off); break;
	case TYPE_FLOAT: json_float(w->p->to, v, rec.size); break;
	case TYPE_POINTER: walk_pointer(w, type, off); break;
	case TYPE_STRING:
		text_add_json_n(w->p->to, (const char *)v,
		    strnlen((const char *)v, w->size - off));
		break;
	default:
		if (type->kind == TYPE_INT && type->size <= 8)
			json_int(w->p->to, &rec, v);
		else
			json_bytes(w->p->to, v, type->size);
		break;
	}
}

static void
walk_chars(struct walk *w, const struct type *type, uint64_t off)
{
	size_t size = MIN(type->nelems, w->size - off), len;
	const char *v = (const char *)w->at + off;

	str_add(w->p->to, ",\"value\":");
	if (text_is_printable(v, size, &len)) {
		text_add_json_n(w->p->to, v, len);
		return;
	}
	text_add_json_n(w->p->to, v, len);
	str_add(w->p->to, ",\"bytes\":");
	json_bytes(w->p->to, v, size);
}

static void
walk_elements(struct walk *w, const struct type *type, uint64_t off)
{
	const struct type *of = print_type_resolve(type->base);
	size_t path = w->path.len;

	if (of == NULL || of->size == 0)
		return;
	for (uint64_t i = 0; i < type->nelems && !w->cut; i++) {
		str_printf(&w->path, "[%llu]", (unsigned long long)i);
		walk_value(w, type->base, NULL, off + i * of->size);
		w->path.len = path;
		w->path.s[path] = '\0';
	}
}

/* A struct or union whose members are named without it, or padding. */
static void
walk_unnamed(struct walk *w, const struct type_member *m, uint64_t off)
{
	const struct type *type = print_type_resolve(m->type);

	if (type == NULL || m->bit_size != 0 || w->depth == WALK_DEPTH ||
	    (type->kind != TYPE_STRUCT && type->kind != TYPE_UNION))
		return;
	w->depth++;
	walk_members(w, type, off + m->offset);
	w->depth--;
}

static void
walk_members(struct walk *w, const struct type *type, uint64_t off)
{
	/* The path is escaped when it is printed. */
	struct printer to = { .to = &w->path };
	size_t path = w->path.len;

	for (size_t i = 0; i < type->nmembers && !w->cut; i++) {
		const struct type_member *m = &type->members[i];
		if (m->name == NULL) {
			walk_unnamed(w, m, off);
			continue;
		}
		str_add(&w->path, path != 0 ? "." : "");
		text_name(&to, m->name);
		walk_value(
		    w, m->type, m->bit_size != 0 ? m : NULL, off + m->offset);
		w->path.len = path;
		if (w->path.s != NULL)
			w->path.s[path] = '\0';
	}
}

static bool
walk_is_there(const struct walk *w, const struct type *type,
    const struct type_member *bits, uint64_t off)
{
	if (off >= w->size || w->left == 0 || w->depth == WALK_DEPTH)
		return false;
	if (bits != NULL || type->kind == TYPE_STRUCT ||
	    type->kind == TYPE_UNION || type->kind == TYPE_ARRAY ||
	    type->kind == TYPE_STRING)
		return true;
	return type->size <= w->size - off;
}

static void
walk_value(struct walk *w, const struct type *named,
    const struct type_member *bits, uint64_t off)
{
	const struct type *type = print_type_resolve(named);
	const struct type *of;

	if (type == NULL)
		return;
	if (!walk_is_there(w, type, bits, off)) {
		w->cut = true;
		return;
	}
	w->left--;
	w->depth++;
	walk_open(w, named);
	switch (type->kind) {
	case TYPE_STRUCT:
	case TYPE_UNION:
		str_addc(w->p->to, '}');
		walk_members(w, type, off);
		break;
	case TYPE_ARRAY:
		of = print_type_resolve(type->base);
		if (of != NULL && walk_is_char(of)) {
			walk_chars(w, type, off);
			str_addc(w->p->to, '}');
			break;
		}
		str_addc(w->p->to, '}');
		walk_elements(w, type, off);
		break;
	default:
		walk_scalar(w, type, bits, off);
		str_addc(w->p->to, '}');
		break;
	}
	w->depth--;
}

void
json_object(struct printer *p, const uint8_t *addr, const struct type *type,
    const void *v, size_t size)
{
	size_t most = (size_t)option_get(p->c->env.opts, OPT_PRINTSIZE);
	struct walk w = {
		.p = p, .at = v, .size = MIN(size, most), .addr = addr
	};

	w.left = (w.size + 64) * WALK_VIEWS;
	if (type != NULL)
		walk_value(&w, type, NULL, 0);
	if (type == NULL || w.cut) {
		str_add(p->to, w.any ? ",{\"truncated\":true" : "{\"bytes\":");
		if (!w.any)
			json_bytes(p->to, v, w.size);
		str_addc(p->to, '}');
	}
	str_fini(&w.path);
}
