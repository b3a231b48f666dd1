/*
 * Unwind entries for libdw; see cfi_check.h.
 *
 * libdw reads them one behind another, or goes to where the table in
 * .eh_frame_hdr leads.  So all that stand behind one another are looked at, once
 * for each file, and then that the table leads to nothing else.  A file with one
 * that no compiler writes is left alone as a whole.
 *
 * elfutils 0.189 needs it: libdw makes room for register numbers up to 2^27, and
 * reads operands of DW_CFA_advance_loc1 and its like without asking whether they
 * are there.  This file can go once the least version that is supported does
 * neither: t/fuzz/fuzz_unwind.c, built without it, says so.
 *
 * Facts: DWARF 5, 6.4; LSB, "Exception Frames"; DWARF Extensions.
 */
#include "symbols/elf/cfi_check.h"

#include <dwarf.h>
#include <string.h>

#include "dlang/base/sorted.h"
#include "dlang/base/vec.h"
#include "symbols/elf/frame_bytes.h"

/* x86-64 has numbers up to about 130 (psABI, "DWARF Register Number Mapping").
 * Compilers save one or two states. */
#define REG_MOST   256
#define STATE_MOST 64

struct cie {
	uint64_t at; /* offset in the section */
	struct frame_cie says;
};

struct check {
	bool eh;
	const uint8_t *begin;
	VEC(struct cie) cies; /* by `at', both */
	VEC(uint64_t) fdes;
};

/* ---- instructions ---- */

/* The operands of an instruction: registers for which libdw allocates memory,
 * numbers, blocks, addresses, single bytes. */
static const char *
operands(uint8_t op)
{
	switch (op) {
	case DW_CFA_set_loc: return "a";
	case DW_CFA_advance_loc1: return "1";
	case DW_CFA_advance_loc2: return "11";
	case DW_CFA_advance_loc4: return "1111";
	case DW_CFA_MIPS_advance_loc8: return "11111111";
	case DW_CFA_offset_extended:
	case DW_CFA_register:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_GNU_negative_offset_extended: return "rn";
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value: return "r";
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf: return "nn";
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_GNU_args_size: return "n";
	case DW_CFA_def_cfa_expression: return "b";
	case DW_CFA_expression:
	case DW_CFA_val_expression: return "rb";
	case DW_CFA_nop:
	case DW_CFA_remember_state:
	case DW_CFA_restore_state: return "";
	}
	return NULL;
}

static bool
good_operand(struct frame_bytes *b, char what, uint8_t enc)
{
	uint64_t n;

	switch (what) {
	case '1': return frame_take(b, NULL, 1);
	case 'a': return frame_take_pointer(b, enc, 0, &n);
	case 'r': return frame_take_leb(b, &n) && n < REG_MOST;
	case 'b': return frame_take_leb(b, &n) && frame_take(b, NULL, n);
	}
	return frame_take_leb(b, &n);
}

static bool
good_instructions(struct frame_bytes b, uint8_t enc)
{
	unsigned states = 0;
	uint8_t op;

	while (frame_take(&b, &op, 1)) {
		const char *has;

		if (op >> 6 == DW_CFA_offset >> 6)
			has = "n";
		else
			has = op >> 6 != 0 ? "" : operands(op);
		if (has == NULL)
			return false;
		for (; *has != '\0'; has++)
			if (!good_operand(&b, *has, enc))
				return false;
		if (op == DW_CFA_remember_state && ++states > STATE_MOST)
			return false;
		if (op == DW_CFA_restore_state && states > 0)
			states--;
	}
	return true;
}

/* ---- entries ---- */

static bool
take_cie(struct check *k, uint64_t at, struct frame_bytes b)
{
	struct cie c = { .at = at };

	if (!frame_take_cie(b, &c.says) || c.says.strange ||
	    !good_instructions(c.says.instructions, c.says.enc))
		return false;
	*vec_push(&k->cies) = c;
	return true;
}

static const struct cie *
cie_at(const struct check *k, uint64_t at)
{
	size_t lo = sorted_count(k->cies.len, i, k->cies.at[i].at < at);

	return lo < k->cies.len && k->cies.at[lo].at == at ? &k->cies.at[lo] :
							     NULL;
}

static bool
take_fde(
    struct check *k, uint64_t at, const struct cie *c, struct frame_bytes b)
{
	uint64_t n;

	if (c == NULL || !frame_take_pointer(&b, c->says.enc, 0, &n) ||
	    !frame_take_pointer(&b, c->says.enc & PE_FORM, 0, &n) ||
	    (c->says.sized &&
		(!frame_take_leb(&b, &n) || !frame_take(&b, NULL, n))) ||
	    !good_instructions(b, c->says.enc))
		return false;
	*vec_push(&k->fdes) = at;
	return true;
}

/* The entry at an offset, behind its length, which has 32 or 64 bits. */
static bool
take_entry(struct check *k, uint64_t at, struct frame_bytes b, bool wide)
{
	uint64_t here = (uint64_t)(b.p - k->begin), id = 0;

	if (!frame_take(&b, &id, wide ? 8 : 4))
		return false;
	if (k->eh) {
		if (id == 0)
			return take_cie(k, at, b);
		return id <= here && take_fde(k, at, cie_at(k, here - id), b);
	}
	if (id == (wide ? UINT64_MAX : UINT32_MAX))
		return take_cie(k, at, b);
	return take_fde(k, at, cie_at(k, id), b);
}

/* All entries. A section may have more entries behind an end mark. */
static bool
take_all(struct check *k, struct frame_bytes b, bool section)
{
	k->begin = b.p;
	while (b.end - b.p >= 4) {
		uint64_t at = (uint64_t)(b.p - k->begin);
		struct frame_bytes body;
		uint32_t len;

		memcpy(&len, b.p, sizeof(len));
		if (len == 0) {
			if (!section)
				return true;
			frame_take(&b, NULL, 4);
			continue;
		}
		/* libdw stops at an entry that is too long or too short,
		 * too. */
		if (!frame_take_entry(&b, &body))
			return true;
		if (!take_entry(k, at, body, len == UINT32_MAX))
			return false;
	}
	return true;
}

/* ---- the table ---- */

static bool
has_fde(const struct check *k, uint64_t at)
{
	size_t lo = sorted_count(k->fdes.len, i, k->fdes.at[i] < at);

	return lo < k->fdes.len && k->fdes.at[lo] == at;
}

/* The version, and the encodings: of the address of the entries, of the length
 * of the table, and of its rows. Linkers use only this encoding of the rows. */
static bool
good_table(const struct check *k, struct frame_bytes b, uint64_t *frame)
{
	uint64_t base = b.addr, n, start, fde;
	uint8_t head[4];

	if (!frame_take(&b, head, sizeof(head)) || head[0] != 1 ||
	    !frame_take_pointer(&b, head[1], base, frame))
		return false;
	if (head[2] == PE_OMIT || head[3] == PE_OMIT)
		return true;
	if (head[3] != (PE_DATAREL | PE_SDATA4) ||
	    !frame_take_pointer(&b, head[2], base, &n))
		return false;
	for (; n > 0 && k != NULL; n--)
		if (!frame_take_pointer(&b, head[3], base, &start) ||
		    !frame_take_pointer(&b, head[3], base, &fde) ||
		    !has_fde(k, fde - *frame))
			return false;
	return true;
}

/* Found by its program header alone: libdw reads up to the end of the file. */
static bool
check_segment(const struct elf_file *f, struct check *k)
{
	struct frame_bytes hdr, b;
	uint64_t frame;
	Elf64_Phdr p;

	if (!elf_file_segment(f, PT_GNU_EH_FRAME, &p))
		return true;
	if (p.p_offset > f->size || p.p_filesz > f->size - p.p_offset)
		return false;
	hdr.p = f->bytes + p.p_offset;
	hdr.end = hdr.p + p.p_filesz;
	hdr.addr = p.p_vaddr;
	if (!good_table(NULL, hdr, &frame))
		return false;
	uint64_t at = frame - p.p_vaddr + p.p_offset;
	if (at > f->size)
		return false;
	b = (struct frame_bytes){ f->bytes + at, f->bytes + f->size, frame };
	return take_all(k, b, false) && good_table(k, hdr, &frame);
}

/* ---- files ---- */

/* Is this the section's name, or does the name end with it, without a dot at
 * its begin?  (BOLT keeps the old entries as .bolt.org.eh_frame.) */
static bool
is_named(const char *s, const char *name)
{
	size_t size = strlen(s), len = strlen(name);

	if (*name == '.')
		return strcmp(s, name) == 0;
	return size >= len && strcmp(s + size - len, name) == 0;
}

/* Are the bytes of all sections of that name valid?  libdw takes one of them;
 * there should be only one. */
static bool
each_section(const struct elf_file *f, const char *name,
    bool (*good)(struct check *k, struct frame_bytes b), struct check *k)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(f->elf, &names) != 0)
		return true;
	while ((scn = elf_nextscn(f->elf, scn)) != NULL) {
		Elf64_Shdr sh;
		const char *s;
		Elf_Data *d;

		if (!elf_file_shdr(scn, &sh) || sh.sh_type == SHT_RELA ||
		    (s = elf_strptr(f->elf, names, sh.sh_name)) == NULL ||
		    !is_named(s, name) ||
		    (d = elf_rawdata(scn, NULL)) == NULL || d->d_buf == NULL)
			continue;
		const uint8_t *p = d->d_buf;
		if (!good(k,
			(struct frame_bytes){ p, p + d->d_size, sh.sh_addr }))
			return false;
	}
	return true;
}

static bool
good_header(struct check *k, struct frame_bytes b)
{
	uint64_t frame;

	return good_table(k, b, &frame);
}

static bool
good_entries(struct check *k, struct frame_bytes b)
{
	/* Each entry in one table must be in the other. */
	vec_clear(&k->cies);
	vec_clear(&k->fdes);
	return take_all(k, b, true);
}

bool
cficheck_eh(const struct elf_file *f)
{
	struct check k = { .eh = true };
	Elf64_Shdr sh;
	bool good;

	if (elf_file_section(f, ".eh_frame", &sh) == NULL)
		good = check_segment(f, &k);
	else
		good = each_section(f, ".eh_frame", good_entries, &k) &&
		    each_section(f, ".eh_frame_hdr", good_header, &k);
	vec_fini(&k.cies);
	vec_fini(&k.fdes);
	return good;
}

bool
cficheck_debug(const struct elf_file *f)
{
	struct check k = { .eh = false };
	bool good = each_section(f, "debug_frame", good_entries, &k);

	vec_fini(&k.cies);
	vec_fini(&k.fdes);
	return good;
}
