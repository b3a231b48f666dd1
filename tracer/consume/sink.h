/*
 * Formats of the output (option oformat).  A format is a file with a `struct
 * sink' and a row in sink.c.
 *
 *	begin    open stmt* close  ...    report    end
 *	  |        |   |     |              |        |
 *	  |        +---+-----+ a record     |        the last of the output
 *	  |          error, drop: at any    aggregations that no
 *	  the first  time                   printa() has printed
 *
 * The consumer carries out what statements do (clear(), setopt(), system());
 * a format only writes.  It writes by out_write(), so the writer's thread and
 * the bounds of out.c are the same for all.
 */
#ifndef TRACER_CONSUME_SINK_H
#define TRACER_CONSUME_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlang/base/str.h"
#include "dlang/options.h"

struct consume;
struct printer;
struct prog_clause;
struct prog_stmt;
struct rec_hdr;

/* ---- the run ---- */

/* What the user has asked, of whom.  The texts are borrowed. */
struct asked_program {
	const char *kind; /* "script" or "description" */
	const char *name; /* the script's path, or the description */
	const char *text; /* in D */
	int level;        /* enum cc_level */
	bool merged;      /* it has clauses that run where streams are merged */
	int64_t matched;  /* probes; -1: not known */
};

struct asked_process {
	int pid;
	const char *command; /* what it executes; "" if that is not known */
};

struct asked {
	const char *version; /* of dtrap */
	bool lists;          /* probes (-l); nothing is traced */
	const struct options *opts;
	const struct asked_program *programs;
	size_t nprograms;
	char *const *operands; /* $1 ... */
	size_t noperands;
	const struct asked_process *processes;
	size_t nprocesses;
};

/* ---- a list of probes (-l) ---- */

struct listed_attributes {
	const char *name, *data, *class;
};

/* What -v adds; NULL where there is nothing. */
struct listed_more {
	struct listed_attributes description, arguments;
	const char *const *types; /* of args[] */
	size_t ntypes;
	const char *note;
	const char *predicate, *actions; /* why the tracer evaluates them; "":
					  * the process can, too */
	const char *places; /* lines, of the ways by which it fires */
};

struct listed {
	uint32_t id;
	const char *prov, *mod, *func, *name;
	const struct listed_more *more; /* NULL without -v */
};

/* ---- records ---- */

struct probe_text { /* the probe of an ECB; "" for unknown names */
	uint32_t id;
	uint32_t probe_ref;
	const char *prov, *mod, *func, *name;
	const struct prog_clause *clause; /* NULL: it cannot be decoded */
};

/* ---- what goes wrong ---- */

struct sink_error {
	const struct probe_text *probe; /* NULL: not a single one */
	const char *what;               /* as the message says it */
	const char *fault;              /* which fault; NULL: none */
	bool has_value;
	bool is_address; /* the value */
	uint64_t value;
	int line, col;    /* 0: not known */
	const char *file; /* NULL: not in a file */
	uint64_t count;   /* 0: this is one; else so many were there in all */
};

struct sink_drop {
	const char *tag; /* as of option droptags */
	int kind;        /* DTrace's number, or one above them */
	uint64_t n;      /* since the last report */
	int cpu;         /* -1: not of one */
	uint32_t pid;    /* 0: not of one process */
	const char *what;
};

/* ---- a format ---- */

/* Each function may be NULL; then that part of the output is not written. */
struct sink {
	const char *name; /* the value of option oformat */
	/* True: the output is one document, so -o replaces the file.  False:
	 * -o appends to it. */
	bool document;
	/* True: a reader merges the output with that of other runs.  It prints
	 * aggregations, and carries out clear() and the like; a format gets
	 * these statements, too. */
	bool elsewhere;
	/* Append what comes first.  No consumer exists yet. */
	void (*begin)(struct str *to, const struct asked *asked);
	/* Append a probe of -l.  NULL: as text. */
	void (*probe)(struct printer *to, const struct listed *probe);
	/* Create and destroy c->format, the format's own state. */
	void (*create)(struct consume *c);
	void (*destroy)(struct consume *c);
	/* The record in c->rec begins.  `next' is the header of the one that
	 * follows in its lane, or NULL. */
	void (*open)(struct consume *c, const struct probe_text *probe,
	    const struct rec_hdr *next);
	/* A statement of its clause that prints. */
	void (*stmt)(struct consume *c, const struct prog_stmt *st);
	/* Write what the record has so far: the output goes elsewhere now, or
	 * a command writes to it. */
	void (*cut)(struct consume *c);
	/* The record ends. */
	void (*close)(struct consume *c);
	/* All records that there were have been read. */
	void (*pass)(struct consume *c);
	/* Write what was aggregated since the last call, or all of it. */
	void (*snapshot)(struct consume *c);
	void (*whole)(struct consume *c);
	/* Called before the message about it is printed. */
	void (*error)(struct consume *c, const struct sink_error *e);
	void (*drop)(struct consume *c, const struct sink_drop *d);
	/* The trace is over: aggregations. */
	void (*report)(struct consume *c);
	/* The last call; `status' is the exit status of dtrap. */
	void (*end)(struct consume *c, int status);
};

/* The format that option oformat names. */
const struct sink *sink_of(const struct options *opts);

extern const struct sink sink_text, sink_json, sink_folded, sink_pprof,
    sink_chrome, sink_prometheus, sink_top, sink_snapshot;

#endif
