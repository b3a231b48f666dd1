/*
 * Windows of objects; see windows.h.
 */
#include "tracer/sites/windows.h"

#include <string.h>

#include "dlang/base/hash.h"
#include "inject/trap/area.h"
#include "symbols/addrspace.h"
#include "tracer/base/part.h"
#include "tracer/names/kept.h"
#include "tracer/ptrace/proc.h"

/* A window without its instructions; addresses of the file. */
struct found {
	const char *why; /* NULL: there is one */
	uint64_t start;
	uint64_t board; /* 0: it needs none */
	uint8_t size, n, site;
	bool ends;
};

struct windows {
	struct hash by_addr; /* index in `found', plus 1 */
	struct hash boards;  /* by address, those in use */
	VEC(struct found) found;
};

static void
windows_end(void *part)
{
	struct windows *ws = part;

	hash_fini(&ws->by_addr);
	hash_fini(&ws->boards);
	vec_fini(&ws->found);
}

static const struct part windows_part = { .size = sizeof(struct windows),
	.end = windows_end };

static struct windows *
windows_of(struct state *st, struct object *o)
{
	return part_of(object_parts(st, o), &windows_part);
}

static bool
is_as_in_file(
    const struct space *sp, const struct load *l, uint64_t addr, size_t len)
{
	uint8_t code[WINDOW_MOST * INSN_MAX_LEN];
	uint8_t file[WINDOW_MOST * INSN_MAX_LEN];

	return reader_read(&sp->text, addr, code, len) == 0 &&
	    object_read(l->object, addr - l->bias, file, len) == 0 &&
	    memcmp(code, file, len) == 0;
}

/* Decode the instructions.  False: they are not those of the file, as where another
 * tool has changed some, or the file is not what it was. */
static bool
decode(struct window *w, const struct found *f, const struct load *l,
    const struct space *sp)
{
	uint8_t code[WINDOW_MOST * INSN_MAX_LEN];
	uint64_t start = l->bias + f->start;
	size_t at = 0;

	*w = (struct window){ .site = f->site, .ends = f->ends };
	if (!is_as_in_file(sp, l, start, f->size) ||
	    reader_read(&sp->text, start, code, f->size) != 0)
		return false;
	for (; w->n < f->n && at < f->size; at += w->insn[w->n++].len)
		if (insn_decode(code + at, f->size - at, start + at,
			&w->insn[w->n]) != 0)
			return false;
	w->next = start + f->size;
	w->board = f->board != 0 ? l->bias + f->board : 0;
	return w->n == f->n && at == f->size &&
	    (w->board == 0 || is_as_in_file(sp, l, w->board, TRAP_JUMP_LEN));
}

bool
windows_known(struct state *st, struct space *sp, const struct load *l,
    uint64_t addr, struct window *w, const char **why)
{
	const struct windows *ws = windows_of(st, l->object);
	size_t i = (size_t)(uintptr_t)hash_get(&ws->by_addr, addr - l->bias);

	if (i == 0)
		return false;
	const struct found *f = &ws->found.at[i - 1];
	*why = f->why;
	return f->why != NULL ||
	    (decode(w, f, l, sp) && w->insn[w->site].addr == addr);
}

bool
windows_board_free(
    struct state *st, struct space *sp, const struct load *l, uint64_t addr)
{
	const struct windows *ws = windows_of(st, l->object);
	uint64_t own = addr - l->bias;

	for (unsigned i = 0; i < 2 * TRAP_JUMP_LEN - 1; i++)
		if (hash_get(&ws->boards, own - TRAP_TAIL + i) != NULL)
			return false;
	return is_as_in_file(sp, l, addr, TRAP_JUMP_LEN);
}

void
windows_keep(struct state *st, const struct load *l, uint64_t addr,
    const struct window *w, const char *why)
{
	struct windows *ws = windows_of(st, l->object);
	struct found f = { .why = why };

	if (why == NULL) {
		f.start = w->insn[0].addr - l->bias;
		f.size = (uint8_t)(w->next - w->insn[0].addr);
		f.n = (uint8_t)w->n;
		f.site = (uint8_t)w->site;
		f.ends = w->ends;
		f.board = w->board != 0 ? w->board - l->bias : 0;
	}
	if (f.board != 0)
		hash_set(&ws->boards, f.board, ws);
	*vec_push(&ws->found) = f;
	hash_set(
	    &ws->by_addr, addr - l->bias, (void *)(uintptr_t)ws->found.len);
}
