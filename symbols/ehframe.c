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
#include "symbols/object_impl.h"

/* Pointer encodings (LSB, "DWARF Exception Header Encoding"). */
enum {
	PE_ABSPTR = 0x00,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORM = 0x0f,
	PE_PCREL = 0x10,
	PE_DATAREL = 0x30,
	PE_BASE = 0x70,
	PE_INDIRECT = 0x80,
};

/* Bytes of a section that are being read, and where they are in memory. */
struct bytes {
	const uint8_t *p, *end;
	uint64_t addr; /* of p */
};

static bool
take(struct bytes *b, void *out, size_t n)
{
	if ((size_t)(b->end - b->p) < n)
		return false;
	if (out != NULL)
		memcpy(out, b->p, n);
	b->p += n;
	b->addr += n;
	return true;
}

/* An LEB128 number; only that it ends matters for the signed ones. */
static bool
take_leb(struct bytes *b, uint64_t *out)
{
	uint8_t byte;
	unsigned shift = 0;

	*out = 0;
	do {
		if (!take(b, &byte, 1))
			return false;
		if (shift < 64)
			*out |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return true;
}

static bool
take_pointer(struct bytes *b, uint8_t enc, uint64_t data_base, uint64_t *out)
{
	uint64_t at = b->addr, v = 0;
	int16_t s2;
	int32_t s4;

	switch (enc & PE_FORM) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		if (!take(b, &v, 8))
			return false;
		break;
	case PE_UDATA4:
		if (!take(b, &v, 4))
			return false;
		break;
	case PE_UDATA2:
		if (!take(b, &v, 2))
			return false;
		break;
	case PE_SDATA4:
		if (!take(b, &s4, 4))
			return false;
		v = (uint64_t)(int64_t)s4;
		break;
	case PE_SDATA2:
		if (!take(b, &s2, 2))
			return false;
		v = (uint64_t)(int64_t)s2;
		break;
	default: return false;
	}
	if ((enc & PE_BASE) == PE_PCREL)
		v += at;
	else if ((enc & PE_BASE) == PE_DATAREL)
		v += data_base;
	else if ((enc & PE_BASE) != PE_ABSPTR)
		return false;
	*out = v;
	return true;
}

/* The encoding of the addresses in a CIE's FDEs, behind length and id. */
static bool
cie_encoding(struct bytes b, uint8_t *enc)
{
	uint8_t version, byte;
	const char *aug;
	uint64_t n;
	size_t left;

	*enc = PE_ABSPTR;
	if (!take(&b, &version, 1))
		return false;
	aug = (const char *)b.p;
	left = (size_t)(b.end - b.p);
	if (memchr(aug, '\0', left) == NULL || !take(&b, NULL, strlen(aug) + 1))
		return false;
	if (aug[0] != 'z')
		return aug[0] == '\0';
	/* Code alignment, then data alignment. */
	if (!take_leb(&b, &n))
		return false;
	if (!take_leb(&b, &n))
		return false;
	/* The column of the return address: a byte in version 1. */
	if (version == 1 ? !take(&b, NULL, 1) : !take_leb(&b, &n))
		return false;
	if (!take_leb(&b, &n))
		return false;
	for (aug++; *aug != '\0'; aug++) {
		switch (*aug) {
		case 'R': return take(&b, enc, 1);
		case 'L':
			if (!take(&b, NULL, 1))
				return false;
			break;
		case 'P':
			if (!take(&b, &byte, 1) ||
			    !take_pointer(&b, byte & PE_FORM, 0, &n))
				return false;
			break;
		case 'S': break;
		default: return true;
		}
	}
	return true;
}

/* The section, by name or by way of the header the run-time uses. */
static bool
section_find(const struct object *o, struct bytes *b)
{
	Elf64_Shdr sh;
	Elf_Scn *scn = elf_file_section(&o->file, ".eh_frame", &sh);
	Elf_Data *d = scn != NULL ? elf_file_data(scn, &sh) : NULL;
	Elf64_Phdr p;
	size_t avail;
	uint64_t addr;
	uint8_t head[4];

	if (d != NULL) {
		*b = (struct bytes){ d->d_buf,
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
	if (!take(b, head, 4) || !take_pointer(b, head[1], p.p_vaddr, &addr))
		return false;
	b->p = object_bytes(o, addr, &avail);
	b->end = b->p != NULL ? b->p + avail : NULL;
	b->addr = addr;
	return b->p != NULL;
}

/* One entry; false when nothing can follow it. */
static bool
entry_take(struct bytes *b, struct bytes *body)
{
	uint32_t len32;
	uint64_t len;

	if (!take(b, &len32, 4) || len32 == 0)
		return false;
	len = len32;
	if (len32 == UINT32_MAX && !take(b, &len, 8))
		return false;
	if (len < 4 || len > (uint64_t)(b->end - b->p))
		return false;
	*body = (struct bytes){ b->p, b->p + len, b->addr };
	b->p += len;
	b->addr += len;
	return true;
}

static int
fde_compare(const void *va, const void *vb)
{
	const struct fde *a = va, *b = vb;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void
ehframe_load(struct object *o)
{
	VEC(struct fde) fdes = { 0 };
	struct bytes b, body, rest, cie;
	const uint8_t *section, *last_cie = NULL;
	uint64_t section_addr, size;
	uint8_t enc = 0;
	bool enc_ok = false;

	o->fdes_loaded = true;
	if (!section_find(o, &b))
		return;
	section = b.p;
	section_addr = b.addr;
	while (entry_take(&b, &body)) {
		const uint8_t *at = body.p;
		uint32_t id;
		struct fde f;

		if (!take(&body, &id, 4) || id == 0 ||
		    id > (uint64_t)(at - section))
			continue;
		if (at - id != last_cie) {
			last_cie = at - id;
			rest = (struct bytes){ last_cie, b.end,
				section_addr + (uint64_t)(last_cie - section) };
			enc_ok = entry_take(&rest, &cie) &&
			    take(&cie, &id, 4) && id == 0 &&
			    cie_encoding(cie, &enc);
		}
		if (!enc_ok || (enc & PE_INDIRECT) ||
		    !take_pointer(&body, enc, 0, &f.start) ||
		    !take_pointer(&body, enc & PE_FORM, 0, &size) ||
		    size == 0 || size > UINT64_MAX - f.start ||
		    !object_is_text(o, f.start))
			continue;
		f.end = f.start + size;
		*vec_push(&fdes) = f;
	}
	if (fdes.len > 0)
		qsort(fdes.at, fdes.len, sizeof(*fdes.at), fde_compare);
	o->fdes = fdes.at;
	o->fde_count = fdes.len;
}

int
object_fde_range(
    struct object *o, uint64_t addr, uint64_t *start, uint64_t *end)
{
	size_t lo = 0, hi;

	if (!o->fdes_loaded)
		ehframe_load(o);
	hi = o->fde_count;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (o->fdes[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0 || addr >= o->fdes[lo - 1].end)
		return -ENOENT;
	*start = o->fdes[lo - 1].start;
	*end = o->fdes[lo - 1].end;
	return 0;
}
