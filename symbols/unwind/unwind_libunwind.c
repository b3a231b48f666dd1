/*
 * One step by libunwind.  No other file includes its headers.
 *
 * libunwind reads a process through a table of accessors.  Those of
 * libunwind-ptrace call ptrace for each word, and find unwind entries in the
 * files that /proc/PID/maps names.  The accessors here read through the
 * unwinder's window; they take code from the file, which has no breakpoints of
 * ours; and they find the unwind entry by object_fde_at(), so that no file is
 * opened twice and a program without .eh_frame_hdr has its entries too.
 *
 * Only a step by an unwind entry is used.  If libunwind finds none, it follows
 * the frame pointer without a check; unwind_fp.c checks it.
 *
 * Invariant: libunwind parses only entries that cficheck_eh() has accepted.
 */
#include <string.h>

#include <libunwind.h>

#include "dlang/base/mem.h"
#include "symbols/unwind/frame.h"

/* libunwind exports this function for writers of accessors, but no header
 * declares it. */
#define dwarf_search_unwind_table UNW_OBJ(dwarf_search_unwind_table)
extern int dwarf_search_unwind_table(unw_addr_space_t space, unw_word_t ip,
    unw_dyn_info_t *table, unw_proc_info_t *info, int need_unwind_info,
    void *ctx);

/* libunwind numbers registers as DWARF does, but may have other numbers for
 * these two. */
static unw_regnum_t
unw_of(unsigned reg)
{
	return reg == CFI_PC ? (int)UNW_REG_IP :
	    reg == CFI_SP    ? (int)UNW_REG_SP :
			       (int)reg;
}

static unsigned
of_unw(unw_regnum_t reg)
{
	return reg == UNW_REG_IP ? CFI_PC :
	    reg == UNW_REG_SP    ? CFI_SP :
				   (unsigned)reg;
}

/* The address at which libunwind finds its table of unwind entries: at the end
 * of the kernel's half, where no process has memory. */
#define TABLE_ADDR (UINT64_MAX - 4095)

/* A row of the table, in the form of .eh_frame_hdr. */
struct row {
	int32_t start, entry; /* offsets from the begin of the code */
};
static_assert(sizeof(struct row) == sizeof(unw_word_t), "");

struct libunwind {
	unw_addr_space_t space;
	unw_cursor_t cursor;
	struct unwinder *u;
	/* The frame at which the cursor is.  `valid' is false if there is
	 * none. */
	bool valid;
	uint64_t pc, sp;
	struct frame begin; /* the frame with which the walk began */
	struct row row;     /* the table: the entry for one address */
	/* The last step found no entry that libunwind can read: what it said is
	 * a guess. */
	bool guessed;
};

/* ---- accessors ---- */

/* Find the unwind entry for the code at pc, and its load.  NULL if there is
 * none. */
static const struct fde *
entry_at(struct unwinder *u, uint64_t pc, const struct load **l)
{
	*l = addrspace_load_at(u->as, pc);
	return *l != NULL && (*l)->seen && cfi_is_good((*l)->object) ?
	    object_fde_at((*l)->object, pc - (*l)->bias) :
	    NULL;
}

static int
find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *info,
    int need_unwind_info, void *ctx)
{
	struct libunwind *lu = ctx;
	const struct load *l;
	const struct fde *f = entry_at(lu->u, ip, &l);
	unw_dyn_info_t table = { .format = UNW_INFO_FORMAT_REMOTE_TABLE };
	int err;

	if (f == NULL ||
	    (int64_t)(f->at - f->start) != (int32_t)(f->at - f->start))
		return -UNW_ENOINFO;
	lu->row.start = 0;
	lu->row.entry = (int32_t)(f->at - f->start);
	table.start_ip = l->bias + f->start;
	table.end_ip = l->bias + f->end;
	table.u.rti.segbase = table.start_ip;
	table.u.rti.table_data = TABLE_ADDR;
	table.u.rti.table_len = 1;
	err = dwarf_search_unwind_table(
	    space, ip, &table, info, need_unwind_info, ctx);
	lu->guessed = err != 0;
	return err;
}

static void
put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *ctx)
{
}

/* Unwind information that a program registers with libunwind at run time is not
 * supported. */
static int
get_dyn_info_list_addr(unw_addr_space_t space, unw_word_t *addr, void *ctx)
{
	return -UNW_ENOINFO;
}

/* Is the word in the file as it is in memory? */
static bool
is_constant(struct unwinder *u, uint64_t addr)
{
	const struct load *l = addrspace_load_at(u->as, addr);

	return l != NULL && l->seen &&
	    !object_is_data(l->object, addr - l->bias, sizeof(unw_word_t));
}

static int
access_mem(unw_addr_space_t space, unw_word_t addr, unw_word_t *value,
    int write, void *ctx)
{
	struct libunwind *lu = ctx;

	if (write)
		return -UNW_EINVAL;
	if (addr == TABLE_ADDR) {
		memcpy(value, &lu->row, sizeof(*value));
		return 0;
	}
	return (is_constant(lu->u, addr) ?
		       unwind_text(lu->u, addr, value, sizeof(*value)) :
		       unwind_read(lu->u, addr, value, sizeof(*value))) ?
	    0 :
	    -UNW_EINVAL;
}

static int
access_reg(unw_addr_space_t space, unw_regnum_t reg, unw_word_t *value,
    int write, void *ctx)
{
	const struct libunwind *lu = ctx;

	if (write)
		return -UNW_EREADONLYREG;
	if (reg < 0 || !frame_knows(&lu->begin, of_unw(reg)))
		return -UNW_EBADREG;
	*value = lu->begin.r[of_unw(reg)];
	return 0;
}

static int
access_fpreg(unw_addr_space_t space, unw_regnum_t reg, unw_fpreg_t *value,
    int write, void *ctx)
{
	return -UNW_EBADREG;
}

static int
resume(unw_addr_space_t space, unw_cursor_t *cursor, void *ctx)
{
	return -UNW_EINVAL;
}

static int
get_proc_name(unw_addr_space_t space, unw_word_t ip, char *name, size_t size,
    unw_word_t *offset, void *ctx)
{
	return -UNW_EINVAL;
}

/* ---- stepping ---- */

static struct libunwind *
libunwind_of(struct unwinder *u)
{
	static unw_accessors_t accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = get_dyn_info_list_addr,
		.access_mem = access_mem,
		.access_reg = access_reg,
		.access_fpreg = access_fpreg,
		.resume = resume,
		.get_proc_name = get_proc_name,
	};
	struct libunwind *lu = u->libunwind;

	if (lu != NULL)
		return lu;
	lu = u->libunwind = mem_zalloc(sizeof(*lu));
	lu->u = u;
	lu->space = unw_create_addr_space(&accessors, 0);
	if (lu->space != NULL)
		unw_set_caching_policy(lu->space, UNW_CACHE_GLOBAL);
	return lu;
}

/* Move the cursor to f, unless it is there. */
static bool
cursor_move(struct libunwind *lu, const struct frame *f)
{
	if (lu->valid && lu->pc == f->r[CFI_PC] && lu->sp == f->r[CFI_SP])
		return true;
	lu->begin = *f;
	/* A new cursor treats the pc as the instruction to run next.  A return
	 * address may be the first one of the next function, so the pc is
	 * reduced by 1. */
	if (!f->exact)
		lu->begin.r[CFI_PC]--;
	return lu->space != NULL &&
	    unw_init_remote(&lu->cursor, lu->space, lu) == 0;
}

/* Copy the registers of the cursor's frame to *caller. */
static bool
cursor_frame(struct libunwind *lu, bool signal, struct frame *caller)
{
	*caller = (struct frame){ .exact = signal };
	for (unsigned i = 0; i < CFI_REGS; i++) {
		unw_word_t value;

		/* libunwind reports all registers as preserved by a call.  Use
		 * only those that the ABI preserves. */
		if ((signal || i == CFI_PC || i == CFI_SP ||
			(machine_kept & 1u << i)) &&
		    unw_get_reg(&lu->cursor, unw_of(i), &value) == 0)
			frame_set(caller, i, value);
	}
	return frame_knows(caller, CFI_PC) && frame_knows(caller, CFI_SP);
}

enum step
unwind_libunwind_step(
    struct unwinder *u, const struct frame *f, struct frame *caller, bool *told)
{
	struct libunwind *lu;
	const struct load *l;
	const struct fde *entry =
	    entry_at(u, f->r[CFI_PC] - (f->exact ? 0 : 1), &l);
	int more;

	*told = false;
	if (entry == NULL)
		return STEP_FAIL;
	lu = libunwind_of(u);
	/* libunwind caches entries and does not always call the accessor, so
	 * `guessed' is cleared before each step. */
	lu->guessed = false;
	more = cursor_move(lu, f) ? unw_step(&lu->cursor) : -UNW_EUNSPEC;
	*told = !lu->guessed;
	lu->valid = false;
	if (lu->guessed || more < 0)
		return STEP_FAIL;
	if (more == 0)
		return STEP_END;
	if (!cursor_frame(lu, entry->signal, caller))
		return STEP_FAIL;
	lu->valid = true;
	lu->pc = caller->r[CFI_PC];
	lu->sp = caller->r[CFI_SP];
	return STEP_OK;
}

void
unwind_libunwind_begin(struct unwinder *u)
{
	if (u->libunwind != NULL)
		u->libunwind->valid = false;
}

void
unwind_libunwind_flush(struct unwinder *u)
{
	if (u->libunwind != NULL && u->libunwind->space != NULL)
		unw_flush_cache(u->libunwind->space, 0, 0);
}

void
unwind_libunwind_destroy(struct unwinder *u)
{
	if (u->libunwind == NULL)
		return;
	if (u->libunwind->space != NULL)
		unw_destroy_addr_space(u->libunwind->space);
	mem_free(u->libunwind);
}
