/*
 * Changes text by runs: tracepoints of neighbouring pages in address order are read,
 * compared and written with one system call each way.  Writing back the bytes between
 * them is safe as all threads are stopped, and every page of a run has a tracepoint,
 * so no page is copied that would not have been.
 */
#include <errno.h>
#include <string.h>

#include "inject/tracepoint_impl.h"
#include "inject/trapset.h"

/* Pages from the begin of a run to its end. */
#define RUN_PAGES 32

bool
patch_goes_on(struct entry *const *run, size_t n, const struct entry *e)
{
	uint64_t addr = e->tp.addr, last = run[n - 1]->tp.addr;

	return n < PATCH_MOST && addr > last &&
	    addr / PAGE - last / PAGE <= 1 && e->tp.late == run[0]->tp.late &&
	    addr / PAGE - run[0]->tp.addr / PAGE < RUN_PAGES;
}

size_t
patch_length(struct entry *const *at, size_t n)
{
	size_t len = 1;

	while (len < n && patch_goes_on(at, len, at[len]))
		len++;
	return len;
}

/* Does the text at tp, of which buf[0 .. len) was read, start with the
 * instruction that was planned for?  Only the run's pages are looked at. */
static bool
text_unchanged(const struct entry *e, const uint8_t *buf, size_t len)
{
	return memcmp(buf, e->plan.insn.bytes, MIN(len, e->plan.insn.len)) == 0;
}

/* The bytes of a run: as they are, as they will be, and the program's own.
 * Static, because the stack may be the small one of a signal handler. */
static uint8_t before[RUN_PAGES * PAGE], after[RUN_PAGES * PAGE],
    text[RUN_PAGES * PAGE];

/* Is the text at e, at offset `off' of the run, as expected?  `len' bytes were
 * read from there on. */
static bool
patch_may(struct tptable *tab, const struct entry *e, enum patch what,
    size_t off, size_t len)
{
	struct entry *r = NULL;
	bool is_there;

	if (what == PATCH_ARM)
		return text_unchanged(e, text + off, len);
	if (e->tp.jumps)
		return !e->tp.rides &&
		    memcmp(before + off - e->tp.before, e->to, entry_len(e)) ==
		    0;
	is_there = before[off] == TRAP_INSN;
	while (what == PATCH_RAISE && (r = entry_rider(tab, e, r)) != NULL)
		is_there &=
		    before[off + (r->tp.addr - e->tp.addr)] == TRAP_INSN;
	return is_there;
}

/* The int3s of those that share e's jump were under it. */
static void
patch_riders(struct tptable *tab, const struct entry *e, uint8_t *start)
{
	const uint64_t from = tracepoint_start(&e->tp);
	struct entry *r = NULL;

	while ((r = entry_rider(tab, e, r)) != NULL)
		if (r->tp.addr - from < entry_len(e))
			start[r->tp.addr - from] = TRAP_INSN;
}

/* Change one place of a run in `after'. */
static void
patch_one(
    struct tptable *tab, const struct entry *e, enum patch what, size_t off)
{
	uint8_t *start = after + off - e->tp.before;

	if (what == PATCH_RAISE) {
		memcpy(start, e->to, entry_len(e));
		return;
	}
	if (e->tp.jumps) {
		memcpy(start, e->own, entry_len(e));
		patch_riders(tab, e, start);
	}
	/* Behind a jump the int3 may have been replaced by somebody else. */
	if (!e->tp.jumps || e->tp.before < entry_len(e) ||
	    before[off] == TRAP_INSN)
		after[off] = what == PATCH_RESTORE ? e->tp.saved : TRAP_INSN;
}

/* The bytes that are changed at e: from the first to behind the last. */
static uint64_t
patch_from(const struct entry *e, enum patch what)
{
	return what == PATCH_RAISE || e->tp.jumps ? tracepoint_start(&e->tp) :
						    e->tp.addr;
}

static uint64_t
patch_to(const struct entry *e, enum patch what)
{
	return what == PATCH_RAISE || e->tp.jumps ?
	    tracepoint_start(&e->tp) + e->span :
	    e->tp.addr + 1;
}

/*
 * Write the int3s of a run, or restore its bytes, after comparing what is
 * there.  `done' of each is set: 0, -EFAULT, or -EBUSY if the text was changed
 * by others.
 */
static void
patch_run(
    struct tptable *tab, struct entry *const *at, size_t n, enum patch what)
{
	struct target *t = tab->target;
	uint64_t start = patch_from(at[0], what), last = at[n - 1]->tp.addr;
	uint64_t page_end = (last / PAGE + 1) * PAGE;
	size_t changed = patch_to(at[n - 1], what) - start;
	size_t len = MAX(
	    changed, MIN(last + at[n - 1]->plan.insn.len, page_end) - start);

	int err = t->ops->read(t, start, before, len);
	if (err == 0) {
		memcpy(after, before, len);
		memcpy(text, before, len);
		tracepoint_overlay(tab, start, text, len);
	}
	for (size_t i = 0; i < n; i++) {
		size_t off = at[i]->tp.addr - start;
		at[i]->done = err != 0                          ? err :
		    patch_may(tab, at[i], what, off, len - off) ? 0 :
								  -EBUSY;
		if (at[i]->done == 0)
			patch_one(tab, at[i], what, off);
	}
	if (err != 0 || t->ops->write(t, start, after, changed) == 0)
		return;
	/* A part may have been written: restore it as far as possible. */
	t->ops->write(t, start, before, changed);
	for (size_t i = 0; i < n; i++)
		at[i]->done = at[i]->done == 0 ? -EFAULT : at[i]->done;
}

void
patch_each(
    struct tptable *tab, struct entry *const *at, size_t n, enum patch what)
{
	bool failed = false;

	patch_run(tab, at, n, what);
	for (size_t i = 0; i < n; i++)
		failed = failed || at[i]->done == -EFAULT;
	for (size_t i = 0; failed && n > 1 && i < n; i++)
		patch_run(tab, &at[i], 1, what);
}

/* List the board of e, with what is there. */
static int
note_board(struct tptable *tab, struct entry *e)
{
	const uint64_t from = tracepoint_start(&e->tp);
	struct target *t = tab->target;

	if (e->board == 0 || e->board_up)
		return 0;
	if (t->ops->read(t, e->board, e->board_own, TRAP_JUMP_LEN) != 0)
		return -EFAULT;
	return trapset_board(tab->traps, e->board, e->board_own,
	    (int8_t)(e->board - from - TRAP_SHORT_LEN));
}

int
patch_board(struct tptable *tab, struct entry *e)
{
	struct target *t = tab->target;

	if (e->board == 0)
		return 0;
	if (!jump_write(e->board, e->stub.addr, e->board_to) ||
	    t->ops->write(t, e->board, e->board_to, TRAP_JUMP_LEN) != 0) {
		/* A part may have been written. */
		t->ops->write(t, e->board, e->board_own, TRAP_JUMP_LEN);
		e->board_up = false;
		return -EFAULT;
	}
	e->board_up = true;
	return 0;
}

void
patch_unboard(struct tptable *tab, struct entry *e)
{
	struct target *t = tab->target;
	uint8_t now[TRAP_JUMP_LEN];

	if (e->board_up && t->ops->read(t, e->board, now, sizeof(now)) == 0 &&
	    memcmp(now, e->board_to, sizeof(now)) == 0)
		t->ops->write(t, e->board, e->board_own, sizeof(now));
	e->board_up = false;
}

void
patch_note_own(struct tptable *tab, struct entry *const *at, size_t n)
{
	struct target *t = tab->target;
	uint64_t start = tracepoint_start(&at[0]->tp);
	size_t len =
	    tracepoint_start(&at[n - 1]->tp) + entry_len(at[n - 1]) - start;
	int err = t->ops->read(t, start, before, len) != 0 ? -EFAULT : 0;

	if (err == 0)
		tracepoint_overlay(tab, start, before, len);
	for (size_t i = 0; i < n; i++) {
		struct entry *e = at[i];
		uint64_t from = tracepoint_start(&e->tp);
		e->done = err;
		if (err != 0)
			continue;
		memset(e->own, 0, sizeof(e->own));
		memcpy(e->own, before + (from - start), entry_len(e));
		if (memcmp(e->own, e->made_for, e->made) != 0)
			e->done = -EBUSY;
		else if (trapset_jump(tab->traps, from, e->own) != 0 ||
		    note_board(tab, e) != 0)
			e->done = -EINVAL;
	}
}
