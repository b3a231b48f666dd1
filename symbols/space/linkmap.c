/*
 * The run-time linker's rendezvous.
 *
 * A program that has a run-time linker has an entry DT_DEBUG in its dynamic
 * section; the linker stores the address of its struct r_debug there while it
 * starts.  Before that the linker's own symbols name the struct and the
 * function that it will call.
 *
 * Invariant: an address that is given out lies in a mapped load, whatever the
 * process's memory said.
 */
#include "symbols/linkmap.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>

#include "dlang/base/base.h"
#include "symbols/elf/parts.h"

/* A dynamic section has some 40 entries. */
#define DYNAMIC_MOST 512

static bool
is_mapped_text(const struct addrspace *as, uint64_t addr)
{
	const struct load *l = addrspace_load_at(as, addr);

	return l != NULL && l->seen &&
	    object_is_text(l->object, addr - l->bias);
}

static uint64_t
dt_debug(const struct load *exec, const struct reader *mem)
{
	uint64_t size = 0, addr = object_dynamic_addr(exec->object, &size);
	size_t count = MIN(size / sizeof(Elf64_Dyn), DYNAMIC_MOST);

	if (addr == 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		Elf64_Dyn d;

		if (reader_read(mem, exec->bias + addr + i * sizeof(d), &d,
			sizeof(d)) != 0 ||
		    d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_DEBUG)
			return d.d_un.d_ptr;
	}
	return 0;
}

/* The address of the first of the names that the linker has. */
static uint64_t
linker_symbol(const struct load *l, const char *const *names)
{
	for (; *names != NULL; names++) {
		const struct sym *s = object_sym(l->object, *names);

		if (s != NULL)
			return l->bias + s->addr;
	}
	return 0;
}

/* The load that is the run-time linker: the interpreter, or the program
 * itself when it is the linker that was started by name. */
static const struct load *
linker_of(const struct addrspace *as)
{
	struct load *const *loads;
	size_t n = addrspace_loads(as, &loads);
	const struct load *exec = addrspace_exec(as);

	for (size_t i = 0; i < n; i++)
		if (loads[i]->seen && loads[i]->is_interp)
			return loads[i];
	if (exec != NULL && object_interp(exec->object) == NULL &&
	    !object_is_static(exec->object))
		return exec;
	return NULL;
}

int
linkmap_find(struct addrspace *as, const struct reader *mem, struct linkmap *lm)
{
	static const char *const brk_names[] = { "_dl_debug_state",
		"dl_debug_state", NULL };
	static const char *const debug_names[] = { "_r_debug", NULL };
	static const char *const pointer_names[] = { "_dl_debug_addr", NULL };
	const struct load *linker = linker_of(as);
	const struct load *exec = addrspace_exec(as);
	struct r_debug r;
	uint64_t at;

	*lm = (struct linkmap){ 0 };
	if (linker == NULL)
		return -ENOENT;
	if (exec != NULL)
		lm->r_debug = dt_debug(exec, mem);
	if (lm->r_debug != 0 &&
	    reader_read(mem, lm->r_debug, &r, sizeof(r)) == 0 &&
	    is_mapped_text(as, r.r_brk)) {
		lm->brk_addr = r.r_brk;
		return 0;
	}
	lm->r_debug = linker_symbol(linker, debug_names);
	lm->brk_addr = linker_symbol(linker, brk_names);
	/* musl has a pointer to the struct, which it relocates itself. */
	at = linker_symbol(linker, pointer_names);
	if (lm->r_debug == 0 && at != 0 &&
	    (reader_read(mem, at, &lm->r_debug, sizeof(at)) != 0 ||
		addrspace_load_at(as, lm->r_debug) == NULL))
		lm->r_debug = 0;
	return lm->brk_addr != 0 && is_mapped_text(as, lm->brk_addr) ? 0 :
								       -ENOENT;
}

int
linkmap_state(const struct linkmap *lm, const struct reader *mem,
    enum linkmap_state *state)
{
	struct r_debug r;

	if (lm->r_debug == 0)
		return -EAGAIN;
	if (reader_read(mem, lm->r_debug, &r, sizeof(r)) != 0)
		return -EFAULT;
	if (r.r_version == 0)
		return -EAGAIN;
	switch (r.r_state) {
	case RT_CONSISTENT: *state = LINKMAP_CONSISTENT; return 0;
	case RT_ADD: *state = LINKMAP_ADD; return 0;
	case RT_DELETE: *state = LINKMAP_DELETE; return 0;
	}
	return -EFAULT;
}
