/*
 * Relocations that store the address of a function. When the run-time linker
 * has filled such a slot, it shows which function an IFUNC has chosen.
 */
#include <string.h>

#include "symbols/elf/parts.h"

/* The relocations of one section, and the symbols to which they refer. */
struct relocs {
	const Elf64_Rela *at;
	size_t count;
	const Elf64_Sym *syms;
	size_t sym_count;
	const char *names;
	size_t names_size;
};

static Elf_Data *
linked_data(const struct object *o, uint32_t index, Elf64_Shdr *sh)
{
	Elf_Scn *scn = index != 0 ? elf_getscn(o->file.elf, index) : NULL;

	return elf_file_shdr(scn, sh) ? elf_file_data(scn, sh) : NULL;
}

static bool
relocs_of(const struct object *o, Elf_Scn *scn, struct relocs *r)
{
	Elf64_Shdr h, symh, strh;
	Elf_Data *d, *syms, *names = NULL;

	if (!elf_file_shdr(scn, &h) || h.sh_type != SHT_RELA ||
	    !(h.sh_flags & SHF_ALLOC) || (d = elf_file_data(scn, &h)) == NULL)
		return false;
	*r = (struct relocs){ .at = d->d_buf,
		.count = d->d_size / sizeof(Elf64_Rela) };
	/* A static program has only IRELATIVE relocations, and no symbols. */
	syms = linked_data(o, h.sh_link, &symh);
	if (syms != NULL && symh.sh_type == SHT_DYNSYM)
		names = linked_data(o, symh.sh_link, &strh);
	if (names != NULL) {
		r->syms = syms->d_buf;
		r->sym_count = syms->d_size / sizeof(Elf64_Sym);
		r->names = names->d_buf;
		r->names_size = names->d_size;
	}
	return true;
}

static bool
reloc_names(
    const struct relocs *r, const Elf64_Rela *rel, const char *name, size_t len)
{
	size_t i = ELF64_R_SYM(rel->r_info);
	uint32_t off;

	if (i >= r->sym_count)
		return false;
	off = r->syms[i].st_name;
	return off < r->names_size && r->names_size - off > len &&
	    memcmp(r->names + off, name, len + 1) == 0;
}

void
object_got_slots(struct object *o, const char *name, uint64_t resolver,
    void (*each)(void *ctx, uint64_t slot), void *ctx)
{
	size_t len = strlen(name);
	Elf_Scn *scn = NULL;
	struct relocs r;

	while ((scn = elf_nextscn(o->file.elf, scn)) != NULL) {
		if (!relocs_of(o, scn, &r))
			continue;
		for (size_t i = 0; i < r.count; i++) {
			const Elf64_Rela *rel = &r.at[i];
			bool is_of = false;

			switch (machine_reloc(ELF64_R_TYPE(rel->r_info))) {
			case RELOC_RESOLVED:
				is_of = resolver != 0 &&
				    (uint64_t)rel->r_addend == resolver;
				break;
			case RELOC_SYMBOL:
				is_of = reloc_names(&r, rel, name, len);
				break;
			case RELOC_OTHER: break;
			}
			if (is_of)
				each(ctx, rel->r_offset);
		}
	}
}
