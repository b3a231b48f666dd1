/*
 * What the steps read: the stack, the code, and which addresses are code.
 *
 * The stack is read through a window, so that most stacks take one read.
 */
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/base/clock.h"
#include "symbols/unwind/frame.h"

#define PAGE 4096ULL

/* Move the window so that it begins at addr or slightly before. */
static bool
window_read(struct unwinder *u, uint64_t addr, size_t need)
{
	const struct map *m = maps_at(addrspace_maps(u->as), addr);
	uint64_t at = addr & ~15ULL;
	size_t len = WINDOW_BYTES;

	u->window_len = 0;
	if (at > UINT64_MAX - WINDOW_BYTES)
		return false;
	if (m != NULL && m->end - at < len)
		len = m->end - at;
	/* The mapping may end within the window: read only to the end of the
	 * page before giving up. */
	if (reader_read(u->mem, at, u->window, len) != 0) {
		len = ROUND_UP(addr + need, PAGE) - at;
		if (len > WINDOW_BYTES ||
		    reader_read(u->mem, at, u->window, len) != 0)
			return false;
	}
	u->window_addr = at;
	u->window_len = len;
	return addr - at + need <= len;
}

bool
unwind_read(struct unwinder *u, uint64_t addr, void *buf, size_t len)
{
	if (addr < u->window_addr || addr - u->window_addr > u->window_len ||
	    u->window_len - (addr - u->window_addr) < len) {
		if (len > PAGE || !window_read(u, addr, len))
			return false;
	}
	memcpy(buf, u->window + (addr - u->window_addr), len);
	return true;
}

bool
unwind_text(struct unwinder *u, uint64_t addr, void *buf, size_t len)
{
	const struct load *l = addrspace_load_at(u->as, addr);

	if (l != NULL && l->seen && !l->writable_text &&
	    object_read(l->object, addr - l->bias, buf, len) == 0)
		return true;
	return reader_read(u->mem, addr, buf, len) == 0;
}

/* How long a copy of the maps is used, ns. */
#define MAPS_NS 50000000ULL

static void
maps_look(struct unwinder *u, uint64_t now)
{
	maps_fini(&u->maps);
	u->maps = (struct maps){ 0 };
	maps_read(addrspace_pid(u->as), &u->maps);
	u->maps_time = now;
	u->maps_new = true;
}

/*
 * The list of objects is as old as the last change that the run-time linker
 * reported.  Since then, code may have been created elsewhere.  Reading the
 * maps takes long, so they are read at most once in MAPS_NS, and at most once
 * for a stack if the address was in no list.
 */
static bool
is_code_now(struct unwinder *u, uint64_t addr, bool listed)
{
	const struct map *m = maps_at(&u->maps, addr);
	uint64_t now;
	uint8_t byte;

	if (m != NULL && m->exec)
		return true;
	now = clock_ns(CLOCK_MONOTONIC_COARSE);
	if (now - u->maps_time > MAPS_NS ||
	    (m == NULL && !listed && !u->maps_new &&
		reader_read(u->mem, addr, &byte, 1) == 0))
		maps_look(u, now);
	m = maps_at(&u->maps, addr);
	return m != NULL && m->exec;
}

bool
unwind_is_code(struct unwinder *u, uint64_t addr)
{
	const struct load *l = addrspace_load_at(u->as, addr);
	const struct map *m;

	if (l != NULL && l->seen && object_is_text(l->object, addr - l->bias))
		return true;
	m = maps_at(addrspace_maps(u->as), addr);
	return (m != NULL && m->exec) || is_code_now(u, addr, m != NULL);
}

const struct maps *
unwind_maps_of(struct unwinder *u, uint64_t addr)
{
	const struct map *m;

	if (!unwind_is_code(u, addr))
		return NULL;
	m = maps_at(addrspace_maps(u->as), addr);
	if (m != NULL && m->exec)
		return addrspace_maps(u->as);
	m = maps_at(&u->maps, addr);
	return m != NULL && m->exec ? &u->maps : NULL;
}

bool
unwind_is_made_code(struct unwinder *u, uint64_t addr)
{
	return addrspace_load_at(u->as, addr) == NULL &&
	    unwind_is_code(u, addr);
}
