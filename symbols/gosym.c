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
 * from the start of the text and 4 bytes wide.
 *
 * What is told of a function begins with its entry (as wide as in the pairs);
 * then come words of 4 bytes: name, size of arguments, deferreturn, the place
 * in the pc-data of how far the stack pointer is below the return address, and
 * others.  pc-data are pairs of numbers of variable length: what is added to
 * the value, and for how many bytes of text more that holds.
 *
 * Invariant: as everywhere here, nothing outside the section is read, and a
 * function that is not in the text is none.
 */
#include <errno.h>
#include <string.h>

#include "dlang/base/mem.h"
#include "symbols/object_impl.h"

enum {
	MAGIC_1_16 = 0xfffffffa,
	MAGIC_1_18 = 0xfffffff0,
	MAGIC_1_20 = 0xfffffff1,
};

/* The largest programs in Go have some hundred thousand functions. */
#define FUNCS_MOST (1 << 22)

struct gotab {
	const uint8_t *p;
	size_t size;
	bool offsets;  /* from 1.18 on */
	uint64_t text; /* 0 before */
	uint64_t count;
	uint64_t names, pcdata, funcs; /* offsets in the section */
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

/* In a position-independent program the start of the text is a relocation's
 * to fill in; it is the section's there. */
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
	if (magic != MAGIC_1_16 && magic != MAGIC_1_18 && magic != MAGIC_1_20)
		return false;
	t->offsets = magic != MAGIC_1_16;
	if (t->offsets) {
		if (!word_at(t, base, &t->text, 8))
			return false;
		t->text = text_start(o, t->text);
		base += 8;
	}
	return word_at(t, 8, &t->count, 8) && t->count <= FUNCS_MOST &&
	    word_at(t, base, &t->names, 8) &&
	    word_at(t, base + 3 * 8, &t->pcdata, 8) &&
	    word_at(t, base + 4 * 8, &t->funcs, 8) && t->names < t->size &&
	    t->pcdata < t->size && t->funcs < t->size;
}

/* The i-th pair: the function's address, and where more is told of it. */
static bool
pair_at(const struct gotab *t, uint64_t i, uint64_t *addr, uint64_t *more)
{
	uint32_t small[2] = { 0, 0 };
	uint64_t wide[2] = { 0, 0 };
	/* Of the last pair there is only the first half. */
	size_t half = i == t->count ? 1 : 2;

	if (t->offsets) {
		if (!word_at(t, t->funcs + i * 8, small, half * 4))
			return false;
		*addr = t->text + small[0];
		*more = small[1];
	} else {
		if (!word_at(t, t->funcs + i * 16, wide, half * 8))
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

void
gosym_each(const struct object *o, void (*each)(void *ctx, const struct sym *),
    void *ctx)
{
	uint64_t addr, next, more, ignored;
	struct gotab t;

	if (!table_open(o, &t))
		return;
	for (uint64_t i = 0; i < t.count; i++) {
		struct sym s = { .kind = SYM_FUNC, .global = true };

		if (!pair_at(&t, i, &addr, &more) ||
		    !pair_at(&t, i + 1, &next, &ignored))
			return;
		s.name = name_at(&t, more);
		if (s.name == NULL || next <= addr ||
		    !object_is_text(o, addr) || !object_is_text(o, next - 1))
			continue;
		s.addr = addr;
		s.size = next - addr;
		each(ctx, &s);
	}
}

/* A number of variable length at *at, which moves behind it. */
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

/* The value that holds at `addr' in the pc-data of a function from entry on. */
static bool
pcvalue_at(const struct gotab *t, uint64_t at, uint64_t entry, uint64_t addr,
    int32_t *value)
{
	uint32_t delta, bytes;
	bool first = true;

	for (*value = -1; varint_at(t, &at, &delta); first = false) {
		/* 0 ends the table, but for the first value. */
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

int
gosym_frame(const struct object *o, uint64_t addr, uint64_t *size)
{
	uint64_t entry, next, more, ignored, lo = 0, hi;
	struct gotab t;
	uint32_t place;
	int32_t below;

	if (!table_open(o, &t))
		return -ENOENT;
	for (hi = t.count; lo < hi;) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (!pair_at(&t, mid, &entry, &more))
			return -ENOENT;
		if (entry <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0 || !pair_at(&t, lo - 1, &entry, &more) ||
	    !pair_at(&t, lo, &next, &ignored) || addr < entry || addr >= next ||
	    more > t.size ||
	    !word_at(
		&t, t.funcs + more + (t.offsets ? 4 : 8) + 12, &place, 4) ||
	    place == 0 ||
	    !pcvalue_at(&t, t.pcdata + place, entry, addr, &below) || below < 0)
		return -ENOENT;
	*size = (uint32_t)below;
	return 0;
}
