/*
 * Load objects: opening them, sharing them, their program headers.
 *
 * One object per file.  The list below holds every object that is in use, and
 * a few that no longer are, because a short-lived child maps the libraries
 * that its parent's last child has just unmapped.
 *
 *	object_open -> in use (refs > 0) -> last put -> unused -> dropped
 *			  ^                               |
 *			  +------- opened again ----------+
 *
 * Invariant: an object in the list is what is at its device and inode; one
 * whose file has been written over leaves the list and lives on with those
 * who hold it.
 */
#include "symbols/object.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "dlang/base/vec.h"
#include "symbols/elf/parts.h"

#define PAGE 4096ULL

/* How many unused objects are kept: as many as the usual commands of a shell
 * script map. */
#ifdef DTRAP_SHRINK
#define UNUSED_KEPT 1
#else
#define UNUSED_KEPT 24
#endif

/* A program has about ten program headers. A larger table is damaged. */
#define PHDRS_MOST 1024

static VEC(struct object *) objects;
static uint64_t put_clock;

/* NULL if it is a program or library for this machine; else the reason. */
static const char *
foreign(const struct elf_file *f)
{
	const Elf64_Ehdr *h;

	if (f->bytes[EI_CLASS] != ELFCLASS64)
		return "32-bit";
	if (f->bytes[EI_DATA] != ELFDATA2LSB)
		return "not " MACHINE_NAME;
	h = elf64_getehdr(f->elf);
	if (h == NULL)
		return "damaged ELF header";
	if (h->e_machine != MACHINE_ELF)
		return "not " MACHINE_NAME;
	if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
		return "neither a program nor a library";
	return NULL;
}

static void
segment_add(struct object *o, const Elf64_Phdr *p)
{
	uint64_t len = p->p_filesz;

	if (p->p_offset > o->file.size || p->p_memsz == 0 ||
	    p->p_vaddr > UINT64_MAX - PAGE - p->p_memsz)
		return;
	len = MIN(len, o->file.size - p->p_offset);
	o->segs[o->seg_count++] = (struct segment){
		.addr = p->p_vaddr,
		.offset = p->p_offset,
		.file_size = MIN(len, p->p_memsz),
		.mem_size = p->p_memsz,
		.exec = (p->p_flags & PF_X) != 0,
		.write = (p->p_flags & PF_W) != 0,
	};
}

static void
interp_add(struct object *o, const Elf64_Phdr *p)
{
	if (o->interp != NULL || p->p_filesz < 2 || p->p_filesz > PATH_MAX ||
	    p->p_filesz > o->file.size ||
	    p->p_offset > o->file.size - p->p_filesz)
		return;
	o->interp =
	    mem_strndup((const char *)o->file.bytes + p->p_offset, p->p_filesz);
}

/* Read the program headers and what depends on them. 0 or -ENOEXEC. */
static int
headers_load(struct object *o, const char **why)
{
	const Elf64_Ehdr *h = elf64_getehdr(o->file.elf);
	size_t n = elf_file_phdrs(&o->file);
	uint64_t flags;

	*why = "no program headers";
	if (h == NULL || n == 0 || n > PHDRS_MOST)
		return -ENOEXEC;
	o->entry = h->e_entry;
	o->pie = h->e_type == ET_DYN;
	o->segs = mem_alloc(n * sizeof(*o->segs));
	for (size_t i = 0; i < n; i++) {
		Elf64_Phdr p;

		if (!elf_file_phdr(&o->file, i, &p))
			continue;
		if (p.p_type == PT_LOAD)
			segment_add(o, &p);
		else if (p.p_type == PT_INTERP)
			interp_add(o, &p);
		else if (p.p_type == PT_DYNAMIC)
			o->has_dynamic = true;
	}
	*why = "nothing to load";
	if (o->seg_count == 0)
		return -ENOEXEC;
	if (object_dynamic(o, DT_FLAGS_1, &flags) == 0)
		o->df_pie = (flags & DF_1_PIE) != 0;
	*why = NULL;
	return 0;
}

void *
object_part(const struct object *o, enum object_part which)
{
	return o->parts[which].is;
}

void *
object_part_new(struct object *o, enum object_part which, size_t size,
    void (*fini)(void *part))
{
	if (o->parts[which].is == NULL) {
		o->parts[which].is = mem_zalloc(size);
		o->parts[which].fini = fini;
	}
	return o->parts[which].is;
}

void
object_part_drop(struct object *o, enum object_part which)
{
	if (o->parts[which].is != NULL && o->parts[which].fini != NULL)
		o->parts[which].fini(o->parts[which].is);
	mem_free(o->parts[which].is);
	o->parts[which].is = NULL;
}

static void
object_destroy(struct object *o)
{
	for (enum object_part i = 0; i < PARTS; i++)
		object_part_drop(o, i);
	elf_file_close(&o->file);
	mem_free(o->segs);
	mem_free(o->interp);
	mem_free(o->build_id);
	mem_free(o->path);
	mem_free(o);
}

/* The file belongs to the object from now on; it is closed if this fails. */
static int
object_create(struct elf_file *file, const char *display, struct object **out,
    const char **why)
{
	struct object *o;
	Elf64_Shdr sh;
	const char *slash;

	*why = foreign(file);
	if (*why != NULL) {
		elf_file_close(file);
		return -ENOEXEC;
	}
	o = mem_zalloc(sizeof(*o));
	o->refs = 1;
	o->file = *file;
	o->path = mem_strdup(display);
	slash = strrchr(o->path, '/');
	o->base = slash != NULL ? slash + 1 : o->path;
	/* A ":" would end the field of a probe description. */
	if (strncmp(o->path, "/memfd:", 7) == 0)
		o->base = o->path + 7;
	if (headers_load(o, why) != 0) {
		object_destroy(o);
		return -ENOEXEC;
	}
	o->build_id = elf_file_build_id(file);
	o->go = elf_file_section(file, ".gopclntab", &sh) != NULL ||
	    elf_file_section(file, ".note.go.buildid", &sh) != NULL;
	*out = o;
	return 0;
}

/* Keep a limited number of unused objects. */
static void
unused_drop(void)
{
	size_t unused = 0, oldest = 0;

	for (size_t i = 0; i < objects.len; i++) {
		if (objects.at[i]->refs != 0)
			continue;
		if (unused == 0 ||
		    objects.at[i]->last_put < objects.at[oldest]->last_put)
			oldest = i;
		unused++;
	}
	if (unused <= UNUSED_KEPT)
		return;
	object_destroy(objects.at[oldest]);
	objects.at[oldest] = objects.at[--objects.len];
}

static void
listed_remove(struct object *o)
{
	for (size_t i = 0; i < objects.len; i++) {
		if (objects.at[i] != o)
			continue;
		objects.at[i] = objects.at[--objects.len];
		return;
	}
}

static bool
listed(const struct object *o)
{
	vec_foreach(e, &objects)
		if (*e == o)
			return true;
	return false;
}

static struct object *
listed_lookup(const struct stat *st)
{
	vec_foreach(e, &objects) {
		const struct stat *s = &(*e)->file.st;

		if ((*e)->file.mapped && s->st_ino == st->st_ino &&
		    s->st_dev == st->st_dev)
			return *e;
	}
	return NULL;
}

/* Is the content of the file the same as when it was read? */
static bool
unchanged(const struct object *o, const struct stat *st)
{
	const struct stat *s = &o->file.st;
	char *id;
	bool same;

	if (s->st_size != st->st_size ||
	    s->st_mtim.tv_sec != st->st_mtim.tv_sec ||
	    s->st_mtim.tv_nsec != st->st_mtim.tv_nsec)
		return false;
	/* The size is the same, so the mapping may be read. */
	id = elf_file_build_id(&o->file);
	same = id == NULL ? o->build_id == NULL :
			    o->build_id != NULL && strcmp(id, o->build_id) == 0;
	mem_free(id);
	return same;
}

int
object_open(const char *path, const char *display, struct object **out,
    const char **why)
{
	struct elf_file file;
	struct object *o;
	struct stat st;
	const char *reason = NULL;
	int err;

	if (why == NULL)
		why = &reason;
	*why = NULL;
	if (stat(path, &st) != 0)
		return -errno;
	o = listed_lookup(&st);
	if (o != NULL && unchanged(o, &st)) {
		*out = object_get(o);
		return 0;
	}
	if (o != NULL) {
		listed_remove(o);
		if (o->refs == 0)
			object_destroy(o);
	}
	err = elf_file_open(path, &file);
	if (err == -ENOEXEC)
		*why = "not an ELF file";
	if (err == 0)
		err = object_create(&file, display, &o, why);
	if (err != 0)
		return err;
	*vec_push(&objects) = o;
	*out = o;
	LOG("symbols", "opened %s, build id %s", display,
	    o->build_id != NULL ? o->build_id : "none");
	return 0;
}

int
object_open_image(
    const void *bytes, size_t size, const char *display, struct object **out)
{
	struct elf_file file;
	const char *why;
	uint8_t *copy;
	int err;

	vec_foreach(e, &objects) {
		if (!(*e)->file.mapped && (*e)->file.size == size &&
		    memcmp((*e)->file.bytes, bytes, size) == 0) {
			*out = object_get(*e);
			return 0;
		}
	}
	copy = mem_alloc(size);
	memcpy(copy, bytes, size);
	err = elf_file_image(copy, size, &file);
	if (err == 0)
		err = object_create(&file, display, out, &why);
	if (err == 0)
		*vec_push(&objects) = *out;
	return err;
}

struct object *
object_get(struct object *o)
{
	o->refs++;
	return o;
}

void
object_put(struct object *o)
{
	if (o == NULL || --o->refs > 0)
		return;
	if (!listed(o)) {
		object_destroy(o);
		return;
	}
	o->last_put = ++put_clock;
	unused_drop();
}

const char *
object_path(const struct object *o)
{
	return o->path;
}

const char *
object_basename(const struct object *o)
{
	return o->base;
}

bool
object_is_pie(const struct object *o)
{
	return o->pie;
}

bool
object_is_static(const struct object *o)
{
	if (o->interp != NULL)
		return false;
	return !o->has_dynamic || o->df_pie || !o->pie;
}

bool
object_is_go(const struct object *o)
{
	return o->go;
}

uint64_t
object_entry(const struct object *o)
{
	return o->entry;
}

const char *
object_interp(const struct object *o)
{
	return o->interp;
}

const char *
object_build_id(const struct object *o)
{
	return o->build_id;
}

const uint8_t *
object_bytes(const struct object *o, uint64_t addr, size_t *avail)
{
	for (size_t i = 0; i < o->seg_count; i++) {
		const struct segment *s = &o->segs[i];

		if (addr < s->addr || addr - s->addr >= s->file_size)
			continue;
		*avail = s->file_size - (addr - s->addr);
		return o->file.bytes + s->offset + (addr - s->addr);
	}
	return NULL;
}

int
object_read(struct object *o, uint64_t addr, void *buf, size_t len)
{
	size_t avail;
	const uint8_t *p = object_bytes(o, addr, &avail);

	if (p == NULL || avail < len)
		return -EFAULT;
	memcpy(buf, p, len);
	return 0;
}

bool
object_is_text(const struct object *o, uint64_t addr)
{
	for (size_t i = 0; i < o->seg_count; i++) {
		const struct segment *s = &o->segs[i];

		if (s->exec && addr >= s->addr && addr - s->addr < s->mem_size)
			return true;
	}
	return false;
}

bool
object_code(const struct object *o, size_t i, uint64_t *start, uint64_t *end)
{
	for (size_t k = 0; k < o->seg_count; k++) {
		const struct segment *s = &o->segs[k];

		if (!s->exec || i-- > 0)
			continue;
		*start = s->addr;
		*end = s->addr + s->file_size;
		return true;
	}
	return false;
}

void
object_words(
    struct object *o, void (*each)(void *ctx, uint64_t addr), void *ctx)
{
	for (size_t i = 0; i < o->seg_count; i++) {
		const struct segment *s = &o->segs[i];
		uint64_t word;

		for (uint64_t at = -s->addr & 7; at + 8 <= s->file_size;
		     at += 8) {
			memcpy(&word, o->file.bytes + s->offset + at, 8);
			if (word != 0 && object_is_text(o, word))
				each(ctx, word);
		}
	}
}

bool
object_section(
    const struct object *o, const char *name, uint64_t *start, uint64_t *end)
{
	Elf64_Shdr sh;

	if (elf_file_section(&o->file, name, &sh) == NULL ||
	    (sh.sh_flags & SHF_ALLOC) == 0 ||
	    sh.sh_addr + sh.sh_size < sh.sh_addr)
		return false;
	*start = sh.sh_addr;
	*end = sh.sh_addr + sh.sh_size;
	return true;
}

bool
object_is_data(const struct object *o, uint64_t addr, size_t len)
{
	for (size_t i = 0; i < o->seg_count; i++) {
		const struct segment *s = &o->segs[i];

		if (s->write && addr >= s->addr && len <= s->mem_size &&
		    addr - s->addr <= s->mem_size - len)
			return true;
	}
	return false;
}

int
object_mapping_bias(const struct object *o, uint64_t start, uint64_t offset,
    bool exec, uint64_t *bias)
{
	for (size_t i = 0; i < o->seg_count; i++) {
		const struct segment *s = &o->segs[i];
		uint64_t first = s->offset & ~(PAGE - 1);

		if ((exec && !s->exec) || offset < first ||
		    offset >= s->offset + s->file_size)
			continue;
		*bias = start - (s->addr - s->offset + offset);
		return 0;
	}
	return -ENOENT;
}

struct stat
object_stat(const struct object *o)
{
	return o->file.st;
}

void
object_extent(const struct object *o, uint64_t *lo, uint64_t *hi)
{
	*lo = UINT64_MAX;
	*hi = 0;
	for (size_t i = 0; i < o->seg_count; i++) {
		const struct segment *s = &o->segs[i];

		*lo = MIN(*lo, s->addr & ~(PAGE - 1));
		*hi = MAX(*hi, ROUND_UP(s->addr + s->mem_size, PAGE));
	}
}

uint64_t
object_dynamic_addr(const struct object *o, uint64_t *size)
{
	Elf64_Phdr p;

	if (!elf_file_segment(&o->file, PT_DYNAMIC, &p))
		return 0;
	*size = p.p_memsz;
	return p.p_vaddr;
}

int
object_dynamic(const struct object *o, int64_t tag, uint64_t *value)
{
	uint64_t size = 0, addr = object_dynamic_addr(o, &size);
	size_t avail = 0;
	const uint8_t *p = object_bytes(o, addr, &avail);
	Elf64_Dyn d;

	if (addr == 0 || p == NULL)
		return -ENOENT;
	avail = MIN(avail, size);
	for (; avail >= sizeof(d); p += sizeof(d), avail -= sizeof(d)) {
		memcpy(&d, p, sizeof(d));
		if (d.d_tag == DT_NULL)
			break;
		if (d.d_tag == tag) {
			*value = d.d_un.d_val;
			return 0;
		}
	}
	return -ENOENT;
}
