/*
 * Address to text: object`function+0xoffset.
 */
#include "symbols/symbolise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "symbols/demangle.h"
#include "symbols/dwarf.h"
#include "symbols/langname.h"
#include "symbols/elf/parts.h"

/* Longer than this a template's name is noise; the record has no more room
 * for it either. */
#define NAME_BYTES 1024

static symbolise_owner *owner_of;
static void *owner_ctx;

void
symbolise_by_owner(symbolise_owner *owner, void *ctx)
{
	owner_of = owner;
	owner_ctx = ctx;
}

/* The function, or piece of one, of the load (which may be NULL) that covers
 * addr, or NULL. */
static const struct sym *
covering(const struct load *l, uint64_t addr)
{
	return l != NULL ? object_code_at(l->object, addr - l->bias) : NULL;
}

/* The function that a piece without a name, or any other function, belongs to. */
static const struct sym *
whole(const struct load *l, const struct sym *f)
{
	const struct sym *owner;
	uint64_t start;

	if (f == NULL || owner_of == NULL || !object_is_unnamed(f) ||
	    owner_of(owner_ctx, l->object, f->addr, &start) != 0)
		return f;
	owner = object_code_at(l->object, start);
	return owner != NULL ? owner : f;
}

/* The load whose segments hold addr: its zeroed data may be in a mapping of no
 * file. */
static const struct load *
holding(uint32_t stamp, uint64_t addr)
{
	const struct addrspace *as = addrspace_by_id(stamp);
	struct load *const *loads;
	size_t n = as != NULL ? addrspace_loads(as, &loads) : 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t lo, hi;

		object_extent(loads[i]->object, &lo, &hi);
		if (addr >= loads[i]->bias + lo && addr < loads[i]->bias + hi)
			return loads[i];
	}
	return NULL;
}

static const struct load *
load_then(uint32_t stamp, uint64_t addr)
{
	const struct load *l = addrspace_load_then(stamp, addr);

	return l != NULL ? l : holding(stamp, addr);
}

/* The function that covers addr, else the variable; code of no function is
 * not worth the search for one. */
static const struct sym *
covering_any(const struct load *l, uint64_t addr)
{
	const struct sym *f = covering(l, addr);

	if (f != NULL || l == NULL || object_is_text(l->object, addr - l->bias))
		return whole(l, f);
	return object_data_at(l->object, addr - l->bias);
}

/* An address in the load by the symbol `f', which may be NULL. */
static void
sym_text(const struct load *l, const struct sym *f, uint64_t addr,
    unsigned flags, char *buf, size_t size)
{
	char text[NAME_BYTES];
	const char *name;

	if (f == NULL) {
		snprintf(buf, size, "%s`0x%" PRIx64, l->module, addr);
		return;
	}
	name = flags & SYM_DEMANGLE ? demangle(f->name, text, sizeof(text)) :
				      f->name;
	uint64_t off = addr - l->bias - f->addr;
	if (off == 0 || (flags & SYM_NO_OFFSET))
		snprintf(buf, size, "%s`%s", l->module, name);
	else if (addr - l->bias < f->addr) /* in a piece of it */
		snprintf(buf, size, "%s`%s-0x%" PRIx64, l->module, name, -off);
	else
		snprintf(buf, size, "%s`%s+0x%" PRIx64, l->module, name, off);
}

static void
line_text(const struct load *l, uint64_t look, char *buf, size_t size)
{
	size_t len = strlen(buf);
	const char *file;
	int line;

	if (dwarf_line(l->object, look - l->bias, &file, &line))
		snprintf(buf + len, size - len, " (%s:%d)", file, line);
}

/* What is at `look' in the load is called by `addr': they differ where the
 * instruction before the address is meant. */
static char *
load_text(const struct load *l, uint64_t addr, uint64_t look, unsigned flags,
    char *buf, size_t size)
{
	if (l == NULL)
		snprintf(buf, size, "0x%" PRIx64, addr);
	else if (flags & SYM_MODULE)
		snprintf(buf, size, "%s", l->module);
	else if (flags & SYM_RAW)
		snprintf(buf, size, "%s:0x%" PRIx64, l->module, addr - l->bias);
	else
		sym_text(l, covering_any(l, look), addr, flags, buf, size);
	if (l != NULL && (flags & SYM_LINE))
		line_text(l, look, buf, size);
	return buf;
}

char *
symbolise(
    struct addrspace *as, uint64_t addr, unsigned flags, char *buf, size_t size)
{
	const struct load *l = as != NULL ? addrspace_load_at(as, addr) : NULL;

	return load_text(l, addr, addr, flags, buf, size);
}

char *
symbolise_then(
    uint32_t stamp, uint64_t addr, unsigned flags, char *buf, size_t size)
{
	const struct lang_name *far = langname_of(addr);

	if (far != NULL && far->native) {
		snprintf(buf, size, "%s", far->function);
		return buf;
	}
	return load_text(load_then(stamp, addr), addr, addr, flags, buf, size);
}

/* Was the frame outside of this one interrupted, and did not call it? */
static bool
is_signal_frame(uint32_t stamp, uint64_t pc)
{
	const struct load *l = addrspace_load_then(stamp, pc);
	const struct cfi_row *row =
	    l != NULL ? cfi_row(l->object, pc - l->bias) : NULL;
	uint8_t code[MACHINE_SIGRETURN];

	if (row != NULL)
		return row->signal;
	/* In musl it has no rules. */
	return l != NULL &&
	    object_read(l->object, pc - l->bias, code, sizeof(code)) == 0 &&
	    machine_is_sigreturn(code);
}

/* A native frame of a process elsewhere: its name without the offset, and
 * without the line behind it. */
static char *
far_frame_text(
    const struct lang_name *n, unsigned flags, char *buf, size_t size)
{
	snprintf(buf, size, "%s", n->function);
	if (!(flags & SYM_NO_OFFSET))
		return buf;
	char *name = strchr(buf, '`');
	name = name != NULL ? name + 1 : buf;
	char *line = strstr(name, " (");
	if (line != NULL && buf[strlen(buf) - 1] == ')' &&
	    strchr(line, ':') != NULL)
		*line = '\0';
	char *offset = strrchr(name, '0');
	while (offset != NULL && offset > name + 1 &&
	    (offset[1] != 'x' || strchr("+-", offset[-1]) == NULL))
		offset = memrchr(name, '0', (size_t)(offset - name));
	if (offset != NULL && offset > name + 1 &&
	    offset[2 + strspn(offset + 2, "0123456789abcdef")] == '\0')
		offset[-1] = '\0';
	return buf;
}

/* A frame that a language has named. */
static char *
lang_frame_text(
    const struct lang_name *n, unsigned flags, char *buf, size_t size)
{
	if (n->native)
		return far_frame_text(n, flags, buf, size);
	const char *mark = n->note && !(flags & SYM_NO_OFFSET) ? "@" : "";

	if (n->file == NULL || (flags & SYM_NO_OFFSET))
		snprintf(buf, size, "%s%s", mark, n->function);
	else if (n->line == 0)
		snprintf(buf, size, "%s%s (%s)", mark, n->function, n->file);
	else
		snprintf(buf, size, "%s%s (%s:%d)", mark, n->function, n->file,
		    n->line);
	return buf;
}

char *
symbolise_frame(uint32_t stamp, uint64_t pc, uint64_t inner, unsigned flags,
    char *buf, size_t size)
{
	const struct lang_name *lang = langname_of(pc);

	if (lang != NULL)
		return lang_frame_text(lang, flags, buf, size);
	const struct load *l = addrspace_load_then(stamp, pc);
	const struct sym *f = covering(l, pc);
	uint64_t look = pc;

	/* Nothing but a first instruction, and a line, can be mistaken. */
	if (l != NULL && inner != 0 && pc > l->start &&
	    (f == NULL || pc == l->bias + f->addr || (flags & SYM_LINE)) &&
	    !is_signal_frame(stamp, inner))
		look = pc - 1;
	/* A function whose address was pushed has nothing before it. */
	if (look != pc && covering(l, look) == NULL)
		look = pc;
	return load_text(l, pc, look, flags, buf, size);
}

char *
symbolise_data(uint32_t stamp, uint64_t addr, char *buf, size_t size)
{
	const struct load *l = holding(stamp, addr);
	const struct sym *s =
	    l != NULL ? object_data_at(l->object, addr - l->bias) : NULL;

	*buf = '\0';
	if (l != NULL)
		sym_text(l, s, addr, SYM_DEMANGLE, buf, size);
	return buf;
}

uint64_t
symbolise_start(uint32_t stamp, uint64_t addr)
{
	const struct load *l = load_then(stamp, addr);
	const struct sym *f = covering_any(l, addr);

	return f != NULL ? l->bias + f->addr : addr;
}

uint64_t
symbolise_module(uint32_t stamp, uint64_t addr)
{
	const struct load *l = load_then(stamp, addr);

	return l != NULL ? l->start : addr;
}
