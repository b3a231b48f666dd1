/*
 * Finds caves: unused executable memory of a process, behind the end of the
 * vDSO or behind the text of a file.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "symbols/maps.h"
#include "tracer/ptrace/super.h"
#include "tracer/ptrace/target_ptrace.h"

#define PAGE 4096ULL
/* How far before a text segment the beginning of its file may be mapped. */
#define HEAD_REACH (2ULL << 30)
/* A hole smaller than this is not worth a tracepoint's slot. */
#define CAVE_MIN 16

/* A process of the space whose /proc entries show the memory: one with a
 * leader that lives. */
pid_t
space_pid(const struct space *sp)
{
	space_foreach_thread(
	    th, sp) if (!thread_gone(th) && !thread_ends(th)) return th->tid;
	return sp->procs.len > 0 ? sp->procs.at[0]->pid : 0;
}

/* The file offset behind the last byte of the text segment that is mapped at
 * `m', by the program headers in memory; 0 if it is not known. */
static uint64_t
segment_end(struct space *sp, const struct maps *maps, const struct map *m)
{
	Elf64_Ehdr e;
	Elf64_Phdr ph;

	vec_foreach(head, &maps->list) {
		if (head->offset != 0 || head->inode != m->inode ||
		    head->dev != m->dev || head->start > m->start ||
		    m->start - head->start > HEAD_REACH)
			continue;
		if (reader_read(&sp->mem, head->start, &e, sizeof(e)) < 0 ||
		    memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
		    e.e_phentsize != sizeof(ph))
			continue;
		for (unsigned i = 0; i < e.e_phnum; i++) {
			uint64_t at = head->start + e.e_phoff + i * sizeof(ph);
			if (reader_read(&sp->mem, at, &ph, sizeof(ph)) < 0)
				break;
			if (ph.p_type == PT_LOAD && (ph.p_flags & PF_X) != 0 &&
			    (ph.p_offset & ~(PAGE - 1)) == m->offset)
				return ph.p_offset + ph.p_filesz;
		}
	}
	return 0;
}

/* The part of a text mapping's last page that is behind the segment. */
static bool
find_tail(struct space *sp, const struct maps *maps, const struct map *m,
    uint64_t *addr, size_t *size)
{
	if (!m->exec || m->write || m->shared || m->path[0] != '/')
		return false;
	uint64_t end = segment_end(sp, maps, m);
	if (end <= m->offset)
		return false;
	*addr = ROUND_UP(m->start + (end - m->offset), 16);
	if (*addr >= m->end || m->end - *addr > PAGE)
		return false;
	*size = m->end - *addr;
	return true;
}

/* size is a page at most. */
static bool
is_unused(struct space *sp, uint64_t addr, size_t size)
{
	static const uint8_t zeros[PAGE];
	uint8_t tail[PAGE];

	return reader_read(&sp->mem, addr, tail, size) == 0 &&
	    memcmp(tail, zeros, size) == 0;
}

bool
space_cave_in(struct space *sp, const struct maps *maps, const struct map *m,
    uint64_t *addr, size_t *size)
{
	return find_tail(sp, maps, m, addr, size) && *size >= CAVE_MIN &&
	    is_unused(sp, *addr, *size);
}

/* The part of the vDSO's last page that is behind its image. */
static bool
find_vdso_tail(
    struct space *sp, const struct map *m, uint64_t *addr, size_t *size)
{
	Elf64_Ehdr e;

	if (!m->exec || strcmp(m->path, "[vdso]") != 0 ||
	    reader_read(&sp->mem, m->start, &e, sizeof(e)) < 0 ||
	    memcmp(e.e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	/* The section headers stand at its end. */
	uint64_t end = e.e_shoff + (uint64_t)e.e_shentsize * e.e_shnum;
	if (e.e_shnum == 0 || end > m->end - m->start)
		return false;
	*addr = ROUND_UP(m->start + end, 16);
	*addr = MAX(*addr, m->end - PAGE);
	*size = m->end - *addr;
	return *size > 0;
}

/* The tails of all mappings; the vDSO's first. */
static bool
next_tail(struct space *sp, const struct maps *maps, unsigned *cookie,
    uint64_t *addr, size_t *size)
{
	unsigned n = (unsigned)maps->list.len;

	while (*cookie < 2 * n) {
		unsigned i = (*cookie)++;
		const struct map *m = &maps->list.at[i < n ? i : i - n];
		if (i < n ? find_vdso_tail(sp, m, addr, size) :
			    find_tail(sp, maps, m, addr, size))
			return true;
	}
	return false;
}

/* Take it from the end of the cave, which is farthest from used memory. */
static uint64_t
place_in(uint64_t addr, size_t have, size_t size)
{
	return addr + ((have - size) & ~(size_t)15);
}

int
space_next_cave(struct space *sp, const struct maps *maps, size_t size,
    unsigned *cookie, uint64_t *addr)
{
	uint64_t tail;
	size_t have;

	while (next_tail(sp, maps, cookie, &tail, &have)) {
		if (have < size)
			continue;
		*addr = place_in(tail, have, size);
		return 0;
	}
	return -ENOENT;
}

int
space_find_cave(struct space *sp, size_t size, uint64_t *addr)
{
	struct maps maps = { 0 };
	int r = -ENOENT;
	unsigned cookie = 0;
	uint64_t tail;
	size_t have;

	if (maps_read(space_pid(sp), &maps) < 0)
		return -ENOENT;
	while (r < 0 && next_tail(sp, &maps, &cookie, &tail, &have))
		if (have >= size && is_unused(sp, tail, have)) {
			*addr = place_in(tail, have, size);
			r = 0;
		}
	maps_fini(&maps);
	return r;
}
