/*
 * For fuzzers of what is in a file: everything that is asked of a load object
 * is asked of this one.  An answer or none, and what is answered lies where it
 * must.
 */
#ifndef T_FUZZ_LOOK_H
#define T_FUZZ_LOOK_H

#include <stdlib.h>
#include <string.h>

#include "dlang/base/base.h"
#include "symbols/ctf.h"
#include "symbols/dwarf_source.h"
#include "symbols/golang.h"
#include "symbols/elf/parts.h"
#include "symbols/sdt.h"

/* Names that may be in it. */
static const char *const look_names[] = { "main", "a", "list", "f", "counter",
	"struct node", "node_t", "enum color", "union u" };

/* Looks into types that one object is worth: they may lead everywhere from
 * everywhere. */
#define LOOKS 2000u

static inline void
ignore_slot(void *ctx, uint64_t slot)
{
	*(uint64_t *)ctx ^= slot;
}

static inline void
look_around(struct object *o, uint64_t addr)
{
	uint64_t start, end;
	uint8_t code[16];
	const struct fde *fdes;
	const struct sym *s = object_func_at(o, addr);

	if (s != NULL && addr - s->addr >= s->size)
		abort();
	if (object_fde_range(o, addr, &start, &end) == 0 &&
	    (addr < start || addr >= end))
		abort();
	size_t n = object_fdes(o, &fdes);
	if (n > 0)
		object_landing_pads(o, &fdes[addr % n], ignore_slot, &end);
	object_read(o, addr, code, sizeof(code));
	object_frame(o, addr);
	gosym_frame(o, addr, &start);
	go_func(o, addr, "f.abi0");
	object_data_at(o, addr);
}

static unsigned looks; /* that are left */

/* Whatever a name gives is looked into, level by level. */
static inline void
look_into(struct type *t, unsigned depth)
{
	char buf[256];
	uint64_t offset = 0;

	t = type_resolve(t);
	if (t == NULL || depth == 0 || looks == 0)
		return;
	looks--;
	type_name(t, buf, sizeof(buf));
	type_dif(t);
	type_member(t, "none", &offset);
	if (t->base != NULL)
		look_into(t->base, depth - 1);
	for (size_t i = 0; i < t->nmembers && looks != 0; i++)
		look_into(t->members[i].type, depth - 1);
}

static inline void
look_at_types(struct object *o)
{
	struct types *ts = types_create(256);
	struct dwtypes *dw = dwtypes_create(ts);
	const struct sym *syms;
	size_t n = object_funcs(o, &syms);

	for (size_t i = 0; i < ARRAY_SIZE(look_names); i++) {
		struct dwarf_var v;
		struct type *t;

		if (dwarf_var(dw, o, look_names[i], UINT64_MAX, &v) == 0)
			look_into(v.type, 6);
		if (dwarf_type(dw, o, look_names[i], &t) == 0)
			look_into(t, 6);
	}
	for (size_t i = 0; i < n && i < 64; i++) {
		struct dwarf_proto p;
		const char *file;
		int line;

		if (dwarf_proto(dw, o, syms[i].addr, syms[i].name, &p) == 0)
			look_into(p.type, 4);
		if (dwarf_line(o, syms[i].addr, &file, &line) &&
		    (line <= 0 || strlen(file) > 4096))
			abort();
	}
	types_destroy(ts);
	dwtypes_destroy(dw);
}

static inline void
look_at_ctf(struct object *o)
{
	struct types *ts = types_create(256);
	struct ctftypes *c = ctftypes_create(ts);
	struct dwarf_proto p;

	for (size_t i = 0; i < ARRAY_SIZE(look_names); i++) {
		struct dwarf_var v;
		struct type *t;

		if (ctftypes_var(c, o, look_names[i], 0x1000, &v) == 0)
			look_into(v.type, 6);
		if (ctftypes_type(c, o, look_names[i], &t) == 0)
			look_into(t, 6);
		if (ctftypes_proto(c, o, look_names[i], &p) == 0)
			look_into(p.type, 4);
	}
	types_destroy(ts);
	ctftypes_destroy(c);
}

/* Lines, inlined functions, and what names mean where they begin. */
struct code {
	struct object *o;
	struct dwtypes *dw;
	unsigned looked;
};

static inline bool
any_file(void *ctx, const char *path)
{
	return path[0] != '\0';
}

static inline void
look_at_names(struct code *c, uint64_t addr)
{
	static const char *const names[] = { "a", "argc", "list", "this" };
	struct dwarf_local v;

	if (c->looked++ > 64)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct dwarf_sense m = { i == 1, (int)i * 4,
			i == 2 ? "f" : NULL };

		dwarf_local(c->dw, c->o, addr, &m, names[i], &v);
		if ((v.value == DWARF_HAVE || v.place == DWARF_HAVE) &&
		    v.type == NULL)
			abort();
		if (v.type != NULL)
			look_into(v.type, 3);
	}
}

static inline void
row_seen(void *ctx, const char *path, int line, uint64_t addr)
{
	if (line <= 0)
		abort();
	look_at_names(ctx, addr);
}

static inline void
inline_seen(void *ctx, const char *name, const char *linkage, uint64_t addr)
{
	if (name[0] == '\0')
		abort();
	look_at_names(ctx, addr);
}

static inline void
look_at_code(struct object *o)
{
	struct types *ts = types_create(256);
	struct code c = { .o = o, .dw = dwtypes_create(ts) };

	dwarf_rows(o, NULL, any_file, row_seen, &c);
	dwarf_rows(o, "a.c", any_file, row_seen, &c);
	dwarf_inlines(o, inline_seen, &c);
	types_destroy(ts);
	dwtypes_destroy(c.dw);
}

/* Static probes, and what is said of their types. */
static inline void
look_at_notes(struct object *o)
{
	const struct sdt_note *notes;
	struct sdt_types types;
	size_t n = object_sdt_notes(o, &notes);

	for (size_t i = 0; i < n; i++) {
		if (!object_is_text(o, notes[i].pc))
			abort();
		if (object_sdt_types(o, notes[i].provider, "f", notes[i].name,
			&types) == 0 &&
		    (types.nargs > SDT_TYPES_MAX ||
			types.nxargs > SDT_TYPES_MAX))
			abort();
	}
	object_sdt_types(o, "p", NULL, "q", &types);
}

/* Functions without a name: in order, apart from one another and from those
 * that have one. */
static inline void
look_at_unnamed(struct object *o)
{
	const struct sym *syms;
	size_t n = object_unnamed(o, &syms);

	for (size_t i = 0; i < n; i++) {
		const struct sym *s = &syms[i];

		if (s->size == 0 || !object_is_text(o, s->addr) ||
		    !object_is_text(o, s->addr + s->size - 1) ||
		    (i > 0 && s[-1].addr + s[-1].size > s->addr) ||
		    object_func_at(o, s->addr) != NULL ||
		    object_unnamed_at(o, s->addr + s->size - 1) != s ||
		    object_code_at(o, s->addr) != s)
			abort();
	}
}

static inline void
look_at_object(struct object *o)
{
	const struct sym *syms;
	uint64_t sum = 0;
	size_t n = object_funcs(o, &syms);

	looks = LOOKS;
	for (size_t i = 0; i < n; i++) {
		if (!object_is_text(o, syms[i].addr) ||
		    (i > 0 && syms[i - 1].addr > syms[i].addr))
			abort();
		sum += strlen(syms[i].name);
		if (i < 64)
			look_around(o, syms[i].addr + syms[i].size / 2);
	}
	look_around(o, object_entry(o));
	look_around(o, sum);
	object_sym(o, "main");
	look_at_unnamed(o);
	look_at_types(o);
	look_at_code(o);
	if (ctftypes_present(o))
		look_at_ctf(o);
	object_got_slots(o, "memcpy", object_entry(o), ignore_slot, &sum);
	look_at_notes(o);
}

#endif
