/*
 * Finds entries of debug information by name.
 *
 * Compilers write an index of names only on request, and reading all entries of
 * a big program takes seconds. But each name is in the string section, and the
 * entry contains the offset of that string, or the string itself if it is
 * short. So the name is searched in the strings, and the offset in the entries,
 * both as bytes. Only the units with a match are then parsed. A match by chance
 * costs the parsing of one unit.
 *
 * Invariant: this file follows no offset that libdw has not checked.
 */
#include "symbols/dwarf.h"

#include <stdlib.h>
#include <string.h>

#include <dwarf.h>

#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "dlang/base/sorted.h"
#include "dlang/base/vec.h"
#include "symbols/dwarf/entries.h"

/* More than the nesting of namespaces in any known program. */
#define SCOPE_DEPTH 32
/* If more strings than this end with the name, one pass searches for all of
 * them. */
#define PASSES_MOST 8

struct unit {
	Dwarf_Die die;       /* of the unit, or of its split part */
	uint64_t start, end; /* its entries, in .debug_info */
	uint64_t strings;    /* its part of .debug_str_offsets */
	bool always;         /* its bytes cannot show that a name is absent */
	bool apart;          /* in .debug_types, whose offsets begin at 0
			      * again */
	bool wanted;
};

struct section {
	const uint8_t *at;
	size_t size;
};

struct dwarf {
	Dwarf *dbg; /* NULL: there is none */
	VEC(struct unit) units;
	size_t ordered; /* so many of them by their place */
	struct section info, str, offsets;
};

/* ---- opening ---- */

static struct section
section_of(const struct elf_file *f, const char *name)
{
	Elf64_Shdr sh;
	Elf_Scn *scn = elf_file_section(f, name, &sh);
	/* libdw has decompressed it by now. */
	Elf_Data *d = scn != NULL ? elf_file_data(scn, &sh) : NULL;

	return d != NULL ? (struct section){ d->d_buf, d->d_size } :
			   (struct section){ NULL, 0 };
}

/* The second name is that of Go up to 1.18, which used an older way of
 * compression than ELF's. libdw reads both. */
static bool
has_info(const struct elf_file *f)
{
	Elf64_Shdr sh;

	return (elf_file_section(f, ".debug_info", &sh) != NULL &&
		   sh.sh_type != SHT_NOBITS) ||
	    elf_file_section(f, ".zdebug_info", &sh) != NULL;
}

static void
unit_add(struct dwarf *d, Dwarf_CU *cu, Dwarf_Die *die, Dwarf_Die *split,
    bool foreign)
{
	struct unit u = { .die = *die, .start = dwarf_dieoffset(die) };
	Dwarf_Attribute attr;
	Dwarf_Word base;
	Dwarf_Half version = 0;
	uint8_t type = 0;

	dwarf_cu_info(cu, &version, &type, NULL, NULL, NULL, NULL, NULL);
	if (type == DW_UT_skeleton && split->addr != NULL) {
		u.die = *split;
		u.always = true;
	}
	u.apart = type == DW_UT_type && version < 5;
	u.always |= foreign;
	u.strings = UINT64_MAX;
	if (dwarf_attr(die, DW_AT_str_offsets_base, &attr) != NULL &&
	    dwarf_formudata(&attr, &base) == 0)
		u.strings = base;
	*vec_push(&d->units) = u;
}

/* `foreign': the units, or their strings, are in another file. */
static void
units_add(struct dwarf *d, Dwarf *dbg, bool foreign)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;

	while (dwarf_get_units(dbg, cu, &cu, NULL, NULL, &die, &split) == 0)
		if (die.addr != NULL)
			unit_add(d, cu, &die, &split, foreign);
}

/* Set the end of each unit of .debug_info. */
static void
units_order(struct dwarf *d)
{
	struct unit *u = d->units.at;
	size_t n = d->units.len, i;

	for (i = 0; i < n && !u[i].apart; i++) {
		if (i > 0)
			u[i - 1].end = u[i].start;
		u[i].end = UINT64_MAX;
	}
	d->ordered = i;
	for (; i < n; i++)
		u[i].always = true;
}

static void
dwarf_open(struct dwarf *d, const struct elf_file *f)
{
	Dwarf *alt;

	d->dbg = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	if (d->dbg == NULL)
		return;
	d->info = section_of(f, ".debug_info");
	d->str = section_of(f, ".debug_str");
	d->offsets = section_of(f, ".debug_str_offsets");
	alt = dwarf_getalt(d->dbg);
	units_add(d, d->dbg, alt != NULL);
	units_order(d);
	if (alt != NULL)
		units_add(d, alt, true);
}

static void
dwarf_fini(void *part)
{
	struct dwarf *d = part;

	vec_fini(&d->units);
	dwarf_end(d->dbg);
}

static struct dwarf *
dwarf_of(struct object *o)
{
	const struct elf_file *f = &o->file;
	struct dwarf *d = object_part(o, PART_DWARF);

	if (d == NULL) {
		d = object_part_new(o, PART_DWARF, sizeof(*d), dwarf_fini);
		if (!has_info(f))
			f = debuglink_of(o);
		if (f != NULL && has_info(f)) {
			dwarf_open(d, f);
			LOG("symbols", "%s: %zu units of debug information",
			    o->path, d->units.len);
		}
	}
	return d->dbg != NULL ? d : NULL;
}

Dwarf *
dwarf_handle(struct object *o)
{
	struct dwarf *d = dwarf_of(o);

	return d != NULL ? d->dbg : NULL;
}

bool
dwarf_present(struct object *o)
{
	return dwarf_of(o) != NULL;
}

/* ---- which units can hold a name ---- */

static void
want_at(struct dwarf *d, uint64_t pos)
{
	size_t lo = sorted_count(d->ordered, i, d->units.at[i].end <= pos);

	if (lo < d->ordered)
		d->units.at[lo].wanted = true;
}

/* An index in .debug_str_offsets belongs to the unit with the last part that
 * begins at or before it. */
static void
want_strings_at(struct dwarf *d, uint64_t pos)
{
	struct unit *best = NULL;

	vec_foreach(u, &d->units)
		if (u->strings <= pos &&
		    (best == NULL || u->strings > best->strings))
			best = u;
	if (best == NULL)
		return;
	/* Units may share a part (after link-time optimisation). */
	uint64_t part = best->strings;
	vec_foreach(u, &d->units)
		if (u->strings == part)
			u->wanted = true;
}

static void
each_match(struct dwarf *d, const struct section *s, const void *what,
    size_t len, void (*want)(struct dwarf *, uint64_t))
{
	const uint8_t *p = s->at, *end;

	if (p == NULL)
		return;
	end = p + s->size;
	while (
	    p < end && (p = memmem(p, (size_t)(end - p), what, len)) != NULL) {
		want(d, (uint64_t)(p - s->at));
		p++;
	}
}

static int
offset_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* One pass for any of many offsets. */
static void
each_of(struct dwarf *d, const struct section *s, const uint32_t *offs,
    size_t n, void (*want)(struct dwarf *, uint64_t))
{
	uint8_t *low = mem_zalloc(65536);

	for (size_t i = 0; i < n; i++)
		low[offs[i] & 0xffff] = 1;
	for (size_t i = 0; i + 4 <= s->size; i++) {
		uint32_t v;

		memcpy(&v, s->at + i, sizeof(v));
		if (low[v & 0xffff] &&
		    bsearch(&v, offs, n, sizeof(v), offset_compare) != NULL)
			want(d, i);
	}
	mem_free(low);
}

static void
want_offsets(struct dwarf *d, const struct section *s, const uint32_t *offs,
    size_t n, void (*want)(struct dwarf *, uint64_t))
{
	if (n > PASSES_MOST) {
		each_of(d, s, offs, n, want);
		return;
	}
	for (size_t i = 0; i < n; i++)
		each_match(d, s, &offs[i], sizeof(offs[i]), want);
}

/* Mark the units that may have an entry of that name. If a string is the end of
 * another one, linkers store only the longer one, so the name may begin
 * anywhere in a string. */
static void
want_name(struct dwarf *d, const char *name)
{
	size_t len = strlen(name) + 1;
	VEC(uint32_t) offs = { 0 };

	vec_foreach(u, &d->units)
		u->wanted = u->always;
	each_match(d, &d->info, name, len, want_at);
	/* There may be no .debug_str at all. */
	for (size_t at = 0; at < d->str.size; at++) {
		const uint8_t *p =
		    memmem(d->str.at + at, d->str.size - at, name, len);

		if (p == NULL)
			break;
		at = (size_t)(p - d->str.at);
		*vec_push(&offs) = (uint32_t)at;
	}
	want_offsets(d, &d->info, offs.at, offs.len, want_at);
	if (d->offsets.size > 0)
		want_offsets(
		    d, &d->offsets, offs.at, offs.len, want_strings_at);
	vec_fini(&offs);
}

/* ---- going through a unit ---- */

const char *
dwarf_linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) == NULL &&
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr) == NULL)
		return NULL;
	return dwarf_formstring(&attr);
}

static bool
is_named(Dwarf_Die *die, const char *name)
{
	const char *own = dwarf_diename(die);

	if (own != NULL && strcmp(own, name) == 0)
		return true;
	/* Only C++ and similar languages have linkage names, and these begin
	 * with "_Z". */
	if (name[0] != '_')
		return false;
	own = dwarf_linkage_name(die);
	return own != NULL && strcmp(own, name) == 0;
}

static bool
scope_each(Dwarf_Die *scope, const char *name, dwarf_each_fn each, void *ctx,
    unsigned depth)
{
	Dwarf_Die die;

	if (depth > SCOPE_DEPTH || dwarf_child(scope, &die) != 0)
		return false;
	do {
		int tag = dwarf_tag(&die);

		if (is_named(&die, name) && each(ctx, &die))
			return true;
		if ((tag == DW_TAG_namespace || tag == DW_TAG_module) &&
		    scope_each(&die, name, each, ctx, depth + 1))
			return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

bool
dwarf_each(struct object *o, const char *name, dwarf_each_fn each, void *ctx)
{
	struct dwarf *d = dwarf_of(o);
	size_t read = 0;

	if (d == NULL || name[0] == '\0')
		return false;
	want_name(d, name);
	for (size_t i = 0; i < d->units.len; i++) {
		struct unit *u = &d->units.at[i];

		if (!u->wanted)
			continue;
		read++;
		if (scope_each(&u->die, name, each, ctx, 0))
			return true;
	}
	LOG("symbols", "%s: %s: %zu of %zu units read", o->path, name, read,
	    d->units.len);
	return false;
}

bool
dwarf_flag(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	bool set = false;

	return dwarf_attr(die, name, &attr) != NULL &&
	    dwarf_formflag(&attr, &set) == 0 && set;
}

/* ---- types ---- */

struct type_search {
	int tag; /* 0: a name without "struct", "union" or "enum" */
	Dwarf_Die *out;
};

static bool
is_tagged(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	    tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

static bool
unit_has_tags(Dwarf_Die *die)
{
	Dwarf_Die cu;

	if (dwarf_diecu(die, &cu, NULL, NULL) == NULL)
		return true;
	switch (dwarf_srclang(&cu)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11: return true;
	default: return false; /* types have names without such a word there */
	}
}

static bool
type_seen(void *ctx, Dwarf_Die *die)
{
	struct type_search *s = ctx;
	int tag = dwarf_tag(die);

	if (tag == DW_TAG_class_type && s->tag == DW_TAG_structure_type)
		tag = DW_TAG_structure_type;
	if (dwarf_flag(die, DW_AT_declaration))
		return false;
	if (s->tag != 0 ? tag != s->tag :
			  tag != DW_TAG_typedef && tag != DW_TAG_base_type &&
		    (!is_tagged(tag) || unit_has_tags(die)))
		return false;
	*s->out = *die;
	return true;
}

bool
dwarf_definition(struct object *o, int tag, const char *name, Dwarf_Die *out)
{
	struct type_search s = { .tag = tag, .out = out };

	if (tag == DW_TAG_class_type)
		s.tag = DW_TAG_structure_type;
	return dwarf_each(o, name, type_seen, &s);
}
