/*
 * Loads the blob, the VM that runs in the target, for an address;
 * inject/agent/agent.h describes the file.  The file is not checked here: it is
 * part of dtrap, and t/lint/blob.sh checks it.  All its relocations are
 * relative: they add the address.
 */
#include <elf.h>
#include <string.h>

#include "tracer/fast/fast_impl.h"

static const Elf64_Ehdr *
file(void)
{
	return (const void *)agent_blob;
}

static const Elf64_Phdr *
segment(unsigned n)
{
	const Elf64_Phdr *ph = (const void *)(agent_blob + file()->e_phoff);

	return n < file()->e_phnum ? &ph[n] : NULL;
}

bool
blob_measure(struct blob *b)
{
	const Elf64_Phdr *ph;

	*b = (struct blob){ 0 };
	if (agent_blob_size < sizeof(Elf64_Ehdr))
		return false;
	for (unsigned n = 0; (ph = segment(n)) != NULL; n++) {
		if (ph->p_type != PT_LOAD)
			continue;
		size_t end = ROUND_UP(ph->p_vaddr + ph->p_memsz, (size_t)PAGE);
		if (ph->p_flags & PF_W)
			b->size = MAX(b->size, end);
		else
			b->text = MAX(b->text, end);
	}
	return b->text > 0 && b->size > b->text;
}

static void
relocate(uint8_t *base, uint64_t addr, const Elf64_Dyn *dyn)
{
	const Elf64_Rela *r = NULL;
	size_t size = 0;

	for (; dyn->d_tag != DT_NULL; dyn++) {
		if (dyn->d_tag == DT_RELA)
			r = (const void *)(base + dyn->d_un.d_ptr);
		if (dyn->d_tag == DT_RELASZ)
			size = dyn->d_un.d_val;
	}
	for (size_t i = 0; r != NULL && i < size / sizeof(*r); i++) {
		uint64_t word = addr + (uint64_t)r[i].r_addend;
		memcpy(base + r[i].r_offset, &word, sizeof(word));
	}
}

const void *
blob_at(size_t offset)
{
	const Elf64_Phdr *ph;

	for (unsigned n = 0; (ph = segment(n)) != NULL; n++)
		if (ph->p_type == PT_LOAD &&
		    offset - ph->p_vaddr < ph->p_filesz)
			return agent_blob + ph->p_offset +
			    (offset - ph->p_vaddr);
	return NULL;
}

size_t
blob_load(uint8_t *base, uint64_t addr)
{
	const Elf64_Phdr *ph, *dynamic = NULL;

	for (unsigned n = 0; (ph = segment(n)) != NULL; n++) {
		if (ph->p_type == PT_LOAD)
			memcpy(base + ph->p_vaddr, agent_blob + ph->p_offset,
			    ph->p_filesz);
		if (ph->p_type == PT_DYNAMIC)
			dynamic = ph;
	}
	if (dynamic != NULL)
		relocate(base, addr, (const void *)(base + dynamic->p_vaddr));
	return file()->e_entry;
}
