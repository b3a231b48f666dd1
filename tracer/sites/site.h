/*
 * Sites: addresses where a probe needs a tracepoint.  Providers whose probes
 * are in text add them; tracer/fire/hit.c fires them.
 */
#ifndef TRACER_SITES_SITE_H
#define TRACER_SITES_SITE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "dlang/argloc.h"
#include "dlang/base/vec.h"

struct diags;
struct fast_jump;
struct load;
struct proc;
struct addrspace;
struct probe;
struct probe_desc;
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

/* A struct img_site of a tracepoint, shared by the copies of the tracepoint in
 * forked processes, which have the same number. */
struct image_site {
	uint32_t ref;
	unsigned users;
	unsigned nranges; /* SITE_OUTSIDE: ranges of the function, the one with
			   * the entry first */
	struct site_range ranges[];
};

/* When a hit of the site fires its probe: */
enum site_when {
	SITE_ALWAYS,
	SITE_TAKEN,   /* if the branch there is taken */
	SITE_OUTSIDE, /* if the jump leaves the function, or goes to its
		       * entry */
	SITE_ENTRY, /* unless the thread came by a SITE_LOOP of the function */
	SITE_LOOP,  /* never: a jump to the entry that is no call */
	SITE_DOOR,  /* never: a jump of another function into this one */
};

struct site {
	struct site *next; /* same tracepoint */
	struct probe *probe;
	struct image_site *image; /* NULL: SITE_LOOP, SITE_DOOR */
	enum site_when when;
	bool doors; /* does not fire if the thread came in by a SITE_DOOR */
};

/*
 * Arrival hooks: what code other than a probe does when a thread hits a
 * tracepoint (markers, lock functions).  The hooks are called in this order;
 * each may be NULL.
 */
struct arrival {
	/* Before the probes of the tracepoint fire. */
	void (*before)(struct state *, struct thread *, struct tracepoint *);
	/* After they have fired, before the instruction runs.  True: the thread
	 * must stay stopped. */
	bool (*keeps)(struct state *, struct thread *, struct tracepoint *);
	/* May execute the instruction, a system call, in the thread's place.
	 * True: it did; the registers are those after the call, except the
	 * pc. */
	bool (*instead)(struct thread *, struct uregs *);
	/* The thread's registers are final.  True: the hook has queued changes
	 * that must be committed now. */
	bool (*settled)(struct space *);
	/* A signal came before the instruction ran: the instruction will trap
	 * again. */
	void (*undone)(struct thread *, const struct uregs *);
	/* The int3 of the tracepoint could not be written. */
	void (*failed)(struct space *);
};

#define ARRIVALS_MAX 5

/* The value of tracepoint->user: what a hit of it must do. */
struct tp_user {
	struct site *sites;
	bool choosy; /* some site is not SITE_ALWAYS */
	bool loops;  /* some site is SITE_LOOP */
	bool doors;  /* some site is SITE_DOOR */
	const struct arrival *arrivals[ARRIVALS_MAX]; /* up to the first NULL */
	struct fast_jump *jump;                       /* jumps.c's */
	uint64_t trapped; /* hits by trap that fired */
};

#define arrivals_foreach(a, u)                                       \
	for (size_t a##_i = 0; a##_i < ARRIVALS_MAX; a##_i++)        \
		for (const struct arrival *a = (u)->arrivals[a##_i]; \
		     a != NULL; a = NULL)

/* Note that a probe has a site in the space. */
void site_probed(struct space *sp);
/* Add the arrival hooks `a' to tp; remove them. */
void site_tell(struct tracepoint *tp, const struct arrival *a);
void site_tell_no_more(struct tracepoint *tp, const struct arrival *a);

/*
 * Queue a tracepoint for an enabled probe.  On failure (not an instruction, or
 * unreadable) the reason is recorded for -v, and nothing fires there.
 */
void site_add(struct state *st, struct space *sp, uint64_t addr,
    struct probe *p, const struct argloc *args, uint32_t nargs);

/* The same for a site that does not always fire; the ranges are for
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

/* Add a SITE_LOOP or SITE_DOOR of p, which itself never fires.  A thread that
 * takes the jump does not fire p's SITE_ENTRY (loop), or p's exits (door). */
void site_add_jump(struct state *st, struct space *sp, uint64_t addr,
    struct probe *p, enum site_when when);

/* Places at which a probe does not fire, for -v. */
struct site_failures {
	unsigned long count;
	VEC(char *) list; /* the first of them, in words */
};

/* All that were recorded so far; NULL: none. */
const struct site_failures *site_failures(const struct state *st);
/* Record that p does not fire at addr. */
void site_failed(
    struct state *st, const struct probe *p, uint64_t addr, const char *why);

/* The tracepoint at addr, with its tp_user; created if it does not exist.  NULL
 * with the reason in *why. */
struct tracepoint *site_tracepoint(
    struct state *st, struct space *sp, uint64_t addr, const char **why);

/* The memory in [start, end) was unmapped: forget sites and tracepoints in
 * it. */
void sites_unmap(
    struct state *st, struct space *sp, uint64_t start, uint64_t end);

/* Remove every site of a probe in a space, and queue the removal of tracepoints
 * that nothing else needs. */
void sites_take_out(struct state *st, struct space *sp, const struct probe *p);

/* A space ends: free the tp_user of all its tracepoints. */
void sites_drop(struct state *st, struct space *sp);

/* A fork's child has a copy of the memory and of the table: give its
 * tracepoints the sites of the parent's. */
void sites_fork(struct space *parent, struct space *child);

/* Commit the queued changes in one space, or in all: stops the threads, writes,
 * continues the threads. */
void sites_commit(struct state *st, struct space *sp);
void sites_commit_all(struct state *st);
/* The same only in spaces with queued changes; others are not stopped. */
void sites_commit_queued(struct state *st);
/* Try again, every SITES_AGAIN_NS, in spaces that cannot be protected now,
 * until they are protected or it is known to be impossible.  A try lasts as
 * long as it waits for a thread that cannot be stopped. */
#define SITES_AGAIN_NS 20000000
void sites_commit_later(struct state *st);

/*
 * Objects that were matched against all clauses are marked, so that they are
 * not matched again when another object is mapped.  An unmapped object loses
 * the mark.
 */
void loads_matched(struct state *st);
/* Mark all loads of one space: a fork's child has its parent's tracepoints. */
void loads_matched_in(struct addrspace *as);
bool load_is_matched(const struct load *l);
void load_forget_match(struct load *l);

/* Read the number of a process behind `prefix' in pd->prov.  1: *pid is it; 0:
 * there is none; or a negative errno, which was reported to d (NULL: it is not
 * reported). */
int site_number(const struct probe_desc *pd, const char *prefix,
    const struct span *at, struct diags *d, pid_t *pid);
/*
 * A description names a process by its number (pid123): attach to it if it is
 * not traced.  0 with *out; or a negative errno after a diagnostic in d.  On
 * later calls (d is NULL) it does not attach, and *out is NULL if the process
 * is not traced.
 */
int site_grab(struct state *st, pid_t pid, const struct span *at,
    struct diags *d, struct proc **out);

#endif
