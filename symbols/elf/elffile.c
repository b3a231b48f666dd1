/*
 * An ELF file in memory, and its headers.
 *
 * Headers are copied and never used in place. In a file of unknown origin a
 * table may be at any offset, and libelf then returns pointers that are not
 * aligned. (libelf copies the data of such sections.)
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <gelf.h>

#include "dlang/base/mem.h"
#include "symbols/elf/parts.h"

int
elf_file_image(uint8_t *bytes, size_t size, struct elf_file *out)
{
	*out = (struct elf_file){ .bytes = bytes, .size = size };
	elf_version(EV_CURRENT);
	if (size >= sizeof(Elf64_Ehdr))
		out->elf = elf_memory((char *)bytes, size);
	if (out->elf != NULL && elf_kind(out->elf) == ELF_K_ELF)
		return 0;
	elf_file_close(out);
	return -ENOEXEC;
}

int
elf_file_open(const char *path, struct elf_file *out)
{
	int fd, err = 0;
	void *p = MAP_FAILED;

	/* Opening a device or a pipe may have effects, so look at the type
	 * first. */
	*out = (struct elf_file){ 0 };
	if (stat(path, &out->st) != 0)
		return -errno;
	if (!S_ISREG(out->st.st_mode))
		return -ENOEXEC;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &out->st) != 0)
		err = -errno;
	else if (!S_ISREG(out->st.st_mode) ||
	    out->st.st_size < (off_t)sizeof(Elf64_Ehdr))
		err = -ENOEXEC;
	if (err == 0) {
		out->size = (size_t)out->st.st_size;
		/* Writable, because libelf changes headers in place when it
		 * decompresses a section. The file itself is never written. */
		p = mmap(NULL, out->size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_NORESERVE, fd, 0);
		if (p == MAP_FAILED)
			err = -errno;
	}
	close(fd);
	if (err != 0)
		return err;
	out->bytes = p;
	out->mapped = true;
	elf_version(EV_CURRENT);
	out->elf = elf_memory(p, out->size);
	if (out->elf != NULL && elf_kind(out->elf) == ELF_K_ELF)
		return 0;
	elf_file_close(out);
	return -ENOEXEC;
}

void
elf_file_close(struct elf_file *f)
{
	if (f->elf != NULL)
		elf_end(f->elf);
	if (f->mapped)
		munmap((void *)(uintptr_t)f->bytes, f->size);
	else
		mem_free((void *)(uintptr_t)f->bytes);
	*f = (struct elf_file){ 0 };
}

size_t
elf_file_phdrs(const struct elf_file *f)
{
	size_t n;

	return elf_getphdrnum(f->elf, &n) == 0 ? n : 0;
}

bool
elf_file_phdr(const struct elf_file *f, size_t i, Elf64_Phdr *out)
{
	return i <= INT_MAX && gelf_getphdr(f->elf, (int)i, out) != NULL;
}

bool
elf_file_segment(const struct elf_file *f, uint32_t type, Elf64_Phdr *out)
{
	size_t n = elf_file_phdrs(f);

	for (size_t i = 0; i < n; i++)
		if (elf_file_phdr(f, i, out) && out->p_type == type)
			return true;
	return false;
}

bool
elf_file_shdr(Elf_Scn *scn, Elf64_Shdr *out)
{
	return scn != NULL && gelf_getshdr(scn, out) != NULL;
}

Elf_Scn *
elf_file_section(const struct elf_file *f, const char *name, Elf64_Shdr *shdr)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(f->elf, &names) != 0)
		return NULL;
	while ((scn = elf_nextscn(f->elf, scn)) != NULL) {
		const char *s;

		if (!elf_file_shdr(scn, shdr))
			continue;
		s = elf_strptr(f->elf, names, shdr->sh_name);
		if (s != NULL && strcmp(s, name) == 0)
			return scn;
	}
	return NULL;
}

Elf_Data *
elf_file_data(Elf_Scn *scn, const Elf64_Shdr *shdr)
{
	Elf_Data *d;

	if (shdr->sh_type == SHT_NOBITS || (shdr->sh_flags & SHF_COMPRESSED))
		return NULL;
	d = elf_getdata(scn, NULL);
	return d != NULL && d->d_buf != NULL ? d : NULL;
}

char *
elf_file_build_id(const struct elf_file *f)
{
	const void *id = NULL;
	ssize_t n = dwelf_elf_gnu_build_id(f->elf, &id);
	char *hex;

	/* SHA-1 has 20 bytes; up to 64 are accepted. */
	if (n <= 0 || n > 64)
		return NULL;
	hex = mem_alloc((size_t)n * 2 + 1);
	for (ssize_t i = 0; i < n; i++)
		snprintf(hex + i * 2, 3, "%02x", ((const uint8_t *)id)[i]);
	return hex;
}
