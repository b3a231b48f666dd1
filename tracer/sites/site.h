/*
 * Probes backed by tracepoints: what pid has in common with the providers to
 * come.  A site is an address where a probe needs a tracepoint.
 */
#ifndef TRACER_SITES_SITE_H
#define TRACER_SITES_SITE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "dlang/argloc.h"
#include "dlang/base/vec.h"

struct diags;
struct load;
struct proc;
struct addrspace;
struct probe;
struct space;
struct span;
struct state;
struct thread;
struct tracepoint;
struct uregs;

/* A range of a function's code. */
struct site_range {
	uint64_t start, end;
};

/* One struct img_site: of a tracepoint, and of its copies in the processes that
 * were forked since, which have the same number. */
struct image_site {
	uint32_t ref;
	unsigned users;
	unsigned nranges; /* SITE_OUTSIDE: the function, its begin first */
	struct site_range ranges[];
};

/* Who comes to a site fires its probe: */
enum site_when {
	SITE_ALWAYS,
	SITE_TAKEN,   /* when the branch there is taken */
	SITE_OUTSIDE, /* when it goes out of the function, or to its begin */
	SITE_ENTRY,   /* unless by a SITE_LOOP of the same probe's function */
	SITE_LOOP,    /* never: a jump to the begin which is no call */
	SITE_DOOR,    /* never: a jump of another function into this one */
};

struct site {
	struct site *next; /* same tracepoint */
	struct probe *probe;
	struct image_site *image; /* NULL: SITE_LOOP, SITE_DOOR */
	enum site_when when;
	bool doors; /* not if the thread has come in by a SITE_DOOR */
};

/*
 * Somebody other than a probe who wants to know that a thread came to a
 * tracepoint.  A thread goes through the steps in this order; a step that nobody
 * needs is NULL.
 */
struct arrival {
	/* The probes there are about to fire. */
	void (*before)(struct state *, struct thread *, struct tracepoint *);
	/* They have fired, and the instruction has not run.  True: the thread is
	 * to stay stopped. */
	bool (*keeps)(struct state *, struct thread *, struct tracepoint *);
	/* May run the instruction, a system call, in the thread's place.  True:
	 * it did, and the registers are those behind it, but for the pc. */
	bool (*instead)(struct thread *, struct uregs *);
	/* The thread's registers are those that it is to go on with.  True: it
	 * has queued something that is to be committed now. */
	bool (*settled)(struct space *);
	/* A signal came before the instruction ran: it will trap once more. */
	void (*undone)(struct thread *, const struct uregs *);
	/* The int3 could not be written. */
	void (*failed)(struct space *);
};

#define ARRIVALS_MAX 5

/* What hangs on tracepoint->user: who wants to know that a thread came by. */
struct tp_user {
	struct site *sites;
	bool choosy; /* some site is not SITE_ALWAYS */
	bool loops;  /* some site is SITE_LOOP */
	bool doors;  /* some site is SITE_DOOR */
	const struct arrival *arrivals[ARRIVALS_MAX]; /* up to the first NULL */
};

#define arrivals_foreach(a, u)                                       \
	for (size_t a##_i = 0; a##_i < ARRIVALS_MAX; a##_i++)        \
		for (const struct arrival *a = (u)->arrivals[a##_i]; \
		     a != NULL; a = NULL)

/* From now on `a' is told of who comes to tp, or no longer. */
void site_tell(struct tracepoint *tp, const struct arrival *a);
void site_tell_no_more(struct tracepoint *tp, const struct arrival *a);
bool site_tells(const struct tracepoint *tp, const struct arrival *a);

/*
 * Queue a tracepoint for an enabled probe.  On failure (no instruction,
 * nothing readable) it is noted for -v and nothing fires there.
 */
void site_add(struct state *st, struct space *sp, uint64_t addr,
    struct probe *p, const struct argloc *args, uint32_t nargs);

/* The same for a site that does not always fire; the ranges are those of
 * SITE_OUTSIDE. */
struct site_choice {
	enum site_when when;
	bool doors; /* struct site */
	const struct site_range *ranges;
	unsigned nranges;
};
void site_add_choosy(struct state *st, struct space *sp, uint64_t addr,
    struct probe *p, const struct argloc *args, uint32_t nargs,
    const struct site_choice *choice);

/* A jump that tells of others, a SITE_LOOP or SITE_DOOR: with a tracepoint on
 * it the SITE_ENTRY of p that it leads to does not fire, or the exits of p. */
void site_add_jump(struct state *st, struct space *sp, uint64_t addr,
    struct probe *p, enum site_when when);

/* Note for -v that p does not fire at addr. */
struct site_failures {
	unsigned long count;
	VEC(char *) list; /* the first of them, in words */
};

/* All that have been so far; NULL: none. */
const struct site_failures *site_failures(const struct state *st);

void site_failed(
    struct state *st, const struct probe *p, uint64_t addr, const char *why);

/* The tracepoint at addr with its tp_user, made if need be; NULL with *why. */
struct tracepoint *site_tracepoint(
    struct state *st, struct space *sp, uint64_t addr, const char **why);

/* The memory in [start, end) is unmapped: nothing of ours is there any more. */
void sites_unmap(
    struct state *st, struct space *sp, uint64_t start, uint64_t end);

/* Queue the removal of every site of a probe in a space, and of the tracepoint
 * where nobody else needs it. */
void sites_take_out(struct state *st, struct space *sp, const struct probe *p);

/* Free what hangs on every tracepoint of a space that goes away. */
void sites_drop(struct state *st, struct space *sp);

/* A fork's child has a copy of the memory, and of the table: its tracepoints
 * get the sites that the parent's have. */
void sites_fork(struct space *parent, struct space *child);

/* Carry out what is queued in the space, or in all spaces: stops their
 * threads, writes, lets them run. */
void sites_commit(struct state *st, struct space *sp);
void sites_commit_all(struct state *st);
/* In those where something is queued; the others run on. */
void sites_commit_queued(struct state *st);
/* In those that cannot be protected now, after SITES_AGAIN_NS and until they are
 * or cannot be.  A try takes as long as a thread that cannot be stopped is waited
 * for. */
#define SITES_AGAIN_NS 20000000
void sites_commit_later(struct state *st);

/*
 * Objects that every clause has been matched against are not looked at again
 * when another one is mapped, until they are unmapped.
 */
void loads_matched(struct state *st);
/* The same for one space: a fork's child has the tracepoints of its parent. */
void loads_matched_in(struct addrspace *as);
bool load_is_matched(const struct load *l);
void load_forget_match(struct load *l);

/*
 * A process named by its number alone is attached to, as DTrace grabs it: 0
 * with *out, which is NULL on later calls (d NULL) when it is not traced; or an
 * error after reporting to d.
 */
int site_grab(struct state *st, pid_t pid, const struct span *at,
    struct diags *d, struct proc **out);

#endif
