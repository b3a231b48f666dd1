/*
 * Shared by the files of the pid provider: pid.c reads descriptions,
 * pid_publish.c finds the functions that match, pid_unnamed.c those without a
 * name, pid_source.c source lines and inlined functions, pid_function.c finds
 * the sites of one function, pid_enable.c adds tracepoints, pid_args.c finds
 * the arguments, pid_typed.c their types.
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

/* One site of a place: its offset from the entry of the function.  It is
 * negative in a piece that lies before the entry. */
struct pid_site {
	int64_t offset;
	enum site_when when;
	bool doors; /* struct site */
};

/* One function of the probe, in one address space. */
struct pid_place {
	struct place place; /* first; its address is the function's entry */
	uint64_t size;
	bool cut;                  /* not all of its code could be decoded */
	const struct sym *pending; /* an IFUNC that is not resolved yet; address
				    * and size are those of its resolver */
	uint32_t nranges;
	struct site_range *ranges; /* of the function, if it has SITE_OUTSIDE
				    * exits */
	uint32_t nsites;
	struct pid_site sites[]; /* SITE_LOOP and SITE_DOOR only influence the
				  * others */
};

enum pid_kind { PID_ENTRY, PID_RETURN, PID_OFFSET, PID_LINE, PID_INLINE };

/* Facts for the message if a line or inlined function does not exist. */
struct pid_source {
	enum pid_kind kind; /* PID_LINE, PID_INLINE; PID_ENTRY: neither */
	bool debug;         /* some object has debug information */
	bool file;          /* ... and was made of the file */
	uint64_t found;
	int below, above; /* nearest lines with code; 0: none */
};

/* The value of probe->data. */
struct pid_probe {
	struct places places; /* first */
	enum pid_kind kind;
	bool aside; /* of a function without a name, in an object with names:
		     * only a field sub_... matches it */
	/* Other texts by which descriptions have matched its function. */
	VEC(char *) aliases;
};

/* One description while its probes are created. */
struct pid_request {
	struct state *st;
	const struct provider *provider; /* of the new probes: pid */
	const struct probe_desc *pd;
	const struct span *at;
	struct diags *d;
	struct proc *proc;
	const struct load *load;
	const struct sym *sym;
	const char *const *also; /* other names of the function; or NULL */
	uint64_t start, size;    /* of the function, in memory */
	uint64_t offset;         /* if the name is an offset, else UINT64_MAX */
	bool entry, ret, offsets; /* what the name field means */
	bool found_offset;
	bool globs;       /* the function field is a glob, or empty */
	struct hash seen; /* functions already handled, by address */
	bool aside;       /* see struct pid_probe */
	bool pending;     /* sym is an IFUNC, start its resolver */
	bool cut;         /* not all of its code could be decoded */
	VEC(struct pid_site) entries; /* the entry, and jumps to it */
	VEC(struct pid_site) exits;
	VEC(struct pid_site) insns;
	VEC(struct site_range) ranges; /* for exits with SITE_OUTSIDE */
	struct pid_source source;
	uint64_t functions;         /* number of matching functions */
	uint64_t loads;             /* number of matching loads */
	const struct load *symless; /* a matching load without a symbol table,
				     * which may be why no function matched */
};

/* ---- pid_publish.c ---- */

/* Create probes for every matching function of r->load. */
void pid_publish_load(struct pid_request *r);

bool pid_function_matches(const struct probe *p, const char *func);

/* ---- pid_function.c ---- */

/* Create probes for the function r->sym at r->start. */
void pid_publish_function(struct pid_request *r);
/* Create the probe of an offset in it. */
void pid_publish_offset(struct pid_request *r, const char *name);

/* Add the place at r->start, with these sites, to the probe of that name. */
void pid_add_place(struct pid_request *r, enum pid_kind kind, const char *name,
    const struct pid_site *sites, size_t nsites);

/* Decode the function in memory, without dtrap's int3s.  Sets entries, exits
 * and ranges, insns and found_offset, as far as the request needs them.  0 or a
 * negative errno. */
int pid_walk(struct pid_request *r);

/* Find the size of the function at r->start, which may have no symbol, and may
 * be in another object than the IFUNC. */
int pid_measure(struct pid_request *r);

/* The function that contains a file address of r->load; its size in r->size.  0
 * or -ENOENT. */
int pid_around(struct pid_request *r, uint64_t addr, uint64_t *start);

/* Parse the name field: entry, return, an offset in hex, a glob. */
int pid_parse_name(struct pid_request *r);
/* Is the whole text a hexadecimal number? */
bool pid_parse_hex(const char *text, uint64_t *value);

void pid_request_fini(struct pid_request *r);

/* ---- pid_unnamed.c ---- */

/* Create probes for matching functions of r->load without a name. */
void pid_publish_unnamed(struct pid_request *r);
/* After the last object: it is an error if nothing matched because a module has
 * no symbol table.  0, or -EINVAL after a diagnostic. */
int pid_unnamed_check(struct pid_request *r);
/* Does `func', which matches the probe's function by name, really mean it?
 * (pid_probe.aside) */
bool pid_unnamed_means(const struct pid_probe *pp, const char *func);

/* ---- pid_source.c ---- */

/* Set r->source.kind: does the description mean source lines or inlined
 * functions? */
void pid_source_parse(struct pid_request *r);
/* Create the probes for those in r->load. */
void pid_source_publish(struct pid_request *r);
/* After the last object: it is an error if none was found.  0, or -EINVAL after
 * a diagnostic. */
int pid_source_check(struct pid_request *r);
/* Does `func' match the probe, although its function field is another text? */
bool pid_line_matches(const struct probe *p, const char *func);
struct dwarf_sense pid_sense(const struct probe *p);
bool pid_source_means(const struct probe *p, const struct probe_desc *pd);

/* ---- pid_enable.c ---- */

void pid_enable(struct state *st, struct probe *p);
const char *pid_note(const struct probe *p);
void pid_sites(const struct probe *p, probe_site_fn each, void *ctx);

/* ---- pid_args.c ---- */

/* Compute the locations of arg0, arg1 and so on at the instruction at `offset'
 * of a place.  args[] has room for PID_ARGS.  Returns their number. */
#define PID_ARGS 10
uint32_t pid_args(struct state *st, const struct probe *p,
    const struct pid_place *pl, int64_t offset, struct argloc *args);

/* ---- pid_typed.c ---- */

/* The hook of struct provider. */
int pid_typed(struct state *st, const struct probe *p, struct typed_args *out);
/* Does a place, which may be new, have the arguments for which the probe's
 * clauses were compiled (p->typed)? */
bool pid_place_agrees(
    struct state *st, const struct probe *p, const struct pid_place *pl);

#endif
