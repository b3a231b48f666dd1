/*
 * The table of tracepoints as the files that make it up see it (tracepoint.c
 * changes text, tptable.c keeps the entries), and what resume.c needs of it.
 * For files of inject/ only.
 */
#ifndef INJECT_TRACEPOINT_IMPL_H
#define INJECT_TRACEPOINT_IMPL_H

#include "dlang/base/hash.h"
#include "dlang/base/vec.h"
#include "inject/displaced.h"
#include "inject/tracepoint.h"
#include "inject/trap/area.h"

struct slots;

#define PAGE 4096U

/* A tracepoint and what only the table sees of it. */
struct entry {
	struct tracepoint tp; /* first: &tp is the entry */
	struct displaced plan;
	/* What the program has behind the first byte, and what stands there while
	 * tp.jumps. */
	uint8_t tail[TRAP_TAIL], to[TRAP_TAIL];
	bool raised;               /* it had a jump once */
	struct entry *prev, *next; /* table order */
	struct page *page;         /* of its address, once it was to be armed */
	struct entry *page_next, *page_prev; /* armed in the same page */
	struct entry *drain_next;            /* in tab->draining */
	bool draining;                       /* is in that list */
	bool ready;      /* its slot is filled, its place listed */
	int done;        /* what patch_run() says of it */
	const char *why; /* failed in this commit, for this reason */
};

typedef VEC(struct entry *) entry_vec;

struct page {
	uint64_t number; /* addr / PAGE */
	struct entry *armed;
};

struct tptable {
	struct target *target; /* borrowed */
	struct slots *slots;
	struct trapset *traps;
	struct hash by_addr;
	struct hash pages;  /* struct page by number: who is armed there */
	struct hash recent; /* addresses that had an int3 once */
	uint64_t lowest, highest; /* bounds of all addresses ever armed */
	struct entry *first, *last;
	struct entry *draining; /* no int3, perhaps a slot with a thread in */
	entry_vec queue;        /* changes, until commit */
	size_t jumps;           /* how many of them are there */
	bool suspended;         /* no int3 stands, whatever is wanted */
	bool unlisted;          /* int3s need not be in traps */
};

static inline struct entry *
entry_of(struct tracepoint *tp)
{
	return (struct entry *)tp;
}

/* So many bytes of text are ours at an armed tracepoint. */
static inline size_t
entry_length(const struct entry *e)
{
	return e->tp.jumps ? TRAP_JUMP_LEN : 1;
}

/* The jump that covers addr, but does not begin there; or NULL. */
struct entry *entry_around(struct tptable *tab, uint64_t addr);

struct slots *tptable_slots(struct tptable *tab);
struct target *tptable_target(struct tptable *tab);

struct entry *entry_add(struct tptable *tab);
/* Free e if nothing names it any more: no site, no list, no slot. */
void entry_reap(struct tptable *tab, struct entry *e);
void entry_queue(struct tptable *tab, struct entry *e);
/* Its slot is freed when no thread is in it. */
void entry_drain(struct tptable *tab, struct entry *e);
/* Int3s are about to be written for these, in the order of their addresses: what
 * entry_armed() needs is got now, as one that is not in the table when memory
 * runs out would stay. */
void entries_arming(
    struct tptable *tab, struct entry *const *entries, size_t n);
/* e's int3 is in place from now on.  Allocates nothing. */
void entry_armed(struct tptable *tab, struct entry *e);
/* e's int3 is not in place any more.  Allocates nothing. */
void entry_disarmed(struct tptable *tab, struct entry *e, enum tp_state state);

#endif
