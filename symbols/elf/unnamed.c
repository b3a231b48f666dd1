/*
 * Functions without a name: code that unwind entries (.eh_frame) describe and
 * no symbol covers, as in a stripped program.
 *
 * An entry is a range of code, and nearly always a function. It is no function
 * if the linker wrote it for a procedure linkage table, or if only the kernel
 * enters the code (the return from a signal handler).
 *
 * Invariant: as in symtab.c, nothing moves after unnamed_of(). No two ranges
 * overlap, and none overlaps the begin of a function that has a name.
 */
#include <inttypes.h>
#include <string.h>

#include "dlang/base/vec.h"
#include "symbols/elf/parts.h"

/* As many as symbols: see symtab.c. */
#define UNNAMED_MOST (1 << 24)

#define PREFIX       "sub_"

/* There is one procedure linkage table, with at most three parts. */
#define PLTS_MOST 8

struct range {
	uint64_t start, end;
};

struct unnamed {
	VEC(struct sym) funcs;
	struct arena names;
	/* Facts about the file, while the list is made. */
	struct range plts[PLTS_MOST];
	size_t plt_count;
	bool sections; /* the file has section headers */
};

static void
plts_find(struct unnamed *u, const struct object *o)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(o->file.elf, &names) != 0)
		return;
	while ((scn = elf_nextscn(o->file.elf, scn)) != NULL) {
		Elf64_Shdr h;
		const char *s;

		if (!elf_file_shdr(scn, &h))
			continue;
		u->sections = true;
		s = elf_strptr(o->file.elf, names, h.sh_name);
		if (s == NULL || strncmp(s, ".plt", 4) != 0 ||
		    u->plt_count == PLTS_MOST)
			continue;
		u->plts[u->plt_count++] =
		    (struct range){ h.sh_addr, h.sh_addr + h.sh_size };
	}
}

/* Without section headers: recognise the table by the first instructions of its
 * parts. */
static bool
begins_as_plt(const struct object *o, uint64_t addr)
{
	size_t avail;
	const uint8_t *p = object_bytes(o, addr, &avail);

	return p != NULL && machine_is_plt(p, MIN(avail, 16));
}

static bool
is_plt(const struct unnamed *u, const struct object *o, uint64_t addr)
{
	for (size_t i = 0; i < u->plt_count; i++)
		if (addr >= u->plts[i].start && addr < u->plts[i].end)
			return true;
	return !u->sections && begins_as_plt(o, addr);
}

/* The bytes of text from addr on, as far as they are in the file. */
static uint64_t
text_left(const struct object *o, uint64_t addr)
{
	size_t avail;

	return object_is_text(o, addr) &&
		object_bytes(o, addr, &avail) != NULL ?
	    avail :
	    0;
}

static void
unnamed_add(
    struct unnamed *u, const struct object *o, uint64_t start, uint64_t end)
{
	uint64_t left = text_left(o, start);

	if (end <= start || left == 0)
		return;
	*vec_push(&u->funcs) = (struct sym){
		.name = arena_printf(&u->names, PREFIX "%" PRIx64, start),
		.addr = start,
		.size = MIN(end - start, left),
		.kind = SYM_FUNC,
	};
}

static void
unnamed_fini(void *part)
{
	struct unnamed *u = part;

	vec_fini(&u->funcs);
	arena_fini(&u->names);
}

static struct unnamed *
unnamed_of(struct object *o)
{
	struct unnamed *u = object_part(o, PART_UNNAMED);
	const struct fde *fdes;
	const struct sym *named;
	size_t n, count, next = 0;

	if (u != NULL)
		return u;
	u = object_part_new(o, PART_UNNAMED, sizeof(*u), unnamed_fini);
	arena_init(&u->names);
	plts_find(u, o);
	n = object_fdes(o, &fdes);
	count = object_funcs(o, &named);
	for (size_t i = 0; i < n && u->funcs.len < UNNAMED_MOST; i++) {
		uint64_t start = fdes[i].start, end = fdes[i].end;

		while (next < count && named[next].addr <= start)
			next++;
		if (next < count)
			end = MIN(end, named[next].addr);
		if (i + 1 < n)
			end = MIN(end, fdes[i + 1].start);
		if (!fdes[i].signal && !is_plt(u, o, start) &&
		    object_func_at(o, start) == NULL)
			unnamed_add(u, o, start, end);
	}
	return u;
}

size_t
object_unnamed(struct object *o, const struct sym **syms)
{
	const struct unnamed *u = unnamed_of(o);

	*syms = u->funcs.at;
	return u->funcs.len;
}

const struct sym *
object_unnamed_at(struct object *o, uint64_t addr)
{
	const struct unnamed *u = unnamed_of(o);
	size_t n = syms_to(u->funcs.at, u->funcs.len, addr);

	if (n == 0 || addr - u->funcs.at[n - 1].addr >= u->funcs.at[n - 1].size)
		return NULL;
	return &u->funcs.at[n - 1];
}

bool
object_is_unnamed(const struct sym *s)
{
	return strncmp(s->name, PREFIX, sizeof(PREFIX) - 1) == 0;
}

const struct sym *
object_code_at(struct object *o, uint64_t addr)
{
	const struct sym *s = object_func_at(o, addr);

	return s != NULL ? s : object_unnamed_at(o, addr);
}
