/*
 * Finds the separate debug file of a load object: by its build id below
 * /usr/lib/debug/.build-id, by the name in .gnu_debuglink, or by its build id
 * in the cache of a debuginfod server (debuginfod.h).
 *
 * Invariant: a file is used only if it is from the same build: its build id is
 * the object's or, if neither has one, its checksum is the one in the link.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <elfutils/libdwelf.h>
#include <zlib.h>

#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "symbols/debuginfod.h"
#include "symbols/elf/parts.h"

#define DEBUG_ROOT "/usr/lib/debug"

static void
debug_fini(void *part)
{
	elf_file_close(part);
}

static bool
same_build(
    const struct object *o, const struct elf_file *f, const uint32_t *crc)
{
	char *id = elf_file_build_id(f);
	bool same;

	if (o->build_id != NULL && id != NULL)
		same = strcmp(o->build_id, id) == 0;
	else
		same = crc != NULL && crc32_z(0, f->bytes, f->size) == *crc;
	mem_free(id);
	return same;
}

/* Use the file at path if it exists and is the right one. */
static bool
take(const struct object *o, const char *path, const uint32_t *crc,
    struct elf_file *f)
{
	const Elf64_Ehdr *h;

	if (elf_file_open(path, f) != 0)
		return false;
	h = f->bytes[EI_CLASS] == ELFCLASS64 ? elf64_getehdr(f->elf) : NULL;
	if (h == NULL || h->e_machine != MACHINE_ELF ||
	    (f->st.st_dev == o->file.st.st_dev &&
		f->st.st_ino == o->file.st.st_ino) ||
	    !same_build(o, f, crc)) {
		elf_file_close(f);
		return false;
	}
	LOG("symbols", "%s: debug file %s", o->path, path);
	return true;
}

static bool
by_build_id(const struct object *o, struct elf_file *f)
{
	char path[PATH_MAX];

	if (o->build_id == NULL || strlen(o->build_id) < 3)
		return false;
	snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%.2s/%s.debug",
	    o->build_id, o->build_id + 2);
	return take(o, path, NULL, f);
}

/* Search beside the file, in .debug there, and at the same path below the
 * directory of debug files. */
static bool
by_link(const struct object *o, struct elf_file *f)
{
	static const struct {
		const char *before, *after;
	} places[] = { { "", "" }, { "", ".debug/" }, { DEBUG_ROOT, "" } };
	GElf_Word crc;
	const char *name = dwelf_elf_gnu_debuglink(o->file.elf, &crc);
	int dir = (int)(o->base - o->path);
	char path[PATH_MAX];

	if (name == NULL || name[0] == '\0' || strchr(name, '/') != NULL)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		int n = snprintf(path, sizeof(path), "%s%.*s%s%s",
		    places[i].before, dir, o->path, places[i].after, name);

		if (n > 0 && (size_t)n < sizeof(path) && take(o, path, &crc, f))
			return true;
	}
	return false;
}

static bool
by_debuginfod(const struct object *o, struct elf_file *f)
{
	const char *path =
	    o->build_id != NULL ? debuginfod_path(o->build_id) : NULL;

	return path != NULL && take(o, path, NULL, f);
}

const struct elf_file *
debuglink_of(struct object *o)
{
	struct elf_file *f = object_part(o, PART_DEBUG);

	if (f == NULL) {
		f = object_part_new(o, PART_DEBUG, sizeof(*f), debug_fini);
		if (!by_build_id(o, f) && !by_link(o, f))
			by_debuginfod(o, f);
	}
	return f->elf != NULL ? f : NULL;
}
