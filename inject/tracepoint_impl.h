/*
 * The table of tracepoints from inside: tracepoint.c and patch.c change text,
 * tptable.c keeps the entries, resume.c uses a little of it.  For files of inject/ only.
 */
#ifndef INJECT_TRACEPOINT_IMPL_H
#define INJECT_TRACEPOINT_IMPL_H

#include "dlang/base/hash.h"
#include "dlang/base/vec.h"
#include "inject/displaced.h"
#include "inject/stub.h"
#include "inject/tracepoint.h"
#include "inject/trap/area.h"

struct slots;

#define PAGE 4096U

/* A tracepoint and the fields that only the table uses. */
struct entry {
	struct tracepoint tp; /* first: &tp is the entry */
	struct displaced plan;
	/* The program's bytes where the jump is, and those of the jump. */
	uint8_t own[TRAP_JUMP_LEN], to[TRAP_JUMP_LEN];
	/* The code was made for these bytes, as far as the jump covers them. */
	uint8_t made_for[TRAP_JUMP_LEN], made;
	bool raised; /* it had a jump once, or was about to */
	/* Its board, where the second jump is, and the same of that; 0: none.  It
	 * has one as long as it has code. */
	uint64_t board;
	uint8_t board_own[TRAP_JUMP_LEN], board_to[TRAP_JUMP_LEN];
	bool board_up;            /* the jump is there */
	bool boarded;             /* a thread is at it */
	struct entry *board_next; /* in the same page */
	/* Then: bytes from its begin to its end, or to that of the last int3 behind
	 * it of a tracepoint that it is for. */
	uint8_t span;
	struct stub
	    stub; /* where the jump leads to, once there was one: threads
			   * may be in it, so it stays as long as the table */
	struct entry *prev, *next; /* table order */
	struct page *page;         /* the page of its address; set when it is
				    * armed first */
	struct entry *page_next, *page_prev; /* armed in the same page */
	struct entry *drain_next;            /* in tab->draining */
	bool draining;                       /* is in that list */
	bool ready;      /* its slot is filled, and the trapset lists it */
	int done;        /* the result of patch_each() for it */
	const char *why; /* failed in this commit, for this reason */
};

typedef VEC(struct entry *) entry_vec;

struct page {
	uint64_t number; /* addr / PAGE */
	struct entry *armed;
	struct entry *boards;
};

struct tptable {
	struct target *target; /* borrowed */
	struct slots *slots;
	struct trapset *traps;
	struct hash by_addr;
	struct hash by_start; /* by where the jump begins, once there was one */
	struct hash
	    by_board;      /* by the address of the board, once there was one */
	struct hash pages; /* struct page by number */
	struct hash recent;       /* addresses that had an int3 once */
	uint64_t lowest, highest; /* bounds of all addresses ever armed */
	struct entry *first, *last;
	struct entry *draining; /* the int3 is gone, but a thread may be in the
				 * slot */
	entry_vec queue;        /* changes, until commit */
	size_t jumps;           /* number of tracepoints with a jump */
	VEC(struct stub_run) runs; /* code that sites share */
	struct entry shared;       /* owns that; no tracepoint */
	bool suspended; /* no int3 is in the text, also for tracepoints in
			 * use */
	bool unlisted;  /* int3s need not be in traps */
};

static inline struct entry *
entry_of(struct tracepoint *tp)
{
	return (struct entry *)tp;
}

/* Is there a jump that is its own? */
static inline bool
entry_leads(const struct entry *e)
{
	return e->tp.jumps && !e->tp.rides;
}

/* The length of its jump. */
static inline unsigned
entry_len(const struct entry *e)
{
	return e->board != 0 ? TRAP_SHORT_LEN : TRAP_JUMP_LEN;
}

/* The next tracepoint behind prev, or behind e if prev is NULL, that shares the jump
 * of e; NULL: there is none. */
struct entry *entry_rider(
    struct tptable *tab, const struct entry *e, const struct entry *prev);

/* Note whether there is a jump that is e's own, for all that share it. */
void entry_jumps(struct tptable *tab, struct entry *e, bool jumps);

/* ---- patch.c ---- */

/* Tracepoints in one run. */
#define PATCH_MOST 1024

enum patch { PATCH_ARM, PATCH_RESTORE, PATCH_RAISE, PATCH_LOWER };

/* Can e be appended to the run run[0 ..  n)?  Addresses rise, every page of a run has
 * a tracepoint, and either all are late or none is. */
bool patch_goes_on(struct entry *const *run, size_t n, const struct entry *e);
/* How many of at[0 ..  n), from the first on, make a run.  At least 1. */
size_t patch_length(struct entry *const *at, size_t n);
/* Write the int3s or jumps of a run, or restore its bytes, after comparing what is
 * there.  `done' of each is set: 0, -EFAULT, or -EBUSY if the text was changed by
 * others.  All threads must be stopped.  Allocates nothing. */
void patch_each(
    struct tptable *tab, struct entry *const *at, size_t n, enum patch what);

/* Note the program's bytes under each jump of a run that is to be written, for the
 * time when the tracer has died; `done' of each is set: 0, -EFAULT, -EBUSY as above,
 * or -EINVAL if the list has no room. */
void patch_note_own(struct tptable *tab, struct entry *const *at, size_t n);

/* Write the jump to e's code to its board, of which patch_note_own() has noted what
 * was there.  0 or -EFAULT. */
int patch_board(struct tptable *tab, struct entry *e);
/* Restore the board.  Allocates nothing. */
void patch_unboard(struct tptable *tab, struct entry *e);

/* Write a jump.  False: it would be too far, or has the byte of an int3, which
 * may be taken for one of ours if we die. */
bool jump_write(uint64_t from, uint64_t to, uint8_t jump[TRAP_JUMP_LEN]);

/* Write a short jump.  False: as above. */
bool jump_write_short(uint64_t from, uint64_t to, uint8_t *jump);

/* Whose stub is pc in?  A board is part of it.  NULL: in none. */
struct entry *entry_at_stub(const struct tptable *tab, uint64_t pc);
/* In which code that sites share?  NULL: in none. */
const struct stub_run *run_at(const struct tptable *tab, uint64_t pc);

/* Note the board of e, which has been armed once; it has no other. */
void entry_boards(struct tptable *tab, struct entry *e);
/* The entry with a board that has one of the bytes in [from, to); or NULL. */
struct entry *entry_board_over(
    const struct tptable *tab, uint64_t from, uint64_t to);

/* A tracepoint with a jump whose span has one of the bytes in [from, to); or
 * NULL. */
struct entry *entry_over(struct tptable *tab, uint64_t from, uint64_t to);

struct slots *tptable_slots(struct tptable *tab);
struct target *tptable_target(struct tptable *tab);

struct entry *entry_add(struct tptable *tab);
/* Free e if no site, list or slot uses it any more. */
void entry_reap(struct tptable *tab, struct entry *e);
void entry_queue(struct tptable *tab, struct entry *e);
/* Put e into the list whose slots are freed when no thread is inside. */
void entry_drain(struct tptable *tab, struct entry *e);
/* Int3s are about to be written for these, which are in the order of their
 * addresses.  Allocate now what entry_armed() needs: if memory ran out later,
 * an int3 that is not in the table would stay in the text. */
void entries_arming(
    struct tptable *tab, struct entry *const *entries, size_t n);
/* Note that e's int3 is in the text.  Allocates nothing. */
void entry_armed(struct tptable *tab, struct entry *e);
/* Note that e's int3 is no longer in the text.  Allocates nothing. */
void entry_disarmed(struct tptable *tab, struct entry *e, enum tp_state state);

#endif
