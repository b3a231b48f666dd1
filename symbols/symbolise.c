/*
 * Address to text: object`function+0xoffset.
 */
#include "symbols/symbolise.h"

#include <inttypes.h>
#include <stdio.h>

#include "symbols/demangle.h"

/* Longer than this a template's name is noise; the record has no more room
 * for it either. */
#define NAME_BYTES 1024

/* The load that holds addr and the function that covers it, either NULL. */
static struct load *
covering(struct addrspace *as, uint64_t addr, unsigned flags,
    const struct sym **func)
{
	struct load *l = as != NULL ? addrspace_load_at(as, addr) : NULL;

	*func = l != NULL && !(flags & (SYM_RAW | SYM_MODULE)) ?
	    object_func_at(l->object, addr - l->bias) :
	    NULL;
	return l;
}

char *
symbolise(
    struct addrspace *as, uint64_t addr, unsigned flags, char *buf, size_t size)
{
	char text[NAME_BYTES];
	const struct sym *f;
	const char *name;
	struct load *l = covering(as, addr, flags, &f);
	uint64_t off;

	if (l == NULL) {
		snprintf(buf, size, "0x%" PRIx64, addr);
		return buf;
	}
	if (flags & SYM_MODULE) {
		snprintf(buf, size, "%s", l->module);
		return buf;
	}
	if (flags & SYM_RAW) {
		snprintf(buf, size, "%s:0x%" PRIx64, l->module, addr - l->bias);
		return buf;
	}
	if (f == NULL) {
		snprintf(buf, size, "%s`0x%" PRIx64, l->module, addr);
		return buf;
	}
	name = flags & SYM_DEMANGLE ? demangle(f->name, text, sizeof(text)) :
				      f->name;
	off = addr - l->bias - f->addr;
	if (off == 0 || (flags & SYM_NO_OFFSET))
		snprintf(buf, size, "%s`%s", l->module, name);
	else
		snprintf(buf, size, "%s`%s+0x%" PRIx64, l->module, name, off);
	return buf;
}

uint64_t
symbolise_start(struct addrspace *as, uint64_t addr)
{
	const struct sym *f;
	const struct load *l = covering(as, addr, SYM_PLAIN, &f);

	return f != NULL ? l->bias + f->addr : addr;
}

uint64_t
symbolise_module(struct addrspace *as, uint64_t addr)
{
	const struct load *l = as != NULL ? addrspace_load_at(as, addr) : NULL;

	return l != NULL ? l->start : addr;
}
