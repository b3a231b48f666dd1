/*
 * The ranges of the unwind entries (.eh_frame): which addresses the compiler
 * says belong to one piece of code.  Only the ranges; the rules in them are
 * cfi.c's.
 *
 *	length | 0 | version augmentation ...            a CIE
 *	length | distance back to its CIE | start size   an FDE
 *
 * Invariant: every read is inside the bytes of the section; an entry that
 * makes no sense is left out, one whose length makes none ends the list.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/mem.h"
#include "dlang/base/vec.h"
#include "symbols/frame_bytes.h"
#include "symbols/object_impl.h"

/* What a CIE says of its FDEs. */
struct cie_says {
	uint8_t enc;    /* how their addresses are written */
	uint8_t lsda;   /* ... what leads to the exception table; PE_OMIT */
	bool augmented; /* a length stands before that */
	bool signal;    /* their code is entered by the kernel alone */
};

/* The CIE behind length and id. */
static bool
cie_read(struct frame_bytes b, struct cie_says *says)
{
	uint8_t version, byte;
	const char *aug;
	uint64_t n;
	size_t left;

	*says = (struct cie_says){ .enc = PE_ABSPTR, .lsda = PE_OMIT };
	if (!frame_take(&b, &version, 1))
		return false;
	aug = (const char *)b.p;
	left = (size_t)(b.end - b.p);
	if (memchr(aug, '\0', left) == NULL ||
	    !frame_take(&b, NULL, strlen(aug) + 1))
		return false;
	if (aug[0] != 'z')
		return aug[0] == '\0';
	/* Code alignment, then data alignment. */
	if (!frame_take_leb(&b, &n))
		return false;
	if (!frame_take_leb(&b, &n))
		return false;
	/* The column of the return address: a byte in version 1. */
	if (version == 1 ? !frame_take(&b, NULL, 1) : !frame_take_leb(&b, &n))
		return false;
	if (!frame_take_leb(&b, &n))
		return false;
	says->augmented = true;
	for (aug++; *aug != '\0'; aug++) {
		switch (*aug) {
		case 'R':
			if (!frame_take(&b, &says->enc, 1))
				return false;
			break;
		case 'L':
			if (!frame_take(&b, &says->lsda, 1))
				return false;
			break;
		case 'P':
			if (!frame_take(&b, &byte, 1) ||
			    !frame_take_pointer(&b, byte & PE_FORM, 0, &n))
				return false;
			break;
		case 'S': says->signal = true; break;
		default: return true;
		}
	}
	return true;
}

/* The section, by name or by way of the header the run-time uses. */
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
	/* version, encoding of the pointer, of the count, of the table */
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

/* Behind the range of an FDE: where its exception table is, or 0. */
static uint64_t
lsda_of(struct frame_bytes b, const struct cie_says *says)
{
	struct frame_bytes raw;
	uint64_t n, addr, value;

	if (!says->augmented || says->lsda == PE_OMIT ||
	    (says->lsda & PE_INDIRECT) || !frame_take_leb(&b, &n))
		return 0;
	raw = b;
	/* None is 0, whatever it would be relative to. */
	return frame_take_pointer(&raw, says->lsda & PE_FORM, 0, &value) &&
		value != 0 && frame_take_pointer(&b, says->lsda, 0, &addr) ?
	    addr :
	    0;
}

static void
ehframe_load(struct object *o)
{
	VEC(struct fde) fdes = { 0 };
	struct frame_bytes b, body, rest, cie;
	const uint8_t *section, *last_cie = NULL;
	uint64_t section_addr, size;
	struct cie_says says = { 0 };
	bool cie_ok = false;

	o->fdes_loaded = true;
	if (!section_find(o, &b))
		return;
	section = b.p;
	section_addr = b.addr;
	while (frame_take_entry(&b, &body)) {
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
			    cie_read(cie, &says);
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
		*vec_push(&fdes) = f;
	}
	if (fdes.len > 0)
		qsort(fdes.at, fdes.len, sizeof(*fdes.at), fde_compare);
	o->fdes = fdes.at;
	o->fde_count = fdes.len;
}

size_t
object_fdes(struct object *o, const struct fde **fdes)
{
	if (!o->fdes_loaded)
		ehframe_load(o);
	*fdes = o->fdes;
	return o->fde_count;
}

/* How many begin at addr or before it. */
static size_t
count_to(struct object *o, uint64_t addr)
{
	const struct fde *fdes;
	size_t lo = 0, hi = object_fdes(o, &fdes);

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (fdes[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint64_t
ehframe_next(struct object *o, uint64_t addr)
{
	size_t n = count_to(o, addr);

	return n < o->fde_count ? o->fdes[n].start : UINT64_MAX;
}

int
object_fde_range(
    struct object *o, uint64_t addr, uint64_t *start, uint64_t *end)
{
	size_t lo = count_to(o, addr);

	if (lo == 0 || addr >= o->fdes[lo - 1].end)
		return -ENOENT;
	*start = o->fdes[lo - 1].start;
	*end = o->fdes[lo - 1].end;
	return 0;
}
