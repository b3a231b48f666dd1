/*
 * Line numbers of CPython's code objects; see cpython_line.h.
 *
 * The forms are described in CPython's Objects/lnotab_notes.txt (to 3.10) and
 * Objects/locations.md (from 3.11).  Tables are bytes of another process:
 * whatever they are, a search ends with them, or with the budget.
 */
#include "symbols/lang/cpython_line.h"

#include "dlang/base/base.h"

/* 3.10: the range has no line. */
#define NO_LINE (-128)

/* What is still to be read. */
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

/* Six bits a byte, the lowest first; bit 6 says that there are more. */
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

/* How an entry of a 3.11 table gives its line, by its code: 0 to 9 and 10 to 12
 * are lines a short way on, and have columns. */
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
	/* What is not known to its end is not known: to 3.9 the last line
	 * before that would be taken for it. */
	return (t.left == 0 && may < len) || line < 0 ? 0 : line;
}
