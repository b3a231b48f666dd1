/*
 * Tracepoints of one address space.  With patch.c it is the only place that changes
 * a byte of its text.  What the table holds is in tptable.c.
 *
 * Invariants:
 *   - by_addr holds every tracepoint that is not GONE, one per address;
 *   - a byte of text differs from the program's only for a tracepoint in state
 *     TRAP, and only where patch_each() wrote it;
 *   - between the write of an int3 and its being noted nothing is allocated:
 *     the emergency exit takes out what is noted;
 *   - an int3 is written only after its slot, and the trapset entry that will
 *     undo it if the tracer dies, are in the target;
 *   - what is not the byte we wrote is not restored;
 *   - the int3s that are put back last (`late', trap/area.h: they mark the calls
 *     that change SIGTRAP's action and masks) are also written first: while any
 *     other int3 stands, such a call is seen.
 *
 * Queued changes may be prepared while threads run (tracepoint_prepare): no
 * thread is in a slot before its int3 is written, and the list is not read
 * before its int3s exist.
 *
 * A tracepoint that lost its last reference lives on while a thread is in its
 * slot; a GONE one as well, as its slot is not in the memory that went.
 */
#include "inject/tracepoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "inject/quiesce.h"
#include "inject/slot.h"
#include "inject/tracepoint_impl.h"
#include "inject/trapset.h"

/* ---- get and put ---- */

/* The program's own bytes at addr, as many as there are up to an instruction's
 * worth.  Returns how many; 0 when addr cannot be read. */
static size_t
read_text(struct tptable *tab, uint64_t addr, uint8_t *buf)
{
	struct target *t = tab->target;
	size_t len = INSN_MAX_LEN;

	if (t->ops->read(t, addr, buf, len) != 0) {
		/* The mapping may end inside the next page. */
		len = MIN(len, PAGE - addr % PAGE);
		if (t->ops->read(t, addr, buf, len) != 0)
			return 0;
	}
	tracepoint_overlay(tab, addr, buf, len);
	return len;
}

static int
decode_at(
    struct tptable *tab, uint64_t addr, struct insn *insn, const char **why)
{
	uint8_t code[INSN_MAX_LEN];
	size_t len = read_text(tab, addr, code);

	if (len == 0) {
		*why = "text cannot be read";
		return -EFAULT;
	}
	if (insn_decode(code, len, addr, insn) != 0) {
		*why = "not an instruction";
		return -EILSEQ;
	}
	/* Decoders disagree on the length of ud0 and ud1, and it does not
	 * matter. */
	if (insn->kind != INSN_UD && !insn_agreed(insn)) {
		*why = "instruction of uncertain length";
		return -EILSEQ;
	}
	return 0;
}

/* Read the text at e and plan its displaced instruction. */
static int
entry_plan(struct tptable *tab, struct entry *e, const char **why)
{
	struct displaced plan;
	struct insn insn;
	int err = decode_at(tab, e->tp.addr, &insn, why);

	if (err == 0)
		err = displaced_plan(&plan, &insn, why);
	if (err != 0)
		return err;
	e->plan = plan;
	memcpy(&e->tp.saved, insn.bytes, sizeof(e->tp.saved));
	e->tp.len = insn.len;
	e->tp.was_trap = plan.how == DISP_OWN_TRAP;
	return 0;
}

int
tracepoint_get(struct tptable *tab, uint64_t addr, uint32_t id,
    struct tracepoint **tp, const char **why)
{
	struct entry *e = hash_get(&tab->by_addr, addr);
	int err = 0;

	if (entry_board_over(tab, addr, addr + 1) != NULL) {
		*why = "the padding there is in use";
		return -EOPNOTSUPP;
	}
	if (e == NULL) {
		e = entry_add(tab);
		e->tp.addr = addr;
		e->tp.id = id;
		hash_set(&tab->by_addr, addr, e);
		err = entry_plan(tab, e, why);
	} else if (e->tp.state == TP_IDLE && !e->tp.queued) {
		/* It failed before; the text may have changed since. */
		err = entry_plan(tab, e, why);
	}
	if (err != 0) {
		entry_reap(tab, e);
		return err;
	}
	/* If its removal is queued, commit will see that it is used again. */
	e->tp.refs++;
	if (e->tp.state != TP_TRAP)
		entry_queue(tab, e);
	*tp = &e->tp;
	return 0;
}

void
tracepoint_put(struct tptable *tab, struct tracepoint *tp)
{
	struct entry *e = entry_of(tp);

	ASSERT(tp->refs != 0);
	if (--tp->refs != 0)
		return;
	if (tp->state == TP_GONE)
		entry_reap(tab, e);
	else
		entry_queue(tab, e);
}

/* ---- orders ---- */

typedef int cmp_fn(const void *a, const void *b);

static int
by_address(const void *a, const void *b)
{
	uint64_t x = (*(struct entry *const *)a)->tp.addr;
	uint64_t y = (*(struct entry *const *)b)->tp.addr;

	return x < y ? -1 : x > y;
}

static int
late_last(const void *a, const void *b)
{
	bool x = (*(struct entry *const *)a)->tp.late;
	bool y = (*(struct entry *const *)b)->tp.late;

	return x != y ? (int)x - (int)y : by_address(a, b);
}

static int
late_first(const void *a, const void *b)
{
	bool x = (*(struct entry *const *)a)->tp.late;
	bool y = (*(struct entry *const *)b)->tp.late;

	return x != y ? (int)y - (int)x : by_address(a, b);
}

/* ---- commit: in ---- */

struct commit {
	entry_vec arm, disarm, failed;
};

static const char *
slot_phrase(int err)
{
	return err == -ENOMEM ? "no room for a slot within reach" :
				"the process may not map memory for slots";
}

/* Give e a slot if its plan wants one.  NULL, or the reason why not. */
static const char *
give_slot(struct tptable *tab, struct entry *e)
{
	struct tracepoint *tp = &e->tp;
	uint8_t bytes[SLOT_SIZE_MAX];
	uint64_t lo, hi;
	int err;

	if (tp->slot != 0 || e->plan.size == 0)
		return NULL;
	displaced_window(&e->plan, &lo, &hi);
	err = slot_alloc(
	    tab->slots, tp->addr, lo, hi, e->plan.size, tp, &tp->slot);
	if (err != 0 && displaced_go_far(&e->plan)) {
		if (e->plan.size == 0)
			return NULL;
		err = slot_alloc(tab->slots, tp->addr, 0, UINT64_MAX,
		    e->plan.size, tp, &tp->slot);
	}
	if (err != 0)
		return slot_phrase(err);
	unsigned len = displaced_write(&e->plan, tp->slot, bytes);
	slot_write(tab->slots, tp->slot, bytes, len);
	return NULL;
}

static void
drop_slot(struct tptable *tab, struct entry *e)
{
	if (e->tp.slot != 0)
		slot_free(tab->slots, e->tp.slot, e->plan.size);
	e->tp.slot = 0;
}

/* Remember a failure; it is reported at the end of the commit, when the table
 * is consistent. */
static void
commit_fail(struct commit *c, struct entry *e, const char *why)
{
	LOG("tracepoint", "%#lx: %s", (unsigned long)e->tp.addr, why);
	e->why = why;
	*vec_push(&c->failed) = e;
}

static void
fill_slots(struct tptable *tab, struct commit *c)
{
	vec_foreach(at, &c->arm) {
		const char *why = (*at)->ready ? NULL : give_slot(tab, *at);
		if (why != NULL)
			commit_fail(c, *at, why);
	}
	if (slots_flush(tab->slots) == 0)
		return;
	vec_foreach(at, &c->arm)
		if ((*at)->tp.slot != 0 &&
		    !slot_written(tab->slots, (*at)->tp.slot))
			commit_fail(c, *at, "slot memory cannot be written");
}

/* Remove failed entries from the list of those to arm. */
static void
drop_failed(entry_vec *v)
{
	size_t kept = 0;

	for (size_t i = 0; i < v->len; i++)
		if (v->at[i]->why == NULL)
			v->at[kept++] = v->at[i];
	v->len = kept;
}

static void
sort_entries(entry_vec *v, cmp_fn *cmp)
{
	size_t i = 1;

	while (i < v->len && cmp(&v->at[i - 1], &v->at[i]) < 0)
		i++;
	if (i < v->len)
		qsort(v->at, v->len, sizeof(*v->at), cmp);
}

/* Add the tracepoint to the trapset.  0 or a negative errno. */
static int
add_trap(struct tptable *tab, const struct tracepoint *tp)
{
	uint64_t start;
	size_t size;
	int r = 0;

	if (tp->was_trap)
		return 0;
	if (tp->slot != 0 && slot_bounds(tab->slots, tp->slot, &start, &size))
		r = trapset_add(tab->traps, TRAP_SLOTS, start, (uint32_t)size);
	return r != 0 ? r :
			trapset_add(tab->traps, TRAP_TEXT, tp->addr,
			    tp->saved | (tp->late ? TRAP_IS_LATE : 0));
}

/* List the places in the target before they are armed.  A place that cannot be
 * listed is not armed. */
static void
add_traps(struct tptable *tab, struct commit *c)
{
	vec_foreach(at, &c->arm)
		if (!(*at)->ready && add_trap(tab, &(*at)->tp) != 0 &&
		    !tab->unlisted)
			commit_fail(
			    c, *at, "no room in the list of bytes to restore");
	if (trapset_flush(tab->traps) != 0 && !tab->unlisted)
		vec_foreach(at, &c->arm)
			if ((*at)->why == NULL)
				commit_fail(c, *at,
				    "the list of bytes to restore cannot be "
				    "written");
	drop_failed(&c->arm);
}

/* Do everything that precedes the writing of int3s.  Removes failed entries
 * from the list. */
static void
make_ready(struct tptable *tab, struct commit *c)
{
	fill_slots(tab, c);
	fault_kill("arm-begin");
	drop_failed(&c->arm);
	/* The guardian and the handler restore bytes page by page, in the order
	 * of the list. */
	sort_entries(&c->arm, late_first);
	add_traps(tab, c);
	entries_arming(tab, c->arm.at, c->arm.len);
}

/* An int3 is about to be written into a jump, or between it and its
 * tracepoint. */
static void
make_way(struct tptable *tab, const entry_vec *arm)
{
	vec_foreach(at, arm) {
		uint64_t addr = (*at)->tp.addr;
		struct entry *e = entry_over(tab, addr, addr + 1);
		if (e != NULL)
			tracepoint_lower(tab, &e->tp);
	}
}

static void
arm_all(struct tptable *tab, struct commit *c)
{
	make_ready(tab, c);
	make_way(tab, &c->arm);
	for (size_t i = 0, n; i < c->arm.len; i += n) {
		struct entry **at = &c->arm.at[i];
		n = patch_length(at, c->arm.len - i);
		patch_each(tab, at, n, PATCH_ARM);
		fault_kill("arm-run");
		for (size_t k = 0; k < n; k++)
			if (at[k]->done == 0)
				entry_armed(tab, at[k]);
		for (size_t k = 0; k < n; k++)
			if (at[k]->done != 0)
				commit_fail(c, at[k],
				    at[k]->done == -EBUSY ? "text has changed" :
							    "text cannot be "
							    "written");
	}
}

/* ---- commit: out ---- */

/* Replace jumps by int3s; e->done is set as by patch_each(). */
static void
lower_run(struct tptable *tab, struct entry *const *at, size_t n)
{
	if (n > 0)
		patch_each(tab, at, n, PATCH_LOWER);
	for (size_t i = 0; i < n; i++)
		if (at[i]->done == 0)
			entry_jumps(tab, at[i], false);
}

/* Some of those that share a jump are to be restored: let all have int3s. */
static void
unshare_run(struct tptable *tab, struct entry *const *at, size_t n)
{
	static struct entry *leads[PATCH_MOST];
	size_t m = 0;

	for (size_t k = 0; k < n; k++)
		if (entry_leads(at[k]) && entry_rider(tab, at[k], NULL) != NULL)
			leads[m++] = at[k];
	lower_run(tab, leads, m);
	for (size_t k = 0; k < n; k++)
		if (at[k]->tp.rides)
			tracepoint_lower(tab, &at[k]->tp);
	fault_kill("restore-unshared");
}

/* Restore the bytes of a run and let the slots drain.  Allocates nothing,
 * because a dying tracer calls it.  Returns how many were not restored. */
static unsigned
disarm_run(struct tptable *tab, struct entry *const *at, size_t n)
{
	unsigned left = 0;

	unshare_run(tab, at, n);
	patch_each(tab, at, n, PATCH_RESTORE);
	fault_kill("restore-run");
	for (size_t k = 0; k < n; k++) {
		int done = at[k]->done;
		if (done == -EBUSY)
			left++;
		if (done != 0)
			LOG("tracepoint", "%#lx is not restored: %s",
			    (unsigned long)at[k]->tp.addr, strerror(-done));
		entry_disarmed(tab, at[k], TP_DRAINING);
		entry_drain(tab, at[k]);
	}
	return left;
}

static void
disarm_all(struct tptable *tab, struct commit *c)
{
	sort_entries(&c->disarm, late_last);
	for (size_t i = 0, n; i < c->disarm.len; i += n) {
		n = patch_length(&c->disarm.at[i], c->disarm.len - i);
		disarm_run(tab, &c->disarm.at[i], n);
	}
}

/* Free the slots that no thread is in. */
static void
drain(struct tptable *tab)
{
	struct entry *list = tab->draining, *next;
	struct quiesce q;

	if (list == NULL)
		return;
	tab->draining = NULL;
	quiesce_init(&q, tab->target, tab->slots);
	for (struct entry *e = list; e != NULL; e = next) {
		next = e->drain_next;
		e->draining = false;
		if (e->tp.state == TP_TRAP)
			continue; /* armed again meanwhile, with its slot */
		if (quiesce_busy(&q, &e->tp)) {
			entry_drain(tab, e);
			continue;
		}
		drop_slot(tab, e);
		if (e->tp.state == TP_DRAINING)
			e->tp.state = TP_IDLE;
		entry_reap(tab, e);
	}
	quiesce_fini(&q);
}

/* ---- jumps ---- */

/* May e's int3 be replaced? */
static bool
is_plain(const struct entry *e)
{
	return e->tp.state == TP_TRAP && !e->tp.jumps && !e->tp.was_trap &&
	    !e->tp.late;
}

/* The tracepoint to whose code that of e goes on; NULL: to none. */
static struct entry *
goes_on_to(const struct tptable *tab, const struct entry *e)
{
	return e->stub.onto != 0 ? entry_at_stub(tab, e->stub.onto) : NULL;
}

/* Is there room for a jump at e?  Its bytes, and those up to the last tracepoint
 * that the code leads to, must be the program's own, without an int3 or jump of
 * another tracepoint. */
static bool
has_room(struct tptable *tab, struct entry *e)
{
	uint64_t start = tracepoint_start(&e->tp), end;
	struct entry *last = e, *next, *r = NULL;

	if (!is_plain(e))
		return false;
	while ((next = goes_on_to(tab, last)) != NULL) {
		if (next->tp.addr <= last->tp.addr || !is_plain(next))
			return false;
		last = next;
	}
	end = MAX(last->tp.addr + 1, start + entry_len(e));
	if (end - start > TRACEPOINT_SPAN || start / PAGE != (end - 1) / PAGE ||
	    entry_over(tab, start, end) != NULL ||
	    entry_board_over(tab, start, end) != NULL)
		return false;
	for (uint64_t at = start; at < e->tp.addr; at++)
		if (tracepoint_lookup(tab, at) != NULL)
			return false;
	/* All that are there, and no others. */
	e->span = (uint8_t)(end - start);
	next = e;
	do {
		next = goes_on_to(tab, next);
		r = entry_rider(tab, e, r);
	} while (next == r && r != NULL);
	return next == r;
}

/* Are the bytes of e's board nobody else's?  Jumps that are aimed at the same time
 * are in v. */
static bool
has_board(struct tptable *tab, const entry_vec *v, const struct entry *e)
{
	const uint64_t from = e->board, to = from + TRAP_JUMP_LEN;
	const struct entry *other = entry_board_over(tab, from, to);

	if (tracepoint_start(&e->tp) / PAGE != from / PAGE ||
	    from / PAGE != (to - 1) / PAGE || (other != NULL && other != e) ||
	    entry_over(tab, from, to) != NULL)
		return false;
	for (uint64_t at = from; at < to; at++)
		if (tracepoint_lookup(tab, at) != NULL)
			return false;
	vec_foreach(other_at, v) {
		uint64_t start = tracepoint_start(&(*other_at)->tp);
		if (start < to && start + (*other_at)->span > from)
			return false;
	}
	return true;
}

/* Does the jump itself have the byte of an int3?  If we die, it would be
 * taken for one of ours wherever an int3 was listed once. */
static bool
has_trap(const uint8_t *jump, size_t len)
{
	for (size_t i = 0; i + sizeof(trap_insn) <= len; i++)
		if (trap_is_at(jump + i))
			return true;
	return false;
}

bool
jump_write(uint64_t from, uint64_t to, uint8_t jump[TRAP_JUMP_LEN])
{
	int64_t far = (int64_t)(to - from - TRAP_JUMP_LEN);
	int32_t near = (int32_t)far;

	jump[0] = TRAP_JUMP;
	memcpy(jump + 1, &near, TRAP_TAIL);
	return near == far && !has_trap(jump, TRAP_JUMP_LEN);
}

bool
jump_write_short(uint64_t from, uint64_t to, uint8_t *jump)
{
	int64_t far = (int64_t)(to - from - TRAP_SHORT_LEN);
	int8_t near = (int8_t)far;

	jump[0] = TRAP_SHORT;
	jump[1] = (uint8_t)near;
	return TRAP_SHORT_LEN != 0 && near == far &&
	    !has_trap(jump, TRAP_SHORT_LEN);
}

bool
tracepoint_can_board(uint64_t from, uint64_t board)
{
	uint8_t jump[2];

	return jump_write_short(from, board, jump);
}

/* Prepare a jump from e to its code, to be listed.  False: there can be none. */
static bool
aim(struct tptable *tab, const entry_vec *v, struct entry *e)
{
	uint64_t start = tracepoint_start(&e->tp);
	uint8_t to[TRAP_JUMP_LEN] = { 0 }, from[TRAP_JUMP_LEN];

	e->done = -EINVAL;
	if (!has_room(tab, e))
		return false;
	if (e->board == 0 && !jump_write(start, e->stub.addr, to))
		return false;
	if (e->board != 0) {
		if (!jump_write_short(start, e->board, to) ||
		    !jump_write(e->board, e->stub.addr, from) ||
		    !has_board(tab, v, e))
			return false;
		entry_boards(tab, e);
	}
	e->done = 0;
	e->raised = true;
	memcpy(e->to, to, sizeof(to));
	hash_set(&tab->by_start, start, e);
	tab->lowest = MIN(tab->lowest, start);
	return true;
}

static void
raise_run(struct tptable *tab, struct entry *const *at, size_t n)
{
	patch_each(tab, at, n, PATCH_RAISE);
	for (size_t i = 0; i < n; i++)
		if (at[i]->done == 0)
			entry_jumps(tab, at[i], true);
	fault_kill("jump-raised");
}

typedef void run_fn(struct tptable *tab, struct entry *const *at, size_t n);

static void
each_run(struct tptable *tab, const entry_vec *v, run_fn *fn)
{
	for (size_t i = 0, n; i < v->len; i += n) {
		n = patch_length(&v->at[i], v->len - i);
		fn(tab, &v->at[i], n);
	}
}

/* Raise those that were aimed at something.  The list is in order of addresses;
 * those that fail are removed. */
static void
raise_all(struct tptable *tab, entry_vec *v)
{
	size_t kept = 0;

	each_run(tab, v, patch_note_own);
	int err = trapset_flush(tab->traps) != 0 ? -EFAULT : 0;
	for (size_t i = 0; i < v->len; i++) {
		if (v->at[i]->done == 0)
			v->at[i]->done =
			    err != 0 ? err : patch_board(tab, v->at[i]);
		if (v->at[i]->done == 0)
			v->at[kept++] = v->at[i];
	}
	v->len = kept;
	fault_kill("boards-written");
	each_run(tab, v, raise_run);
}

void
tracepoints_jump(struct tptable *tab, struct tracepoint *const *tps, size_t n)
{
	entry_vec v = { 0 };
	uint64_t end = 0;

	for (size_t i = 0; i < n; i++) {
		struct entry *e = entry_of(tps[i]);
		if (tracepoint_start(tps[i]) < end || !aim(tab, &v, e))
			continue;
		*vec_push(&v) = e;
		end = tracepoint_start(tps[i]) + e->span;
	}
	raise_all(tab, &v);
	vec_fini(&v);
}

int
tracepoint_lower(struct tptable *tab, struct tracepoint *tp)
{
	struct entry *e = entry_of(tp);

	if (tp->rides)
		e = entry_over(tab, tp->addr, tp->addr + 1);
	if (e == NULL || !e->tp.jumps)
		return 0;
	lower_run(tab, &e, 1);
	return e->done;
}

void
tracepoint_lower_all(struct tptable *tab, uint64_t start, uint64_t end)
{
	for (struct entry *e = tab->first; tab->jumps > 0 && e != NULL;
	     e = e->next)
		if (e->tp.jumps && e->tp.addr >= start && e->tp.addr < end)
			tracepoint_lower(tab, &e->tp);
}

size_t
tracepoint_undo(const struct tracepoint *tp, uint8_t bytes[TRACEPOINT_SPAN])
{
	const struct entry *e = (const struct entry *)tp;
	size_t n = 0;

	if (tp->state != TP_TRAP && tp->state != TP_DRAINING)
		return 0;
	if (e->raised && memcmp(bytes, e->to, entry_len(e)) == 0) {
		n = entry_len(e);
		memcpy(bytes, e->own, n);
	}
	if (bytes[tp->before] == TRAP_INSN && tp->saved != TRAP_INSN) {
		bytes[tp->before] = tp->saved;
		n = MAX(n, (size_t)tp->before + 1);
	}
	return n;
}

/* ---- the queue ---- */

static bool
is_wanted(const struct tptable *tab, const struct entry *e)
{
	return e->tp.refs != 0 && e->tp.state != TP_GONE && !tab->suspended;
}

static bool
is_to_be_armed(const struct tptable *tab, const struct entry *e)
{
	return is_wanted(tab, e) && e->tp.state != TP_TRAP;
}

/* Sort the queue into tracepoints to arm and to disarm. */
static void
take_queue(struct tptable *tab, struct commit *c)
{
	entry_vec queue = tab->queue;

	tab->queue = (entry_vec){ 0 };
	vec_foreach(at, &queue) {
		struct entry *e = *at;

		e->tp.queued = false;
		e->why = NULL;
		if (is_to_be_armed(tab, e)) {
			*vec_push(&c->arm) = e;
		} else if (!is_wanted(tab, e) && e->tp.state == TP_TRAP) {
			*vec_push(&c->disarm) = e;
		} else {
			/* It was prepared, but is not used any more. */
			e->ready = false;
			if (e->tp.state == TP_IDLE)
				drop_slot(tab, e);
			entry_reap(tab, e);
		}
	}
	vec_fini(&queue);
}

/* ---- preparing while threads run ---- */

size_t
tptable_arming(const struct tptable *tab)
{
	size_t n = 0;

	vec_foreach(at, &tab->queue)
		n += is_to_be_armed(tab, *at);
	return n;
}

/* Additional pieces of slot memory for which the list must have room. */
#define PIECES_MORE 64

/* An upper bound of the entries that the list needs: tracepoints to arm, and
 * pieces of slot memory. */
static size_t
places_for(const struct tptable *tab)
{
	size_t n = tptable_arming(tab);

	return n + n * SLOT_SIZE_MAX / SLOT_MEMORY + PIECES_MORE;
}

/* Slots that may lie in one piece of memory. */
struct group {
	uint64_t near, lo, hi;
	size_t size;
};

/* In a window narrower than this no memory is reserved. */
#define WINDOW_MIN (UINT64_C(1) << 30)

void
tracepoint_reserve(struct tptable *tab)
{
	struct group g = { 0 };

	trapset_reserve(tab->traps, places_for(tab));
	sort_entries(&tab->queue, by_address);
	vec_foreach(at, &tab->queue) {
		struct entry *e = *at;
		uint64_t lo, hi;
		if (!is_to_be_armed(tab, e) || e->tp.slot != 0 ||
		    e->plan.size == 0)
			continue;
		displaced_window(&e->plan, &lo, &hi);
		if (g.size != 0 && MIN(g.hi, hi) < MAX(g.lo, lo) + WINDOW_MIN) {
			slots_reserve(
			    tab->slots, g.near, g.lo, g.hi, g.size, false);
			g.size = 0;
		}
		g = (struct group){ .near = e->tp.addr,
			.lo = g.size != 0 ? MAX(g.lo, lo) : lo,
			.hi = g.size != 0 ? MIN(g.hi, hi) : hi,
			.size = g.size + slot_room(e->plan.size) };
	}
	if (g.size != 0)
		slots_reserve(tab->slots, g.near, g.lo, g.hi, g.size, false);
}

void
tracepoint_prepare(struct tptable *tab)
{
	struct commit c = { 0 };

	if (trapset_room(tab->traps) < places_for(tab) && !tab->unlisted)
		return;
	vec_foreach(at, &tab->queue)
		if (is_to_be_armed(tab, *at) && !(*at)->ready)
			*vec_push(&c.arm) = *at;
	slots_hold(tab->slots, true);
	make_ready(tab, &c);
	slots_hold(tab->slots, false);
	vec_foreach(at, &c.arm)
		(*at)->ready = true;
	/* The commit tries these again, and reports them. */
	vec_foreach(at, &c.failed)
		(*at)->why = NULL;
	vec_fini(&c.arm);
	vec_fini(&c.failed);
}

/* ---- commit ---- */

unsigned
tracepoint_commit(struct tptable *tab,
    void (*failed)(void *ctx, struct tracepoint *, const char *why), void *ctx)
{
	struct commit c = { 0 };

	take_queue(tab, &c);
	fault_kill("commit-begin");
	disarm_all(tab, &c);
	fault_kill("commit-disarmed");
	arm_all(tab, &c);
	fault_kill("commit-armed");
	drain(tab);
	fault_kill("commit-end");
	unsigned n = (unsigned)c.failed.len;

	vec_foreach(at, &c.arm)
		(*at)->ready = false;
	/* The callback may call tracepoint_put(): that only queues; nothing is
	 * freed before the next commit. */
	vec_foreach(at, &c.failed) {
		struct entry *e = *at;
		const char *why = e->why;

		e->why = NULL;
		if (e->tp.state == TP_IDLE)
			drop_slot(tab, e);
		if (failed != NULL)
			failed(ctx, &e->tp, why);
	}
	vec_fini(&c.arm);
	vec_fini(&c.disarm);
	vec_fini(&c.failed);
	return n;
}

void
tracepoint_suspend(struct tptable *tab, bool suspended)
{
	if (tab->suspended == suspended)
		return;
	tab->suspended = suspended;
	/* The commit arms those that are in use. */
	for (struct entry *e = tab->first; e != NULL; e = e->next)
		if (e->tp.refs != 0 && e->tp.state != TP_GONE)
			entry_queue(tab, e);
}

void
tracepoint_unlisted(struct tptable *tab)
{
	tab->unlisted = true;
}

/* ---- detach ---- */

/* Restore the late ones, or all others. */
static unsigned
restore_those(struct tptable *tab, bool late)
{
	static struct entry *run[PATCH_MOST];
	size_t n = 0;
	unsigned left = 0;

	/* Nothing is sorted, as that might allocate; the order of the table is
	 * that of arming, which mostly rises. */
	for (struct entry *e = tab->first; e != NULL; e = e->next) {
		if (e->tp.state != TP_TRAP || e->tp.late != late)
			continue;
		if (n > 0 && !patch_goes_on(run, n, e)) {
			left += disarm_run(tab, run, n);
			n = 0;
		}
		run[n++] = e;
	}
	return n != 0 ? left + disarm_run(tab, run, n) : left;
}

unsigned
tracepoint_restore_all(struct tptable *tab)
{
	unsigned left = restore_those(tab, false);

	return left + restore_those(tab, true);
}

void
tracepoint_restore_boards(struct tptable *tab)
{
	struct target *t = tab->target;
	bool unknown = false;
	uint64_t pc;
	int r;

	for (struct entry *e = tab->first; e != NULL; e = e->next)
		e->boarded = false;
	for (unsigned n = 0; (r = t->ops->thread_pc(t, n, &pc)) != -ENOENT;
	     n++) {
		struct entry *e = hash_get(&tab->by_board, pc);
		unknown |= r != 0;
		if (r == 0 && e != NULL)
			e->boarded = true;
	}
	for (struct entry *e = tab->first; !unknown && e != NULL; e = e->next)
		if (!e->boarded)
			patch_unboard(tab, e);
}
