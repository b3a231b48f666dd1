/*
 * Address to text: object`function+0xoffset.
 */
#include "symbols/symbolise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "symbols/demangle.h"
#include "symbols/dwarf.h"
#include "symbols/object_impl.h"

/* Longer than this a template's name is noise; the record has no more room
 * for it either. */
#define NAME_BYTES 1024

/* The function of the load (which may be NULL) that covers addr, or NULL. */
static const struct sym *
covering(const struct load *l, uint64_t addr)
{
	return l != NULL ? object_func_at(l->object, addr - l->bias) : NULL;
}

/* What is at `look' in the load is called by `addr': they differ where the
 * instruction before the address is meant. */
static void
name_text(const struct load *l, uint64_t addr, uint64_t look, unsigned flags,
    char *buf, size_t size)
{
	const struct sym *f = covering(l, look);
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
		name_text(l, addr, look, flags, buf, size);
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
	return load_text(
	    addrspace_load_then(stamp, addr), addr, addr, flags, buf, size);
}

/* Was the frame outside of this one interrupted, and did not call it? */
static bool
is_signal_frame(uint32_t stamp, uint64_t pc)
{
	const struct load *l = addrspace_load_then(stamp, pc);
	const struct cfi_row *row =
	    l != NULL ? cfi_row(l->object, pc - l->bias) : NULL;

	return row != NULL && row->signal;
}

char *
symbolise_frame(uint32_t stamp, uint64_t pc, uint64_t inner, unsigned flags,
    char *buf, size_t size)
{
	const struct load *l = addrspace_load_then(stamp, pc);
	const struct sym *f = covering(l, pc);
	uint64_t look = pc;

	/* Nothing but a first instruction, and a line, can be mistaken. */
	if (l != NULL && inner != 0 && pc > l->start &&
	    (f == NULL || pc == l->bias + f->addr || (flags & SYM_LINE)) &&
	    !is_signal_frame(stamp, inner))
		look = pc - 1;
	return load_text(l, pc, look, flags, buf, size);
}

uint64_t
symbolise_start(uint32_t stamp, uint64_t addr)
{
	const struct load *l = addrspace_load_then(stamp, addr);
	const struct sym *f = covering(l, addr);

	return f != NULL ? l->bias + f->addr : addr;
}

uint64_t
symbolise_module(uint32_t stamp, uint64_t addr)
{
	const struct load *l = addrspace_load_then(stamp, addr);

	return l != NULL ? l->start : addr;
}
