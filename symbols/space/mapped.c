/*
 * From a mapping in a process to the file behind it.
 *
 * The ways, in order: the kernel's own link to the mapped file (needs a
 * capability, and finds deleted files too); the path as the process sees it;
 * the path as we see it; /proc/PID/exe; a descriptor of the process, if the file
 * is a memfd; and, when the file is gone, what of it is in the process's memory.
 *
 * Invariant: a file found by name is used only when it is the mapped one:
 * same device and inode, or (file systems whose maps and stat disagree about
 * the device: btrfs, overlays) the same inode and the same first bytes as in
 * memory.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "symbols/space/addrspace_impl.h"
#include "symbols/elf/parts.h"

/* A file read back from memory: programs are larger, but then mostly of data
 * that is not needed here; libraries fit. */
#define IMAGE_MOST (256ULL << 20)

/* How maps name a file of memfd_create(). */
#define MEMFD "/memfd:"

/* ELF header, program headers and (in practice) the build id. */
#define HEAD_BYTES 1024

/* The mapping of the same file at offset 0 at or before m, or NULL. */
static const struct map *
first_map(const struct maps *maps, const struct map *m)
{
	for (; m >= maps->list.at; m--) {
		if (m->inode == 0 && m->path[0] == '\0')
			continue;
		if (m->offset == 0)
			return m;
	}
	return NULL;
}

static bool
same_file(const struct map *a, const struct map *b)
{
	return a->dev == b->dev && a->inode == b->inode &&
	    strcmp(a->path, b->path) == 0;
}

bool
mapped_read(const struct mapped_in *p, uint64_t addr, void *buf, size_t len)
{
	return p->mem->read != NULL && reader_read(p->mem, addr, buf, len) == 0;
}

/* Does memory begin as the file does? */
static bool
same_head(
    const struct mapped_in *p, const struct map *m, const struct object *o)
{
	uint8_t head[HEAD_BYTES];
	const struct map *first = first_map(p->maps, m);

	return first != NULL && same_file(first, m) &&
	    o->file.size >= sizeof(head) &&
	    mapped_read(p, first->start, head, sizeof(head)) &&
	    memcmp(head, o->file.bytes, sizeof(head)) == 0;
}

/* Open by a name, if that is the mapped file. */
static int
named_open(const struct mapped_in *p, const struct map *m, const char *path,
    struct object **out, const char **why)
{
	struct stat st;
	int err;

	if (stat(path, &st) != 0)
		return -errno;
	if (st.st_ino != m->inode)
		return -ESTALE;
	err = object_open(path, m->path, out, why);
	if (err != 0)
		return err;
	st = object_stat(*out);
	if (st.st_ino == m->inode &&
	    (st.st_dev == m->dev || same_head(p, m, *out)))
		return 0;
	object_put(*out);
	return -ESTALE;
}

/*
 * glibc stores addresses of memory over those in the dynamic section; make
 * them the file's own again.  `start' is where offset 0 is mapped.
 */
static void
dynamic_restore(uint8_t *bytes, uint64_t size, uint64_t start)
{
	static const int64_t tags[] = { DT_HASH, DT_STRTAB, DT_SYMTAB,
		DT_GNU_HASH, DT_VERSYM };
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)bytes;
	uint64_t off = 0, len = 0, bias = 0;
	Elf64_Phdr p;
	Elf64_Dyn d;

	for (unsigned i = h->e_phnum; i-- > 0;) {
		uint64_t at = h->e_phoff + i * sizeof(p);

		if (h->e_phoff > size || at + sizeof(p) > size)
			continue;
		memcpy(&p, bytes + at, sizeof(p));
		if (p.p_type == PT_LOAD) /* the first one is met last */
			bias = start - (p.p_vaddr - p.p_offset);
		else if (p.p_type == PT_DYNAMIC) {
			off = p.p_offset;
			len = p.p_filesz;
		}
	}
	for (; len >= sizeof(d) && off < size && size - off >= sizeof(d);
	     off += sizeof(d), len -= sizeof(d)) {
		memcpy(&d, bytes + off, sizeof(d));
		for (size_t i = 0; i < ARRAY_SIZE(tags); i++)
			if (d.d_tag == tags[i] && d.d_un.d_ptr >= start)
				d.d_un.d_ptr -= bias;
		memcpy(bytes + off, &d, sizeof(d));
	}
}

/* Are the section headers in a segment, so that memory has them?  libdtrap-sdt
 * makes such files, the linkers do not. */
static bool
sections_are_loaded(const uint8_t *bytes, uint64_t size)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)bytes;
	uint64_t len = (uint64_t)h->e_shnum * h->e_shentsize;
	Elf64_Phdr p;

	if (h->e_phoff > size || h->e_shoff > size || len > size - h->e_shoff)
		return false;
	for (unsigned i = 0; i < h->e_phnum; i++) {
		uint64_t at = h->e_phoff + i * sizeof(p);

		if (at + sizeof(p) > size)
			break;
		memcpy(&p, bytes + at, sizeof(p));
		if (p.p_type == PT_LOAD && h->e_shoff >= p.p_offset &&
		    h->e_shoff - p.p_offset <= p.p_filesz &&
		    len <= p.p_filesz - (h->e_shoff - p.p_offset))
			return true;
	}
	return false;
}

/*
 * Put the file together again from the mappings that came with m.  What was
 * not mapped, in most files the section headers and .symtab, is zero.
 */
static int
memory_open(const struct mapped_in *p, const struct map *m, struct object **out)
{
	const struct map *first = first_map(p->maps, m), *end, *i;
	Elf64_Ehdr *h;
	uint64_t size = 0;
	uint8_t *bytes;
	int err = -ENOENT;

	if (first == NULL || !same_file(first, m))
		return -ENOENT;
	end = p->maps->list.at + p->maps->list.len;
	for (i = first; i < end && (i == first || i->offset != 0); i++)
		if (same_file(i, m))
			size = MAX(size, i->offset + (i->end - i->start));
	if (size < sizeof(*h) || size > IMAGE_MOST)
		return -EFBIG;
	bytes = mem_zalloc(size);
	for (i = first; i < end && (i == first || i->offset != 0); i++)
		if (same_file(i, m) && i->read)
			mapped_read(
			    p, i->start, bytes + i->offset, i->end - i->start);
	h = (Elf64_Ehdr *)bytes;
	if (memcmp(bytes, ELFMAG, SELFMAG) == 0) {
		if (!sections_are_loaded(bytes, size)) {
			h->e_shoff = 0;
			h->e_shnum = h->e_shstrndx = 0;
		}
		dynamic_restore(bytes, size, first->start);
		err = object_open_image(bytes, size, m->path, out);
		LOG("symbols", "%s: read back from memory: %d", m->path, err);
	}
	mem_free(bytes);
	return err;
}

/* A memfd, by a descriptor that the process has of it. */
static int
descriptor_open(const struct mapped_in *p, const struct map *m,
    struct object **out, const char **why)
{
	char path[64 + NAME_MAX];
	struct dirent *e;
	struct stat st;
	int err = -ENOENT;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)p->pid);
	DIR *d = opendir(path);
	while (d != NULL && err == -ENOENT && (e = readdir(d)) != NULL) {
		if (fstatat(dirfd(d), e->d_name, &st, 0) != 0 ||
		    st.st_ino != m->inode || st.st_dev != m->dev)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)p->pid,
		    e->d_name);
		err = named_open(p, m, path, out, why);
	}
	if (d != NULL)
		closedir(d);
	return err;
}

int
mapped_open(const struct mapped_in *p, const struct map *m, struct object **out,
    const char **why)
{
	char path[PATH_MAX + 64];
	int pid = (int)p->pid, err;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", pid,
	    (unsigned long)m->start, (unsigned long)m->end);
	err = object_open(path, m->path, out, why);
	if (err == 0 || err == -ENOEXEC)
		return err;
	if (!m->deleted) {
		snprintf(path, sizeof(path), "/proc/%d/root%s", pid, m->path);
		err = named_open(p, m, path, out, why);
		if (err == 0 || err == -ENOEXEC)
			return err;
		err = named_open(p, m, m->path, out, why);
		if (err == 0 || err == -ENOEXEC)
			return err;
	}
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	err = named_open(p, m, path, out, why);
	if (err == 0 || err == -ENOEXEC)
		return err;
	if (strncmp(m->path, MEMFD, sizeof(MEMFD) - 1) == 0) {
		err = descriptor_open(p, m, out, why);
		if (err == 0 || err == -ENOEXEC)
			return err;
	}
	return memory_open(p, m, out);
}
