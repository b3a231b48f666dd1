/*
 * The ranges of the unwind entries (.eh_frame): which addresses the compiler
 * says belong to one piece of code.  Only the ranges: libdw (cfi.c) and libunwind
 * read the rules in them, and have no list of all entries.
 *
 *	length | 0 | version augmentation ...            a CIE
 *	length | distance back to its CIE | start size   an FDE
 *
 * Invariant: every read is inside the bytes of the section; an entry that
 * makes no sense is left out, one whose length makes none ends the list.
 */
#include <errno.h>
#include <stdlib.h>

#include "dlang/base/sorted.h"
#include "dlang/base/vec.h"
#include "symbols/elf/frame_bytes.h"
#include "symbols/elf/parts.h"

struct fdes {
	struct fde *at;
	size_t len, cap;
};

/* The section, found by its name or by the header that the run time uses. */
static bool
section_find(const struct object *o, struct frame_bytes *b)
{
	Elf64_Shdr sh;
	Elf_Scn *scn = elf_file_section(&o->file, ".eh_frame", &sh);
	Elf_Data *d = scn != NULL ? elf_file_data(scn, &sh) : NULL;
	Elf64_Phdr p;
	size_t avail;
	uint64_t addr;
	uint8_t head[4];

	if (d != NULL) {
		*b = (struct frame_bytes){ d->d_buf,
			(const uint8_t *)d->d_buf + d->d_size, sh.sh_addr };
		return true;
	}
	if (!elf_file_segment(&o->file, PT_GNU_EH_FRAME, &p))
		return false;
	b->p = object_bytes(o, p.p_vaddr, &avail);
	if (b->p == NULL)
		return false;
	b->end = b->p + avail;
	b->addr = p.p_vaddr;
	/* version; encodings of the pointer, of the count, of the table */
	if (!frame_take(b, head, 4) ||
	    !frame_take_pointer(b, head[1], p.p_vaddr, &addr))
		return false;
	b->p = object_bytes(o, addr, &avail);
	b->end = b->p != NULL ? b->p + avail : NULL;
	b->addr = addr;
	return b->p != NULL;
}

static int
fde_compare(const void *va, const void *vb)
{
	const struct fde *a = va, *b = vb;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* The address of the exception table, which follows the range of an FDE; or
 * 0. */
static uint64_t
lsda_of(struct frame_bytes b, const struct frame_cie *says)
{
	struct frame_bytes raw;
	uint64_t n, addr, value;

	if (!says->sized || says->lsda == PE_OMIT ||
	    (says->lsda & PE_INDIRECT) || !frame_take_leb(&b, &n))
		return 0;
	raw = b;
	/* 0 means none, whatever the encoding is relative to. */
	return frame_take_pointer(&raw, says->lsda & PE_FORM, 0, &value) &&
		value != 0 && frame_take_pointer(&b, says->lsda, 0, &addr) ?
	    addr :
	    0;
}

static struct fdes
ehframe_load(const struct object *o)
{
	struct fdes fdes = { 0 };
	struct frame_bytes b, body, rest, cie;
	const uint8_t *section, *last_cie = NULL;
	uint64_t section_addr, size;
	struct frame_cie says = { 0 };
	bool cie_ok = false;

	if (!section_find(o, &b))
		return (struct fdes){ 0 };
	section = b.p;
	section_addr = b.addr;
	for (uint64_t entry = b.addr; frame_take_entry(&b, &body);
	     entry = b.addr) {
		const uint8_t *at = body.p;
		uint32_t id;
		struct fde f = { 0 };

		if (!frame_take(&body, &id, 4) || id == 0 ||
		    id > (uint64_t)(at - section))
			continue;
		if (at - id != last_cie) {
			last_cie = at - id;
			rest = (struct frame_bytes){ last_cie, b.end,
				section_addr + (uint64_t)(last_cie - section) };
			cie_ok = frame_take_entry(&rest, &cie) &&
			    frame_take(&cie, &id, 4) && id == 0 &&
			    frame_take_cie(cie, &says);
		}
		if (!cie_ok || (says.enc & PE_INDIRECT) ||
		    !frame_take_pointer(&body, says.enc, 0, &f.start) ||
		    !frame_take_pointer(&body, says.enc & PE_FORM, 0, &size) ||
		    size == 0 || size > UINT64_MAX - f.start ||
		    !object_is_text(o, f.start))
			continue;
		f.end = f.start + size;
		f.lsda = lsda_of(body, &says);
		f.signal = says.signal;
		f.at = entry;
		*vec_push(&fdes) = f;
	}
	if (fdes.len > 0)
		qsort(fdes.at, fdes.len, sizeof(*fdes.at), fde_compare);
	return fdes;
}

static void
fdes_fini(void *part)
{
	struct fdes *f = part;

	vec_fini(f);
}

static const struct fdes *
fdes_of(struct object *o)
{
	struct fdes *f = object_part(o, PART_FDES);

	if (f == NULL) {
		f = object_part_new(o, PART_FDES, sizeof(*f), fdes_fini);
		*f = ehframe_load(o);
	}
	return f;
}

size_t
object_fdes(struct object *o, const struct fde **out)
{
	const struct fdes *f = fdes_of(o);

	*out = f->at;
	return f->len;
}

/* How many begin at or before addr. */
static size_t
count_to(const struct fdes *f, uint64_t addr)
{
	return sorted_count(f->len, i, f->at[i].start <= addr);
}

uint64_t
ehframe_next(struct object *o, uint64_t addr)
{
	const struct fdes *f = fdes_of(o);
	size_t n = count_to(f, addr);

	return n < f->len ? f->at[n].start : UINT64_MAX;
}

const struct fde *
object_fde_at(struct object *o, uint64_t addr)
{
	const struct fdes *f = fdes_of(o);
	size_t n = count_to(f, addr);

	if (n == 0 || f->at == NULL || addr >= f->at[n - 1].end)
		return NULL;
	return &f->at[n - 1];
}

int
object_fde_range(
    struct object *o, uint64_t addr, uint64_t *start, uint64_t *end)
{
	const struct fde *f = object_fde_at(o, addr);

	if (f == NULL)
		return -ENOENT;
	*start = f->start;
	*end = f->end;
	return 0;
}
