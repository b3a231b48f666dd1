/*
 * Windows of objects; see windows.h.
 */
#include "tracer/sites/windows.h"

#include <string.h>

#include "dlang/base/hash.h"
#include "symbols/addrspace.h"
#include "tracer/base/part.h"
#include "tracer/names/kept.h"
#include "tracer/ptrace/proc.h"

/* A window without its instructions; addresses of the file. */
struct found {
	const char *why; /* NULL: there is one */
	uint64_t start;
	uint8_t size, n, site;
	bool ends;
};

struct windows {
	struct hash by_addr; /* index in `found', plus 1 */
	VEC(struct found) found;
};

static void
windows_end(void *part)
{
	struct windows *ws = part;

	hash_fini(&ws->by_addr);
	vec_fini(&ws->found);
}

static const struct part windows_part = { .size = sizeof(struct windows),
	.end = windows_end };

static struct windows *
windows_of(struct state *st, struct object *o)
{
	return part_of(object_parts(st, o), &windows_part);
}

/* Decode the instructions.  False: they are not those of the file, as where another
 * tool has changed some, or the file is not what it was. */
static bool
decode(struct window *w, const struct found *f, const struct load *l,
    const struct space *sp)
{
	uint8_t code[WINDOW_MOST * INSN_MAX_LEN];
	uint8_t file[WINDOW_MOST * INSN_MAX_LEN];
	uint64_t start = l->bias + f->start;
	size_t at = 0;

	*w = (struct window){ .site = f->site, .ends = f->ends };
	if (reader_read(&sp->text, start, code, f->size) != 0 ||
	    object_read(l->object, f->start, file, f->size) != 0 ||
	    memcmp(code, file, f->size) != 0)
		return false;
	for (; w->n < f->n && at < f->size; at += w->insn[w->n++].len)
		if (insn_decode(code + at, f->size - at, start + at,
			&w->insn[w->n]) != 0)
			return false;
	w->next = start + f->size;
	return w->n == f->n && at == f->size;
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
	}
	*vec_push(&ws->found) = f;
	hash_set(
	    &ws->by_addr, addr - l->bias, (void *)(uintptr_t)ws->found.len);
}
