/*
 * A compiled program: clauses, their actions with the DIF of every expression,
 * and the layout of their records.  dlang/cc makes it, verify.c checks it,
 * image.c copies it into the image, and the consumer uses it to print records.
 *
 * A source clause with several descriptions gives one prog_clause for each.
 */
#ifndef DLANG_PROG_H
#define DLANG_PROG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlang/attr.h"
#include "dlang/base/arena.h"
#include "dlang/base/diag.h"
#include "dlang/base/vec.h"
#include "dlang/dif.h"
#include "dlang/fmt.h"
#include "dlang/world.h"

struct type;

struct difo_var {
	const char *name;
	uint32_t id;
	uint8_t kind;  /* enum dif_kind */
	uint8_t scope; /* enum dif_scope */
	bool read, written;
	struct dif_type type;
};

/* Where in the D program the expression of an instruction begins, in the
 * numbers that messages use.  Line 0: not known. */
struct difo_place {
	int line, col;
};

struct difo {
	dif_instr *text;
	struct difo_place *places; /* of each instruction; NULL: not known */
	uint32_t len;
	uint64_t *ints;
	uint32_t nints;
	char *strs; /* offset 0 is the empty string */
	uint32_t strs_len;
	struct difo_var *vars; /* variables that it uses, user and built-in: for
				* -S */
	uint32_t nvars;
	struct dif_type rtype;
	/* Set by the verifier: */
	bool verified;
	bool destructive;
	uint32_t needs;
};

/* The kind of a value in a record, or of a member of a key. */
enum rec_kind {
	REC_INT,    /* integer or pointer of `size' 1, 2, 4, 8 */
	REC_STRING, /* `size' bytes, NUL-terminated inside */
	REC_CHARS,  /* char array: prints as a string if printable to its NUL */
	REC_BYTES,  /* struct, union, tracemem(): hex dump (print(): by type) */
	REC_FLOAT,
	REC_STACK, /* struct rec_stack, `arg' frames */
	REC_USYM,
	REC_UMOD,
	REC_UADDR,
	REC_SYM,
	REC_MOD,  /* struct rec_sym */
	REC_EPID, /* default action: nothing but the header */
};

struct prog_rec {
	enum rec_kind kind;
	bool is_signed;
	bool is_pointer;
	uint32_t off;  /* in the record or in the key */
	uint32_t size; /* bytes */
	uint64_t arg;
	const struct type *type; /* for print() and checks; may be NULL */
};

/* One action of the VM at a hit; image.c makes an img_act of it. */
struct prog_act {
	enum img_op op;
	unsigned flags;    /* ACT_F_* */
	struct difo *difo; /* or NULL */
	struct difo *difo2;
	uint32_t off, size;
	uint32_t nkeys;
	int64_t arg;
	unsigned index; /* 1-based in the clause, for fault messages */
};

/* One statement as the user wrote it.  The consumer prints by it. */
struct prog_stmt {
	enum dif_act kind; /* ACT_TRACE, ACT_PRINTF ...; ACT_NONE: expression
				* or aggregation: nothing to print */
	struct prog_rec *recs; /* its values in the record, in order.  printf():
				* arguments, `*' widths included */
	size_t nrecs;
	struct fmt *fmt; /* printf, printa, system, freopen; or NULL */
	uint32_t *aggs;  /* printa, clear, trunc ...: agg ids */
	size_t naggs;
	const char *strs[2]; /* setopt(): option and value; NULL: recorded, or
			      * there is none */
	bool has_arg; /* trunc(@a, n), normalize(@a, n), tracemem's third:
				* then the last of recs */
	struct span span;
};

struct prog_clause {
	struct probe_desc desc;
	struct span span;  /* of the whole clause */
	struct difo *pred; /* or NULL */
	struct prog_act *acts;
	size_t nacts;
	struct prog_stmt *stmts;
	size_t nstmts;
	uint32_t rec_size; /* header included, multiple of REC_ALIGN.  At
				* least the header: a clause always records its
				* EPID, except when it only aggregates,
				* assigns or controls speculation: then 0 */
	bool records;      /* rec_size != 0: the consumer prints a line */
	bool destructive;
	bool speculates, commits; /* see IMG_CLAUSE_* */
	bool elsewhere;           /* of other hosts: compiled, not enabled */
	unsigned index;           /* in its program */
	unsigned global_index;    /* among all clauses of the session */
};

/* Names that several programs of one session share. */
struct prog_var {
	const char *name;
	uint32_t id;
	enum dif_scope scope;
	enum dif_kind kind;   /* DIF_ARRAY: associative */
	struct dif_type type; /* of the value */
	uint32_t key_size;    /* associative: most bytes of a key tuple */
	unsigned nkeys;
};

struct prog_agg {
	const char *name; /* without '@'; "_" for the bare one */
	uint32_t id;      /* from 1, in order of first use */
	enum dif_agg func;
	struct prog_rec *keys; /* user keys; offsets in the key tuple */
	size_t nkeys;
	uint32_t key_size; /* bytes */
	uint32_t words;    /* 8-byte words of the value */
	uint64_t param;
	bool is_signed;
	struct span span;
};

/* The parameters of a static probe in a provider declaration. */
struct prog_params {
	struct type **types;
	const char **names; /* NULL where there is none */
	size_t count;
};

struct prog_sdt_probe {
	const char *name;         /* as declared, `__' for `-' */
	struct prog_params args;  /* native: what the traced program passes */
	struct prog_params xargs; /* translated: args[]; the same if not
				   * declared */
	uint8_t *map;             /* for each of xargs its index in args */
};

struct prog_provider {
	const char *name;
	const struct source *source; /* that declares it */
	struct prog_sdt_probe *probes;
	size_t nprobes;
};

struct prog_globals {
	VEC(struct prog_var *) vars;
	VEC(struct prog_agg *) aggs;       /* index is id - 1 */
	VEC(struct prog_clause *) clauses; /* by global_index */
	VEC(struct prog_provider *) providers;
};

/* A message for the user about a program that was compiled. */
struct prog_note {
	struct prog_note *next;
	const char *text;
};

struct prog {
	struct arena arena;
	struct prog_note *notes;
	const struct source *source;
	struct prog_clause **clauses;
	size_t nclauses;
	bool destructive; /* some action in it needs -w */
	uint64_t matched; /* probes matched by its descriptions, summed */
	/* The least stability of its descriptions, and of all names in its
	 * clauses. */
	struct attr desc_attr, stmt_attr;
};

void prog_destroy(struct prog *p);

/* The text of a description, as a user could write it.  The function is in
 * quotes if it needs them, or if `quote' is set.  The caller frees the text. */
char *probe_desc_text(const struct probe_desc *pd, bool quote);

#endif
