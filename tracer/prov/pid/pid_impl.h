/*
 * What the files of the pid provider share: pid.c reads descriptions,
 * pid_publish.c finds the functions that they mean, pid_unnamed.c those without
 * a name, pid_source.c the lines of the source and the copies of inlined
 * functions, pid_function.c the sites of one function, pid_enable.c says where
 * their probes get tracepoints, pid_args.c where their arguments are.
 */
#ifndef TRACER_PROV_PID_PID_IMPL_H
#define TRACER_PROV_PID_PID_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/base/hash.h"
#include "dlang/base/vec.h"
#include "tracer/sites/places.h"
#include "tracer/sites/site.h"

struct argloc;
struct diags;
struct dwarf_sense;
struct load;
struct probe;
struct probe_desc;
struct proc;
struct provider;
struct span;
struct state;
struct sym;
struct typed_args;

/* One site of a place: its distance from the begin of the function, which is
 * negative where a piece of it lies before. */
struct pid_site {
	int64_t offset;
	enum site_when when;
	bool doors; /* struct site */
};

/* One function that the probe stands for. */
struct pid_place {
	struct place place; /* first; at the start of the function */
	uint64_t size;
	bool cut;                  /* not all of its code could be decoded */
	const struct sym *pending; /* IFUNC not resolved yet: start and size are
				    * its resolver's */
	uint32_t nranges;
	struct site_range *ranges; /* of a function that is left by jumps whose
				    * destination is not known before */
	uint32_t nsites;
	struct pid_site sites[]; /* those with SITE_LOOP and SITE_DOOR are
				   * not the probe's */
};

enum pid_kind { PID_ENTRY, PID_RETURN, PID_OFFSET, PID_LINE, PID_INLINE };

/* What there is to say of lines and inlined functions that are not there. */
struct pid_source {
	enum pid_kind kind; /* PID_LINE, PID_INLINE; PID_ENTRY: neither */
	bool debug;         /* some object has debug information */
	bool file;          /* ... and was made of the file */
	uint64_t found;
	int below, above; /* the lines with code next to the one wanted; 0 */
};

/* What hangs on probe->data. */
struct pid_probe {
	struct places places; /* first */
	enum pid_kind kind;
	bool aside; /* of a function without a name, where others have one: it
		     * is meant by sub_... alone */
	/* What its function was called by descriptions, besides its names. */
	VEC(char *) aliases;
};

/* One request while it is being answered. */
struct pid_request {
	struct state *st;
	const struct provider *provider; /* of the probes: pid */
	const struct probe_desc *pd;
	const struct span *at;
	struct diags *d;
	struct proc *proc;
	const struct load *load;
	const struct sym *sym;
	const char *const *also;  /* its other names, if the source tells; or
				   * NULL */
	uint64_t start, size;     /* of the function, in memory */
	uint64_t offset;          /* the one that is named, or UINT64_MAX */
	bool entry, ret, offsets; /* what the name field means */
	bool found_offset;
	bool globs;       /* the function field is one, or empty */
	struct hash seen; /* functions published for it, by address */
	bool aside;       /* see struct pid_probe */
	bool pending;     /* sym is an IFUNC, start its resolver */
	bool cut;         /* not all of its code can be decoded */
	VEC(struct pid_site) entries; /* the begin, and loops to it */
	VEC(struct pid_site) exits;
	VEC(struct pid_site) insns;
	VEC(struct site_range) ranges; /* of an exit with SITE_OUTSIDE */
	struct pid_source source;
	uint64_t functions;         /* that matched */
	uint64_t loads;             /* that matched */
	const struct load *symless; /* one of them that has no symbol table,
				     * which may be why nothing matched */
};

/* ---- pid_publish.c ---- */

/* Every function of r->load that the request means. */
void pid_publish_load(struct pid_request *r);

bool pid_function_matches(const struct probe *p, const char *func);

/* ---- pid_function.c ---- */

/* The one at r->start, named r->sym. */
void pid_publish_function(struct pid_request *r);
/* An offset in it. */
void pid_publish_offset(struct pid_request *r, const char *name);

/* The place at r->start with its sites, in the probe of that name. */
void pid_add_place(struct pid_request *r, enum pid_kind kind, const char *name,
    const struct pid_site *sites, size_t nsites);

/* Decode the function as it stands in memory, without our own int3: entries,
 * exits and ranges, insns and found_offset, as far as they are asked for.
 * Returns 0 or a negative errno. */
int pid_walk(struct pid_request *r);

/* The size of the function at r->start, which no symbol need name.  Its object
 * may be another than the IFUNC's. */
int pid_measure(struct pid_request *r);

/* The function round an address of the file of r->load; its size in
 * r->size.  0 or -ENOENT. */
int pid_around(struct pid_request *r, uint64_t addr, uint64_t *start);

/* The name field: entry, return, an offset in hex, a glob. */
int pid_parse_name(struct pid_request *r);
/* A number in hexadecimal and nothing else. */
bool pid_parse_hex(const char *text, uint64_t *value);

void pid_request_fini(struct pid_request *r);

/* ---- pid_unnamed.c ---- */

/* The functions of r->load without a name that the request means. */
void pid_publish_unnamed(struct pid_request *r);
/* After the last object: where nothing matched since a module has no symbol
 * table, that is an error.  0, or reported. */
int pid_unnamed_check(struct pid_request *r);
/* Does `func', which matches the probe's function, mean it, too? */
bool pid_unnamed_means(const struct pid_probe *pp, const char *func);

/* ---- pid_source.c ---- */

/* Does the description ask for lines or inlined functions?  In
 * r->source.kind. */
void pid_source_parse(struct pid_request *r);
/* Those of r->load. */
void pid_source_publish(struct pid_request *r);
/* After the last object: nothing found is an error.  0, or reported. */
int pid_source_check(struct pid_request *r);
/* Does `func' mean the probe, whose function field is another text? */
bool pid_line_matches(const struct probe *p, const char *func);
struct dwarf_sense pid_sense(const struct probe *p);
bool pid_source_means(const struct probe *p, const struct probe_desc *pd);

/* ---- pid_enable.c ---- */

void pid_enable(struct state *st, struct probe *p);
const char *pid_note(const struct probe *p);
void pid_sites(const struct probe *p, probe_site_fn each, void *ctx);

/* ---- pid_args.c ---- */

/* Where arg0 and on are at the instruction at `offset' of a place, in args[],
 * which has room for PID_ARGS; how many there are. */
#define PID_ARGS 10
uint32_t pid_args(struct state *st, const struct probe *p,
    const struct pid_place *pl, int64_t offset, struct argloc *args);

/* ---- pid_typed.c ---- */

/* The provider's hook. */
int pid_typed(struct state *st, const struct probe *p, struct typed_args *out);
/* Has a place, which may have been found late, the arguments that the probe's
 * clauses were compiled for?  (p->typed) */
bool pid_place_agrees(
    struct state *st, const struct probe *p, const struct pid_place *pl);

#endif
