/*
 * What jit.c finds out about a DIFO before machine code is written.
 */
#ifndef DLANG_JIT_JIT_IMPL_H
#define DLANG_JIT_JIT_IMPL_H

#include "dlang/jit/jit.h"

/* What is known when control comes to an instruction. */
struct jit_point {
	bool reached; /* false: it is never executed */
	uint8_t set;  /* registers that are set on every way there, as bits */
	int8_t depth; /* of the tuple stack; JIT_MIXED: it depends on the way */
	uint8_t cond; /* the opcode of the comparison that was the last
		       * instruction but for branches; 0: there is none, or it
		       * depends on the way */
	uint32_t pending; /* for the machine: branches to here */
};

#define JIT_MIXED (-1)

struct jit_plan {
	const struct img_difo *d;
	const dif_instr *text;
	const uint64_t *ints;
	struct jit_point *points; /* for each instruction */
	/* The instructions that first write and last read a register. */
	uint32_t first[DIF_REGS], last[DIF_REGS];
	uint8_t used;     /* registers that occur, as bits */
	uint8_t zeroed;   /* those that may be read before they are written */
	uint8_t tuple;    /* greatest depth of the tuple stack */
	bool calls;       /* a helper is called */
	bool conds_kept;  /* a branch does not follow its comparison */
	const char *why;  /* it cannot be compiled */
	uint32_t *starts; /* jit_difo()'s */
};

/* Find out; points is zeroed memory. */
void jit_plan(struct jit_plan *p, const struct region *image,
    const struct img_difo *d, struct jit_point *points);

/* The registers, as bits, whose values at the instruction n are used later and
 * not changed by it. */
uint8_t jit_live(const struct jit_plan *p, uint32_t n);

/* What a body does.  Places are offsets in its frame. */

#define BODY_VARS 6
#define BODY_AGGS 4

/* A variable of 8 bytes: of the clause, or of the thread. */
struct body_var {
	uint32_t id;
	uint8_t scope;                    /* DIF_LOCAL, DIF_THREAD */
	bool fetched;                     /* its value is needed */
	bool early;                       /* before the first predicate */
	int32_t at;                       /* its value */
	const struct body_clause *stored; /* by which; the thread's only */
};

struct body_clause {
	const struct img_difo *pred; /* or NULL */
	const struct img_act *acts;
	uint32_t nacts;
	bool time_early, time; /* the predicate, the actions need the time */
	uint32_t rec_size;     /* of its record; 0: there is none */
	int32_t fires_at; /* is the predicate true?  NOWHERE: it is not needed
				* when effects follow */
};

#define BODY_NOWHERE (-1)

struct body_agg {
	const struct body_clause *clause;
	const struct img_act *act;
	const struct img_agg *agg;
	uint32_t words, members; /* of the key */
	uint32_t begun;          /* words in which a member begins */
	bool pinned; /* its clause has no other; the key is not computed */
	bool far; /* the key is on the lane's stack, with the strings in it */
	int32_t key, value, entry;
	int32_t count; /* the words of a key that ends with a string, as long as
			* that is; BODY_NOWHERE: `words' */
};

struct body_parts {
	struct body_clause clauses[JIT_BODY_CLAUSES];
	unsigned nclauses;
	struct body_var vars[BODY_VARS];
	unsigned nvars;
	struct body_var *stores[BODY_VARS]; /* the thread's, as in the text */
	unsigned nstores;
	struct body_agg aggs[BODY_AGGS];
	unsigned naggs;
	bool time;           /* the time is needed */
	bool row, keeps_row; /* and the row, which is in the frame */
	bool self;           /* and variables of the thread */
	bool again;          /* one of these is read after it was set */
	bool records;        /* a clause has a record */
	int32_t time_at;
	int32_t row_at;
	int32_t rec_at;  /* the address of the record that is written */
	int32_t head_at; /* what the lane's head will be */
	int32_t kept_at; /* where the only variable of the thread that is stored
			  * has been found, if it was fetched */
	uint32_t words;  /* of the frame */
	uint32_t far;    /* bytes of keys on the lane's stack */
	uint32_t texts;  /* strings that are read */
	uint32_t scratch; /* what the VM would use of it, at most */
	uint8_t dif;      /* registers of DIF that are used, as bits */
};

/* Is the value, or the key, of the aggregation in a register, and not in the frame?
 * It is the only one, and the last action of the only clause. */
bool body_in_register(
    const struct body_parts *p, const struct body_agg *g, bool key);

/* Is this the value of an action that is a string?  `limit': so many bytes of it are
 * looked at. */
bool body_is_text(const struct jit_body *b, const struct img_act *a);
uint32_t body_text_limit(const struct jit_body *b, const struct img_act *a);

/* NULL: it is not used. */
struct body_var *body_var(
    struct body_parts *p, enum dif_scope scope, uint32_t id);

/* ---- the machine's ---- */

/* Is the index of the built-in array that instruction n loads from a constant? */
bool body_index(const struct jit_plan *p, uint32_t n, uint64_t *index);

/* Can a body read this built-in variable, or member of a built-in array?  If so,
 * note what it reads. */
bool body_reads(struct jit_body *b, uint32_t id);
bool body_reads_member(struct jit_body *b, uint32_t id, uint64_t index);
/* Can a body update the aggregation? */
bool body_updates(const struct img_agg *agg);
/* The registers that code for these parts changes. */
uint32_t body_changes(const struct body_parts *p);
/* As jit_body(). */
size_t body_write(
    struct jit_body *b, struct body_parts *parts, uint8_t *buf, size_t size);

/* Does the code of this opcode call a helper? */
bool jit_op_calls(uint32_t op);
/* Write the code of a plan.  As jit_difo(). */
size_t jit_write(struct jit_plan *p, const struct jit_place *place,
    uint8_t *buf, size_t size, const char **why);

#endif
