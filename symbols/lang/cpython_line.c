/*
 * Line numbers of CPython's code objects; see cpython_line.h.
 *
 * The formats are described in CPython's Objects/lnotab_notes.txt (to 3.10) and
 * Objects/locations.md (from 3.11). Tables are bytes of another process:
 * whatever they contain, a search ends at their end or when the budget is used
 * up.
 */
#include "symbols/lang/cpython_line.h"

#include "dlang/base/base.h"

/* 3.10: the range has no line. */
#define NO_LINE (-128)

/* The part of the table that is still to be read. */
struct table {
	struct lang_walk *w;
	uint64_t at, left;
};

static uint8_t
next(struct table *t)
{
	if (t->left == 0)
		return 0;
	t->left--;
	return lang_u8(t->w, t->at++);
}

static int
find_lnotab(struct table *t, int64_t line, int64_t offset)
{
	int64_t at = 0;

	while (t->left >= 2) {
		at += next(t);
		if (at > offset)
			break;
		line += (int8_t)next(t);
	}
	return line > 0 && line <= INT32_MAX ? (int)line : 0;
}

static int
find_ranges(struct table *t, int64_t line, int64_t offset)
{
	int64_t end = 0;

	while (t->left >= 2) {
		end += next(t);
		int byte = next(t), step = byte < 128 ? byte : byte - 256;
		if (step != NO_LINE)
			line += step;
		if (end > offset)
			return step != NO_LINE && line > 0 ? (int)line : 0;
	}
	return 0;
}

/* Read a number: six bits in a byte, the lowest first; bit 6 is set if more
 * bytes follow. */
static uint64_t
next_varint(struct table *t)
{
	uint64_t v = 0;
	uint8_t b;
	unsigned shift = 0;

	do {
		b = next(t);
		if (shift < 60)
			v |= (uint64_t)(b & 0x3f) << shift;
		shift += 6;
	} while (b & 0x40);
	return v;
}

static int64_t
next_signed(struct table *t)
{
	uint64_t v = next_varint(t);

	return v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
}

/* The codes of entries in a table of 3.11. 0 to 9 and 10 to 12 have a small
 * line difference and columns. */
enum { CODE_NEAR = 10, CODE_NO_COLUMNS = 13, CODE_LONG = 14, CODE_NONE = 15 };

static int
find_locations(struct table *t, int64_t line, int64_t offset)
{
	int64_t end = 0;
	uint8_t head = next(t);

	while (head & 0x80) {
		unsigned code = head >> 3 & 15;

		end += ((head & 7) + 1) * 2;
		if (code == CODE_LONG || code == CODE_NO_COLUMNS)
			line += next_signed(t);
		else if (code >= CODE_NEAR && code < CODE_NO_COLUMNS)
			line += code - CODE_NEAR;
		if (line < 0 || line > INT32_MAX)
			return 0;
		if (end > offset)
			return code == CODE_NONE ? 0 : (int)line;
		/* Only the first byte of an entry has bit 7. */
		do
			head = next(t);
		while (t->left != 0 && !(head & 0x80));
	}
	return 0;
}

static int
find(struct table *t, enum pyline_form form, int first, int64_t offset)
{
	switch (form) {
	case PYLINE_LNOTAB: return find_lnotab(t, first, offset);
	case PYLINE_RANGES: return find_ranges(t, first, offset);
	case PYLINE_LOCATIONS: return find_locations(t, first, offset);
	}
	return 0;
}

int
pyline_find(enum pyline_form form, struct lang_walk *w, uint64_t addr,
    uint64_t len, int first, int64_t offset, uint64_t *budget)
{
	uint64_t may = MIN(len, *budget);
	struct table t = { .w = w, .at = addr, .left = may };
	int line = offset < 0 ? first : find(&t, form, first, offset);

	*budget -= may - t.left;
	/* If the table was not read to the end, the line is unknown: to 3.9 the
	 * last line so far would be returned, which may be wrong. */
	return (t.left == 0 && may < len) || line < 0 ? 0 : line;
}
