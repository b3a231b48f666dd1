/*
 * The entries of a table of tracepoints: finding them, listing those armed in a
 * page, copying them for a fork, forgetting them when memory is unmapped.  No
 * text is changed here.
 */
#include <string.h>

#include "inject/slot.h"
#include "inject/target.h"
#include "inject/tracepoint_impl.h"
#include "inject/trapset.h"

struct slots *
tptable_slots(struct tptable *tab)
{
	return tab->slots;
}

struct target *
tptable_target(struct tptable *tab)
{
	return tab->target;
}

struct tptable *
tptable_create(struct target *t)
{
	struct tptable *tab = mem_zalloc(sizeof(*tab));

	tab->target = t;
	tab->slots = slots_create(t);
	tab->traps = trapset_create(t);
	tab->lowest = UINT64_MAX;
	return tab;
}

void
tptable_destroy(struct tptable *tab)
{
	struct entry *next;

	if (tab == NULL)
		return;
	for (struct entry *e = tab->first; e != NULL; e = next) {
		next = e->next;
		mem_free(e);
	}
	hash_foreach(h, &tab->pages)
		mem_free(h->value);
	slots_destroy(tab->slots);
	trapset_destroy(tab->traps);
	hash_fini(&tab->by_addr);
	hash_fini(&tab->by_start);
	hash_fini(&tab->by_board);
	hash_fini(&tab->pages);
	hash_fini(&tab->recent);
	vec_fini(&tab->queue);
	vec_fini(&tab->runs);
	mem_free(tab);
}

/* ---- entries ---- */

struct entry *
entry_add(struct tptable *tab)
{
	struct entry *e = mem_zalloc(sizeof(*e));

	e->tp.plan = &e->plan;
	e->prev = tab->last;
	if (tab->last != NULL)
		tab->last->next = e;
	else
		tab->first = e;
	tab->last = e;
	return e;
}

static void
board_remove(struct tptable *tab, struct entry *e)
{
	struct entry **at;

	if (e->board == 0 || hash_get(&tab->by_board, e->board) != e)
		return;
	hash_remove(&tab->by_board, e->board);
	for (at = &e->page->boards; *at != e; at = &(*at)->board_next)
		;
	*at = e->board_next;
}

static void
entry_free(struct tptable *tab, struct entry *e)
{
	uint64_t start = tracepoint_start(&e->tp);

	if (hash_get(&tab->by_start, start) == e)
		hash_remove(&tab->by_start, start);
	board_remove(tab, e);
	if (e->prev != NULL)
		e->prev->next = e->next;
	else
		tab->first = e->next;
	if (e->next != NULL)
		e->next->prev = e->prev;
	else
		tab->last = e->prev;
	mem_free(e);
}

void
entry_reap(struct tptable *tab, struct entry *e)
{
	struct tracepoint *tp = &e->tp;

	if (tp->refs != 0 || tp->queued || e->draining || tp->slot != 0 ||
	    e->stub.addr != 0)
		return;
	if (tp->state != TP_IDLE && tp->state != TP_GONE)
		return;
	if (tp->state == TP_IDLE)
		hash_remove(&tab->by_addr, tp->addr);
	entry_free(tab, e);
}

void
entry_queue(struct tptable *tab, struct entry *e)
{
	if (!e->tp.queued)
		*vec_push(&tab->queue) = e;
	e->tp.queued = true;
}

void
entry_drain(struct tptable *tab, struct entry *e)
{
	if (e->draining)
		return;
	e->draining = true;
	e->drain_next = tab->draining;
	tab->draining = e;
}

static struct page *
page_lookup(const struct tptable *tab, uint64_t addr)
{
	return hash_get(&tab->pages, addr / PAGE);
}

static struct page *
page_add(struct tptable *tab, uint64_t addr)
{
	struct page *p = page_lookup(tab, addr);

	if (p != NULL)
		return p;
	hash_reserve(&tab->pages, 1);
	p = mem_zalloc(sizeof(*p));
	p->number = addr / PAGE;
	hash_set(&tab->pages, p->number, p);
	return p;
}

void
entries_arming(struct tptable *tab, struct entry *const *entries, size_t n)
{
	struct page *last = NULL;

	hash_reserve(&tab->recent, n);
	for (size_t i = 0; i < n; i++) {
		struct entry *e = entries[i];
		if (e->page != NULL)
			continue;
		e->page = last != NULL && last->number == e->tp.addr / PAGE ?
		    last :
		    page_add(tab, e->tp.addr);
		last = e->page;
		hash_set(&tab->recent, e->tp.addr, tab);
	}
}

void
entry_armed(struct tptable *tab, struct entry *e)
{
	struct page *p = e->page;

	e->page_next = p->armed;
	e->page_prev = NULL;
	if (p->armed != NULL)
		p->armed->page_prev = e;
	p->armed = e;
	e->tp.state = TP_TRAP;
	tab->lowest = MIN(tab->lowest, e->tp.addr);
	tab->highest = MAX(tab->highest, e->tp.addr);
}

void
entry_disarmed(struct tptable *tab, struct entry *e, enum tp_state state)
{
	if (e->page_prev != NULL)
		e->page_prev->page_next = e->page_next;
	else
		e->page->armed = e->page_next;
	if (e->page_next != NULL)
		e->page_next->page_prev = e->page_prev;
	e->page_next = e->page_prev = NULL;
	if (entry_leads(e))
		entry_jumps(tab, e, false);
	e->tp.state = state;
	e->tp.jumps = e->tp.rides = false;
}

struct entry *
entry_rider(
    struct tptable *tab, const struct entry *e, const struct entry *prev)
{
	uint64_t end = tracepoint_start(&e->tp) + e->span;
	uint64_t at = prev != NULL ? prev->tp.addr : e->tp.addr;

	while (++at < end) {
		struct tracepoint *tp = tracepoint_lookup(tab, at);
		if (tp != NULL)
			return entry_of(tp);
	}
	return NULL;
}

void
entry_jumps(struct tptable *tab, struct entry *e, bool jumps)
{
	struct entry *r = NULL;

	tab->jumps += (size_t)jumps - (size_t)e->tp.jumps;
	e->tp.jumps = jumps;
	while ((r = entry_rider(tab, e, r)) != NULL)
		r->tp.jumps = r->tp.rides = jumps;
}

void
entry_boards(struct tptable *tab, struct entry *e)
{
	if (hash_get(&tab->by_board, e->board) == e)
		return;
	hash_set(&tab->by_board, e->board, e);
	e->board_next = e->page->boards;
	e->page->boards = e;
	tab->lowest = MIN(tab->lowest, e->board);
	tab->highest = MAX(tab->highest, e->board);
}

/* ---- questions ---- */

struct tracepoint *
tracepoint_lookup(struct tptable *tab, uint64_t addr)
{
	struct entry *e = hash_get(&tab->by_addr, addr);

	return e != NULL && e->tp.state == TP_TRAP ? &e->tp : NULL;
}

bool
tracepoint_recent(struct tptable *tab, uint64_t addr)
{
	trap_insn now;

	if (hash_get(&tab->recent, addr) == NULL)
		return false;
	/* If another int3 is there now, the program has written it and expects
	 * its signal; setting the pc back would trap for ever. */
	return tab->target->ops->read(tab->target, addr, &now, sizeof(now)) ==
	    0 &&
	    now != TRAP_INSN;
}

void
tracepoint_inherit(struct tptable *tab, uint64_t addr)
{
	hash_set(&tab->recent, addr, tab);
}

struct tracepoint *
tracepoint_next(struct tptable *tab, struct tracepoint *prev)
{
	struct entry *e = prev != NULL ? entry_of(prev)->next : tab->first;

	return e != NULL ? &e->tp : NULL;
}

struct entry *
entry_over(struct tptable *tab, uint64_t from, uint64_t to)
{
	for (uint64_t at = to - 1;
	     tab->jumps > 0 && at != from - TRACEPOINT_SPAN; at--) {
		struct entry *e = hash_get(&tab->by_start, at);
		if (e != NULL && entry_leads(e) && at + e->span > from)
			return e;
	}
	return NULL;
}

/* The entry whose jump has the byte at addr; or NULL. */
static struct entry *
entry_covering(struct tptable *tab, uint64_t addr)
{
	for (uint64_t n = 0; tab->jumps > 0 && n < TRAP_JUMP_LEN; n++) {
		struct entry *e = hash_get(&tab->by_start, addr - n);
		if (e != NULL && entry_leads(e) && n < entry_len(e))
			return e;
	}
	return NULL;
}

struct entry *
entry_at_stub(const struct tptable *tab, uint64_t pc)
{
	struct tracepoint *tp = slot_owner(tab->slots, pc);
	struct entry *e = tp != NULL ? entry_of(tp) : NULL;

	if (e != NULL)
		return stub_offset(&e->stub, pc) < e->stub.size ? e : NULL;
	e = hash_get(&tab->by_board, pc);
	return e != NULL && e->stub.addr != 0 ? e : NULL;
}

const struct stub_run *
run_at(const struct tptable *tab, uint64_t pc)
{
	vec_foreach(r, &tab->runs)
		if (pc - r->addr < r->size)
			return r;
	return NULL;
}

struct entry *
entry_board_over(const struct tptable *tab, uint64_t from, uint64_t to)
{
	struct entry *e = NULL;

	for (uint64_t at = to - 1; e == NULL && at != from - TRAP_JUMP_LEN;
	     at--)
		e = hash_get(&tab->by_board, at);
	return e;
}

/* The bytes of one page that are in [addr, addr + len).  No jump reaches over
 * the end of its page. */
static void
overlay_page(const struct page *p, uint64_t addr, uint8_t *buf, size_t len)
{
	for (const struct entry *e = p->armed; e != NULL; e = e->page_next) {
		uint64_t at = e->tp.addr - addr;
		if (at < len)
			buf[at] = e->tp.saved;
		at -= e->tp.before;
		for (size_t i = 0; entry_leads(e) && i < entry_len(e); i++)
			if (at + i < len)
				buf[at + i] = e->own[i];
	}
	for (const struct entry *e = p->boards; e != NULL; e = e->board_next)
		for (size_t i = 0; e->board_up && i < TRAP_JUMP_LEN; i++)
			if (e->board + i - addr < len)
				buf[e->board + i - addr] = e->board_own[i];
}

/* Replace a byte of dtrap at addr by the program's. */
static void
overlay_byte(struct tptable *tab, uint64_t addr, uint8_t *byte)
{
	struct entry *e = hash_get(&tab->by_addr, addr);

	if (e != NULL && e->tp.state == TP_TRAP)
		*byte = e->tp.saved;
	else if ((e = entry_covering(tab, addr)) != NULL)
		*byte = e->own[addr - tracepoint_start(&e->tp)];
	else if ((e = entry_board_over(tab, addr, addr + 1)) != NULL &&
	    e->board_up)
		*byte = e->board_own[addr - e->board];
}

/* Reads shorter than this are looked up byte by byte. */
#define OVERLAY_SHORT 32

void
tracepoint_overlay(struct tptable *tab, uint64_t addr, void *buf, size_t len)
{
	/* Most reads are of stacks and heaps. */
	if (len == 0 || tab->lowest > addr + len - 1 ||
	    tab->highest + TRAP_TAIL < addr)
		return;
	if (len < OVERLAY_SHORT) {
		for (size_t i = 0; i < len; i++)
			overlay_byte(tab, addr + i, (uint8_t *)buf + i);
		return;
	}
	for (uint64_t at = addr & ~(uint64_t)(PAGE - 1); at < addr + len;
	     at += PAGE) {
		struct page *p = page_lookup(tab, at);
		if (p != NULL)
			overlay_page(p, addr, buf, len);
	}
}

/* ---- the ends: detach, fork, unmap ---- */

struct trapset *
tptable_traps(struct tptable *tab)
{
	return tab->traps;
}

uint64_t
tptable_near(const struct tptable *tab)
{
	return tab->first != NULL ? tab->first->tp.addr : 0;
}

bool
tptable_queued(const struct tptable *tab)
{
	return tab->queue.len > 0;
}

static void
compare_board(struct tptable *tab, struct entry *e)
{
	struct target *t = tab->target;
	uint8_t now[TRAP_JUMP_LEN];

	if (e->board_up && t->ops->read(t, e->board, now, sizeof(now)) == 0)
		e->board_up = memcmp(now, e->board_to, sizeof(now)) == 0;
}

/* The memory was copied before the table: a jump may have been raised or lowered
 * in between.  Note whether the copy has it. */
static void
compare_jump(struct tptable *tab, struct entry *e)
{
	struct target *t = tab->target;
	uint64_t start = tracepoint_start(&e->tp);
	uint8_t now[TRAP_JUMP_LEN];

	compare_board(tab, e);
	if (!e->raised || e->tp.state != TP_TRAP || e->tp.rides)
		return;
	bool jumps = e->tp.jumps;
	if (t->ops->read(t, start, now, entry_len(e)) == 0)
		jumps = memcmp(now, e->to, entry_len(e)) == 0;
	if (jumps)
		hash_set(&tab->by_start, start, e);
	if (jumps != e->tp.jumps)
		entry_jumps(tab, e, jumps);
}

struct tptable *
tptable_fork(const struct tptable *tab, struct target *child)
{
	struct tptable *copy = mem_zalloc(sizeof(*copy));

	copy->target = child;
	copy->slots = slots_fork(tab->slots, child);
	copy->traps = trapset_fork(tab->traps, child);
	copy->suspended = tab->suspended;
	copy->unlisted = tab->unlisted;
	copy->lowest = tab->lowest;
	copy->highest = tab->highest;
	copy->jumps = tab->jumps;
	for (const struct entry *e = tab->first; e != NULL; e = e->next) {
		/* A GONE tracepoint matters only while a thread is in its
		 * slot. */
		if (e->tp.state == TP_GONE && e->tp.slot == 0)
			continue;
		struct entry *d = entry_add(copy);
		d->tp = e->tp;
		memcpy(d->own, e->own, sizeof(d->own));
		memcpy(d->to, e->to, sizeof(d->to));
		memcpy(d->made_for, e->made_for, sizeof(d->made_for));
		d->made = e->made;
		d->raised = e->raised;
		d->span = e->span;
		d->board = e->board;
		memcpy(d->board_own, e->board_own, sizeof(d->board_own));
		memcpy(d->board_to, e->board_to, sizeof(d->board_to));
		d->board_up = e->board_up;
		d->plan = e->plan;
		d->tp.plan = &d->plan;
		d->tp.user = NULL;
		d->tp.queued = false;
		if (e->tp.slot != 0)
			slot_adopt(
			    copy->slots, e->tp.slot, e->plan.size, &d->tp);
		if (e->tp.state == TP_GONE)
			d->tp.refs = 0;
		else
			hash_set(&copy->by_addr, d->tp.addr, d);
		if (e->tp.state == TP_TRAP) {
			entries_arming(copy, &d, 1);
			entry_armed(copy, d);
		}
		if (d->board != 0 && hash_get(&tab->by_board, d->board) == e) {
			entries_arming(copy, &d, 1);
			entry_boards(copy, d);
		}
		if (e->tp.queued)
			entry_queue(copy, d);
		if (e->draining)
			entry_drain(copy, d);
	}
	for (struct entry *d = copy->first; d != NULL; d = d->next)
		compare_jump(copy, d);
	hash_foreach(h, &tab->recent)
		hash_set(&copy->recent, h->key, copy);
	return copy;
}

/* Slot memory has been released: no thread is in it. */
static void
slots_gone(void *ctx, uint64_t start, uint64_t end)
{
	struct tptable *tab = ctx;

	for (size_t i = tab->runs.len; i-- > 0;)
		if (tab->runs.at[i].addr - start < end - start)
			tab->runs.at[i] = vec_pop(&tab->runs);
	for (struct entry *e = tab->first; e != NULL; e = e->next) {
		if (e->stub.addr - start < end - start ||
		    e->stub.rare - start < end - start)
			e->stub = (struct stub){ 0 };
		if (e->tp.slot < start || e->tp.slot >= end)
			continue;
		e->tp.slot = 0;
		if (e->tp.state == TP_DRAINING)
			e->tp.state = TP_IDLE;
	}
}

void
tptable_release_slots(struct tptable *tab)
{
	for (struct entry *e = tab->first; e != NULL; e = e->next)
		ASSERT(e->tp.state != TP_TRAP || e->tp.slot == 0);
	slots_release(tab->slots, slots_gone, tab);
}

void
tracepoint_forget(struct tptable *tab, uint64_t start, uint64_t end)
{
	struct entry *next;

	trapset_forget(tab->traps, start, end);
	for (struct entry *e = tab->first; e != NULL; e = next) {
		next = e->next;
		if (e->tp.addr < start || e->tp.addr >= end ||
		    e->tp.state == TP_GONE)
			continue;
		if (e->tp.state == TP_TRAP)
			entry_disarmed(tab, e, TP_GONE);
		e->tp.state = TP_GONE;
		board_remove(tab, e);
		e->board_up = false;
		hash_remove(&tab->by_addr, e->tp.addr);
		if (e->tp.slot != 0)
			entry_drain(tab, e);
		entry_reap(tab, e);
	}
	hash_foreach(h, &tab->recent)
		if (h->key >= start && h->key < end)
			hash_remove(&tab->recent, h->key);
}
