/*
 * Where unwinding may end in a function: its exception table (the "language
 * specific data area" of gcc and clang for C++, Rust and their like).
 *
 *	encoding of the pads' base, the base unless omitted
 *	encoding of the types, where they end unless omitted
 *	encoding of the rows, length of the rows
 *	rows: start, length, pad, action
 *
 * A pad is told from the base, which is the start of the function where it is
 * omitted; 0 is none.
 *
 * Invariant: as in ehframe.c, every read is inside the bytes of the file, and
 * what is not in the text is no pad.
 */
#include "symbols/elf/frame_bytes.h"
#include "symbols/elf/parts.h"

#define PE_ULEB128 0x01

/* A number of a row. */
static bool
take_number(struct frame_bytes *b, uint8_t enc, uint64_t *out)
{
	return (enc & PE_FORM) == PE_ULEB128 ?
	    frame_take_leb(b, out) :
	    frame_take_pointer(b, enc & PE_FORM, 0, out);
}

/* Read the fields before the rows. Afterwards `b' contains only the rows. */
static bool
take_head(struct frame_bytes *b, uint64_t *base, uint8_t *rows)
{
	uint64_t size;
	uint8_t enc;

	if (!frame_take(b, &enc, 1))
		return false;
	if (enc != PE_OMIT &&
	    ((enc & PE_INDIRECT) ||
		((enc & PE_FORM) == PE_ULEB128 ?
			!frame_take_leb(b, base) :
			!frame_take_pointer(b, enc, 0, base))))
		return false;
	if (!frame_take(b, &enc, 1) ||
	    (enc != PE_OMIT && !frame_take_leb(b, &size)))
		return false;
	if (!frame_take(b, rows, 1) || !frame_take_leb(b, &size) ||
	    size > (uint64_t)(b->end - b->p))
		return false;
	b->end = b->p + size;
	return true;
}

void
object_landing_pads(struct object *o, const struct fde *f,
    void (*each)(void *ctx, uint64_t pad), void *ctx)
{
	uint64_t base = f->start, start, size, pad, action;
	struct frame_bytes b = { .addr = f->lsda };
	size_t avail;
	uint8_t rows;

	if (f->lsda == 0 || (b.p = object_bytes(o, f->lsda, &avail)) == NULL)
		return;
	b.end = b.p + avail;
	if (!take_head(&b, &base, &rows))
		return;
	while (take_number(&b, rows, &start) && take_number(&b, rows, &size) &&
	    take_number(&b, rows, &pad) && frame_take_leb(&b, &action))
		if (pad != 0 && object_is_text(o, base + pad))
			each(ctx, base + pad);
}
