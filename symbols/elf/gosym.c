/*
 * Functions of a Go program that was stripped, and how large their frames are:
 * the run time keeps a table of them for its own tracebacks (.gopclntab), which
 * no strip takes away.
 *
 *	magic, 0, 0, quantum, pointer size      8 bytes
 *	number of functions, of files           8 each
 *	text start (from Go 1.18 on)            8
 *	offsets of names, units, files, pc-data and functions    8 each
 *	...
 *	functions: entry, where more is told    pairs; then one more entry
 *
 * Before 1.18 the pairs are addresses and 8 bytes wide, from then on offsets
 * from the start of the text and 4 bytes wide.  Before 1.16 the pairs come right
 * behind the number of functions, and all offsets are from the magic on.
 *
 * What is told of a function begins with its entry (as wide as in the pairs);
 * then come words of 4 bytes: name, size of arguments, deferreturn, the place
 * in the pc-data of how far the stack pointer is below the return address, and
 * others; 32 bytes behind the name (36 from 1.20 on, which tells the first line as
 * well) a number of the function, and flags.  pc-data are pairs of numbers of
 * variable length: what is added to the value, and for how many bytes of text
 * more that holds.
 *
 * Two functions of one name are one that takes its arguments as Go does and one
 * that takes them on the stack (ABI0), which .symtab calls NAME.abi0: that of
 * assembly (a flag tells), else the second, the wrapper by which assembly calls
 * what is written in Go.
 *
 * Facts: runtime/symtab.go, runtime2.go (type _func) of Go 1.16 to 1.20;
 * cmd/link/internal/ld/symtab.go (mangleABIName).
 *
 * Invariant: as everywhere here, nothing outside the section is read, and a
 * function that is not in the text is none.
 */
#include <errno.h>
#include <string.h>

#include "dlang/base/vec.h"
#include "symbols/elf/parts.h"

enum {
	MAGIC_1_2 = 0xfffffffb,
	MAGIC_1_16 = 0xfffffffa,
	MAGIC_1_18 = 0xfffffff0,
	MAGIC_1_20 = 0xfffffff1,
};

/* The largest Go programs have some hundred thousand functions. */
#define FUNCS_MOST (1 << 22)

/* Flags, behind a function's number. */
#define FLAG_ASM 4

struct gotab {
	const uint8_t *p;
	size_t size;
	bool offsets;  /* from 1.18 on */
	bool line;     /* from 1.20 on */
	uint64_t text; /* 0 before */
	uint64_t count;
	uint64_t names, pcdata, funcs; /* offsets in the section */
	uint64_t pairs;
};

struct gofunc {
	const char *name; /* in the table */
	uint64_t addr, size;
	bool assembly;
	bool twin; /* a second one has the name */
	bool abi0; /* ... and this one takes arguments on the stack */
};

static bool
word_at(const struct gotab *t, uint64_t off, void *out, size_t n)
{
	if (off > t->size || t->size - off < n)
		return false;
	memcpy(out, t->p + off, n);
	return true;
}

static Elf_Data *
section_of(const struct object *o)
{
	static const char *const names[] = { ".gopclntab",
		".data.rel.ro.gopclntab" };
	Elf64_Shdr sh;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		Elf_Scn *scn = elf_file_section(&o->file, names[i], &sh);

		if (scn != NULL)
			return elf_file_data(scn, &sh);
	}
	return NULL;
}

/* In a position-independent program a relocation fills in the start of the
 * text; it is the start of the section. */
static uint64_t
text_start(const struct object *o, uint64_t said)
{
	Elf64_Shdr sh;

	if (said == 0 && elf_file_section(&o->file, ".text", &sh) != NULL)
		return sh.sh_addr;
	return said;
}

static bool
table_open(const struct object *o, struct gotab *t)
{
	Elf_Data *d = section_of(o);
	uint8_t head[8];
	uint32_t magic;
	uint64_t base = 24;

	if (d == NULL)
		return false;
	*t = (struct gotab){ .p = d->d_buf, .size = d->d_size };
	if (!word_at(t, 0, head, sizeof(head)) || head[7] != 8)
		return false;
	memcpy(&magic, head, sizeof(magic));
	if (magic == MAGIC_1_2) {
		t->pairs = 16;
		return word_at(t, 8, &t->count, 8) && t->count <= FUNCS_MOST;
	}
	if (magic != MAGIC_1_16 && magic != MAGIC_1_18 && magic != MAGIC_1_20)
		return false;
	t->offsets = magic != MAGIC_1_16;
	t->line = magic == MAGIC_1_20;
	if (t->offsets) {
		if (!word_at(t, base, &t->text, 8))
			return false;
		t->text = text_start(o, t->text);
		base += 8;
	}
	if (!word_at(t, base + 4 * 8, &t->funcs, 8))
		return false;
	t->pairs = t->funcs;
	return word_at(t, 8, &t->count, 8) && t->count <= FUNCS_MOST &&
	    word_at(t, base, &t->names, 8) &&
	    word_at(t, base + 3 * 8, &t->pcdata, 8) && t->names < t->size &&
	    t->pcdata < t->size && t->funcs < t->size;
}

/* The i-th pair: the function's address, and the offset of its record. */
static bool
pair_at(const struct gotab *t, uint64_t i, uint64_t *addr, uint64_t *more)
{
	uint32_t small[2] = { 0, 0 };
	uint64_t wide[2] = { 0, 0 };
	/* The last pair has only the first half. */
	size_t half = i == t->count ? 1 : 2;

	if (t->offsets) {
		if (!word_at(t, t->pairs + i * 8, small, half * 4))
			return false;
		*addr = t->text + small[0];
		*more = small[1];
	} else {
		if (!word_at(t, t->pairs + i * 16, wide, half * 8))
			return false;
		*addr = wide[0];
		*more = wide[1];
	}
	return true;
}

static const char *
name_at(const struct gotab *t, uint64_t more)
{
	uint64_t entry_size = t->offsets ? 4 : 8, at;
	uint32_t off;

	if (more > t->size ||
	    !word_at(t, t->funcs + more + entry_size, &off, 4))
		return NULL;
	at = t->names + off;
	if (at >= t->size || t->p[at] == '\0' ||
	    memchr(t->p + at, '\0', t->size - at) == NULL)
		return NULL;
	return (const char *)t->p + at;
}

static bool
is_assembly(const struct gotab *t, uint64_t more)
{
	uint64_t behind = (t->offsets ? 4 : 8) + (t->line ? 37 : 33);
	uint8_t flags;

	return word_at(t, t->funcs + more + behind, &flags, 1) &&
	    (flags & FLAG_ASM) != 0;
}

/* Read a number of variable length at *at, and move *at behind it. */
static bool
varint_at(const struct gotab *t, uint64_t *at, uint32_t *out)
{
	*out = 0;
	for (unsigned shift = 0; shift < 35; shift += 7) {
		if (*at >= t->size)
			return false;
		uint8_t byte = t->p[(*at)++];
		if (shift < 32)
			*out |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* From a function's record: the offset of its pc-data for the stack pointer, or
 * 0. */
static uint32_t
stack_place(const struct gotab *t, uint64_t more)
{
	uint32_t place;

	return more <= t->size &&
		word_at(
		    t, t->funcs + more + (t->offsets ? 4 : 8) + 12, &place, 4) ?
	    place :
	    0;
}

/* For how many bytes of text, at most `most', the pc-data at `at' has
 * values. */
static uint64_t
pcdata_extent(const struct gotab *t, uint64_t at, uint64_t most)
{
	uint32_t delta, bytes;
	uint64_t sum = 0;

	while (sum < most && varint_at(t, &at, &delta) &&
	    (delta != 0 || sum == 0) && varint_at(t, &at, &bytes) && bytes != 0)
		sum += bytes;
	return MIN(sum, most);
}

/* The value at `addr' in the pc-data of a function that begins at entry. */
static bool
pcvalue_at(const struct gotab *t, uint64_t at, uint64_t entry, uint64_t addr,
    int32_t *value)
{
	uint32_t delta, bytes;
	bool first = true;

	for (*value = -1; varint_at(t, &at, &delta); first = false) {
		/* 0 ends the table, unless it is the first value. */
		if ((delta == 0 && !first) || !varint_at(t, &at, &bytes))
			return false;
		*value = (int32_t)((uint32_t)*value +
		    ((delta >> 1) ^ (0 - (delta & 1))));
		entry += bytes;
		if (addr < entry)
			return true;
	}
	return false;
}

/* The i-th function. False if the table is damaged from here on. If only this
 * entry is damaged, it has no name. */
static bool
func_at(
    const struct object *o, const struct gotab *t, uint64_t i, struct gofunc *f)
{
	uint64_t next, more, ignored, extent;
	uint32_t place;

	*f = (struct gofunc){ 0 };
	if (!pair_at(t, i, &f->addr, &more) ||
	    !pair_at(t, i + 1, &next, &ignored))
		return false;
	if (next <= f->addr || !object_is_text(o, f->addr) ||
	    !object_is_text(o, next - 1))
		return true;
	f->name = name_at(t, more);
	f->size = next - f->addr;
	/* The padding behind a function does not belong to it. */
	place = stack_place(t, more);
	extent = place != 0 ? pcdata_extent(t, t->pcdata + place, f->size) : 0;
	if (extent != 0)
		f->size = extent;
	f->assembly = is_assembly(t, more);
	return true;
}

/* Two functions have the same name: which one uses ABI0?  The instances of a
 * generic function also have the same name. */
static void
tell_apart(struct gofunc *first, struct gofunc *second)
{
	if (first->twin || strstr(first->name, "[...]") != NULL)
		return;
	first->twin = true;
	first->abi0 = first->assembly;
	second->abi0 = !first->assembly;
}

void
gosym_each(const struct object *o, struct arena *names,
    void (*each)(void *ctx, const struct sym *), void *ctx)
{
	VEC(struct gofunc) funcs = { 0 };
	struct hash first = { 0 }; /* by name: the index in `funcs', plus 1 */
	struct gotab t;
	struct gofunc f;

	if (!table_open(o, &t))
		return;
	for (uint64_t i = 0; i < t.count && func_at(o, &t, i, &f); i++) {
		if (f.name == NULL)
			continue;
		uintptr_t at = (uintptr_t)hash_get_str(&first, f.name);
		if (at == 0)
			hash_set_str(&first, f.name, (void *)(funcs.len + 1));
		else
			tell_apart(&funcs.at[at - 1], &f);
		*vec_push(&funcs) = f;
	}
	vec_foreach(g, &funcs) {
		each(ctx,
		    &(struct sym){
			.name = g->abi0 ?
			    arena_printf(names, "%s.abi0", g->name) :
			    g->name,
			.addr = g->addr,
			.size = g->size,
			.kind = SYM_FUNC,
			.global = true,
		    });
	}
	hash_fini(&first);
	vec_fini(&funcs);
}

/* The offset of the record of the function that contains addr. */
static bool
func_around(
    const struct gotab *t, uint64_t addr, uint64_t *entry, uint64_t *more)
{
	uint64_t next, ignored, lo = 0, hi;

	for (hi = t->count; lo < hi;) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (!pair_at(t, mid, entry, more))
			return false;
		if (*entry <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 0 && pair_at(t, lo - 1, entry, more) &&
	    pair_at(t, lo, &next, &ignored) && addr >= *entry && addr < next &&
	    *more <= t->size;
}

int
gosym_frame(const struct object *o, uint64_t addr, uint64_t *size)
{
	uint64_t entry, more;
	struct gotab t;
	uint32_t place;
	int32_t below;

	if (!table_open(o, &t) || !func_around(&t, addr, &entry, &more) ||
	    (place = stack_place(&t, more)) == 0 ||
	    !pcvalue_at(&t, t.pcdata + place, entry, addr, &below) || below < 0)
		return -ENOENT;
	*size = (uint32_t)below;
	return 0;
}

bool
gosym_told(const struct object *o, uint64_t addr, struct gosym_told *out)
{
	uint64_t entry, more;
	struct gotab t;

	if (!table_open(o, &t) || !func_around(&t, addr, &entry, &more) ||
	    entry != addr || stack_place(&t, more) == 0 ||
	    !word_at(
		&t, t.funcs + more + (t.offsets ? 4 : 8) + 4, &out->args, 4))
		return false;
	out->assembly = t.offsets && is_assembly(&t, more);
	out->age = t.offsets   ? GOSYM_1_18 :
	    t.pairs == t.funcs ? GOSYM_1_16 :
				 GOSYM_1_2;
	return true;
}
