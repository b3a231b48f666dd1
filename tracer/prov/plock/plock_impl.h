/*
 * What the files of the plockstat provider share: plock.c publishes, plock_arm.c
 * says where tracepoints go, plock_hit.c what a thread that comes there has done.
 */
#ifndef TRACER_PROV_PLOCK_PLOCK_IMPL_H
#define TRACER_PROV_PLOCK_PLOCK_IMPL_H

#include "dlang/base/hash.h"
#include "tracer/sites/places.h"
#include "tracer/prov/plock/plock_call.h"
#include "tracer/prov/plock/plock_code.h"

struct addrspace;
struct arrival;
struct load;
struct object;
struct probe;
struct space;
struct state;
struct sym;

/* The value of probe->data. */
struct plock_probe {
	struct places places; /* first; one for each space with the library */
	size_t row;
	enum plock_event event;
};

/* The purpose of a tracepoint. */
enum plock_mark_kind {
	PLOCK_AT_ENTRY = 1,
	PLOCK_AT_RETURN = 2,
	PLOCK_AT_WAIT = 4, /* a system call that may be a futex's */
	PLOCK_AT_PAUSE = 8
};

struct plock_mark {
	unsigned kinds;
	size_t row; /* PLOCK_AT_ENTRY, PLOCK_AT_PAUSE */
	enum plock_wait how;
};

/* A function of plock_rows[] in one space. */
struct plock_func {
	uint64_t start; /* 0: the library does not have it */
	plock_fns body;
	unsigned armed; /* enum plock_mark_kind */
	struct probe *probes[PLOCK_EVENTS];
};

/* The data of a space; shared with the spaces of fork children. */
struct plock_space {
	unsigned refs;
	const struct load *load;
	struct plock_code *code;
	const struct plock_lib *lib;
	bool musl;
	bool unwinds;             /* callers can be found by unwinding */
	bool unwatched;           /* no debug register is free, so returns have
			 * tracepoints */
	struct plock_func *funcs; /* plock_nrows */
	struct hash marks;        /* struct plock_mark by address */
	const struct arrival *arrival; /* what its tracepoints tell */
};

/* The data of a thread. */
struct plock_thread {
	struct plock_calls calls;
	bool starts; /* thread-start must be fired, with these: */
	const struct plock_row *row;
	uint64_t start, arg;
};

/* The object whose lock functions the program uses, or NULL. */
const struct load *plock_library(const struct addrspace *as);
/* The function of this name in its default version, or NULL. */
const struct sym *plock_function(struct object *o, const char *name);

/* Find the lock functions in memory; NULL if there is no library.  `text' must
 * return original bytes; it is borrowed. */
struct plock_space *plock_space_create(
    const struct addrspace *as, const struct reader *text);
void plock_space_put(struct plock_space *ps);

/* The data of a space.  NULL: no lock is traced there. */
struct plock_space *plock_of(const struct space *sp);
/* The same, made where nothing was traced yet. */
struct plock_space *plock_space(struct space *sp);

/* The probe fires in the space from now on: its tracepoints are queued. */
void plock_arm(struct state *st, struct space *sp, struct probe *p, size_t row,
    enum plock_event event);

/* Is pc in the function, or in a function that it tail-calls? */
bool plock_covers(const struct plock_func *f, uint64_t pc);

/*
 * Find the outermost function with one of these verbs (bits) among the
 * library's frames on a stack; inner ones are its implementation.  False: there
 * is none.
 */
struct plock_found {
	size_t row;
	size_t caller; /* index of the frame that called it */
};
bool plock_find(const struct plock_space *ps, uint32_t verbs,
    const uint64_t *pcs, size_t n, struct plock_found *out);

/* The verbs that may sleep for a lock. */
#define PLOCK_BLOCKING                                            \
	(PLOCK_BIT(PLOCK_LOCK) | PLOCK_BIT(PLOCK_RDLOCK) |        \
	    PLOCK_BIT(PLOCK_WRLOCK) | PLOCK_BIT(PLOCK_CONDWAIT) | \
	    PLOCK_BIT(PLOCK_SEMWAIT))

/* Subscribe to the begin and end of threads; later calls do nothing. */
void plock_subscribe(struct state *st);

/* No debug register is free in the space: put tracepoints on returns
 * instead. */
void plock_unwatched(struct state *st, struct space *sp);

/* The arrival hooks of the provider's tracepoints; plock_hit.c. */
extern const struct arrival plock_arrival;

#endif
