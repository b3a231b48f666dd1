/*
 * DIF, the bytecode, and the structures around it: DIFO, ECB, record header,
 * image.
 *
 * The compiler writes DIF, the verifier checks it, image.c copies it into the
 * image region, the VM runs it (in the tracer and, in a second build, inside
 * the target), and the consumer decodes the records.  This header therefore
 * includes only fixed-width integers and works freestanding.
 *
 * Instruction word, 32 bits, big fields first:
 *
 *	31    24 23    16 15     8 7      0
 *	+--------+--------+--------+--------+
 *	| opcode |   r1   |   r2   |   rd   |	RRR and most others
 *	| opcode |      label (24 bits)     |	BRANCH
 *	| opcode |  index (16 bits)|   rd   |	SETX SETS LDVAR STVAR CALL
 *	| opcode |  array |   r2   |   rd   |	LDARRAY
 *	| opcode |  type  |  size  |   rs   |	PUSHREF (size register) PUSHVAL
 *	+--------+--------+--------+--------+
 */
#ifndef DLANG_DIF_H
#define DLANG_DIF_H

#include <assert.h>
#include <stdint.h>

#include "dlang/argloc.h"

typedef uint32_t dif_instr;

#define DIF_REGS     8     /* %r0 .. %r7; %r0 is always 0 */
#define DIF_TUPLE    8     /* key members, besides what the VM itself adds */
#define DIF_MAX_TEXT 65536 /* instructions of one DIFO (256 KiB) */

enum dif_op {
#define DIF_OP(n, NAME, text, form) DIF_OP_##NAME = n,
#include "dlang/dif_ops.def"
#undef DIF_OP
	DIF_OP_COUNT
};

enum dif_form {
	DIF_FORM_RRR,     /* r1, r2 -> rd */
	DIF_FORM_RR,      /* r1 -> rd; r2 is 0 */
	DIF_FORM_CMP,     /* r1, r2; rd is 0 */
	DIF_FORM_TST,     /* r1; r2 and rd are 0 */
	DIF_FORM_BRANCH,  /* label: index of an instruction further on */
	DIF_FORM_LOAD,    /* [r1] -> rd; r2 is 0 */
	DIF_FORM_STORE,   /* r1 -> [rd]; r2 is 0 */
	DIF_FORM_RET,     /* rd; r1 and r2 are 0 */
	DIF_FORM_NONE,    /* all 0 */
	DIF_FORM_SETX,    /* integer table index -> rd */
	DIF_FORM_SETS,    /* string table offset -> rd */
	DIF_FORM_LDARRAY, /* array id, r2 index -> rd */
	DIF_FORM_LDVAR,   /* variable id -> rd */
	DIF_FORM_STVAR,   /* rd (a source) -> variable id */
	DIF_FORM_CALL,    /* subroutine id -> rd */
	DIF_FORM_PUSHREF, /* type, r2 size register, rd source */
	DIF_FORM_PUSHVAL, /* type, rd source; r2 is 0 */
	DIF_FORM_COPY,    /* r1 source, r2 size, rd destination (read) */
	DIF_FORM_XLATE,   /* index -> rd; never reaches the VM */
};

#define DIF_OP_OF(i) ((i) >> 24)
#define DIF_R1(i)    ((i) >> 16 & 0xff)
#define DIF_R2(i)    ((i) >> 8 & 0xff)
#define DIF_RD(i)    ((i)&0xff)
#define DIF_LABEL(i) ((i)&0xffffff)
#define DIF_INDEX(i) ((i) >> 8 & 0xffff)

#define DIF_INSTR(op, r1, r2, rd)                        \
	((dif_instr)(op) << 24 | (dif_instr)(r1) << 16 | \
	    (dif_instr)(r2) << 8 | (dif_instr)(rd))
#define DIF_INSTR_BRANCH(op, label) ((dif_instr)(op) << 24 | (label))
#define DIF_INSTR_INDEX(op, index, rd) \
	((dif_instr)(op) << 24 | (dif_instr)(index) << 8 | (dif_instr)(rd))

/* ---- variables ---- */

enum dif_var_id {
#define DIF_VAR(id, NAME, name, type, needs, how) DIF_VAR_##NAME = id,
#include "dlang/dif_vars.def"
#undef DIF_VAR
};

#define DIF_VAR_USER \
	0x500 /* first id of the program's own scalars,
				   * associative arrays and thread-locals */
#define DIF_VAR_MAX 0xffff

enum dif_scope { DIF_GLOBAL, DIF_THREAD, DIF_LOCAL };
enum dif_kind { DIF_ARRAY, DIF_SCALAR };

enum dif_type_kind { DIF_TYPE_CTF, DIF_TYPE_STRING }; /* "D type", "string" */

/* The word in parentheses in the output of -S; the numbers are those of CTF. */
enum ctf_kind {
	CTF_UNKNOWN,
	CTF_INTEGER,
	CTF_FLOAT,
	CTF_POINTER,
	CTF_ARRAY,
	CTF_FUNCTION,
	CTF_STRUCT,
	CTF_UNION,
	CTF_ENUM,
	CTF_FORWARD,
	CTF_TYPEDEF,
	CTF_VOLATILE,
	CTF_CONST,
	CTF_RESTRICT
};

#define DIF_BY_REF     1 /* the value is an address (string, struct, array) */
#define DIF_BY_USERREF 2 /* ... in the target */

struct dif_type {
	uint8_t kind;      /* enum dif_type_kind */
	uint8_t ckind;     /* enum ctf_kind */
	uint8_t flags;     /* DIF_BY_REF, DIF_BY_USERREF */
	uint8_t is_signed; /* integers: how the value is extended */
	uint32_t size;     /* bytes; strings: with the NUL */
};

/* The largest global or clause-local by reference, in bytes (DTrace's limit).
 * A string may have as many bytes as -x strsize allows, and a NUL. */
#define DIF_STATIC_MAX  16384
#define DIF_STRSIZE_MAX (1 << 20)

static inline uint32_t
dif_static_max(const struct dif_type *t)
{
	return t->kind == DIF_TYPE_STRING ? DIF_STRSIZE_MAX + 1 :
					    DIF_STATIC_MAX;
}

/* ---- needs: what a DIFO requires of the place where it is evaluated ---- */

enum dif_need_who { N_HERE, N_TRACER };

enum dif_need {
#define DIF_NEED(bit, NAME, words, who) NEED_##NAME = 1 << (bit),
#include "dlang/dif_needs.def"
#undef DIF_NEED
};

/* The needs that only the tracer can satisfy. */
static inline uint32_t
dif_needs_tracer(void)
{
	return 0
#define DIF_NEED(bit, NAME, words, who) | ((who) == N_TRACER ? 1U << (bit) : 0)
#include "dlang/dif_needs.def"
#undef DIF_NEED
	    ;
}

enum dif_var_how { V_VM, V_INT, V_STR, V_NONE };
enum dif_subr_how { S_OK, S_DESTRUCTIVE, S_KERNEL };

/* ---- subroutines, actions, aggregating functions ---- */

enum dif_subr {
#define DIF_SUBR(n, NAME, name, proto, needs, how) DIF_SUBR_##NAME = n,
#include "dlang/dif_subrs.def"
#undef DIF_SUBR
	DIF_SUBR_COUNT
};

/* The first argument of __state() and __state_str(). */
enum dif_state {
#define DIF_STATE(n, NAME, of, how) DIF_STATE_##NAME = n,
#include "dlang/dif_state.def"
#undef DIF_STATE
};

enum dif_act {
	ACT_NONE,
#define DIF_ACT(n, NAME, name, proto, flags) ACT_##NAME = n,
#include "dlang/dif_acts.def"
#undef DIF_ACT
};

#define A_REC         1
#define A_LIB         2
#define A_DESTRUCTIVE 4
#define A_SPEC        8
#define A_KERNEL      16

enum dif_agg {
#define DIF_AGG(n, NAME, name, proto, words) AGG_##NAME = n,
#include "dlang/dif_aggs.def"
#undef DIF_AGG
};

/* quantize: bucket 63 counts 0, 63 + k counts 2^(k-1) .. 2^k - 1, 63 - k the
 * same below 0. */
#define QUANTIZE_BUCKETS 127
#define QUANTIZE_ZERO    63

/* lquantize: step << 48 | levels << 32 | (uint32_t)base */
#define LQUANTIZE_ENCODE(base, levels, step) \
	((uint64_t)(step) << 48 | (uint64_t)(levels) << 32 | (uint32_t)(base))
#define LQUANTIZE_STEP(x)   ((uint32_t)((x) >> 48))
#define LQUANTIZE_LEVELS(x) ((uint32_t)((x) >> 32 & 0xffff))
#define LQUANTIZE_BASE(x)   ((int32_t)(uint32_t)(x))
/* llquantize: factor << 48 | low << 32 | high << 16 | nsteps */
#define LLQUANTIZE_ENCODE(factor, low, high, nsteps)        \
	((uint64_t)(factor) << 48 | (uint64_t)(low) << 32 | \
	    (uint64_t)(high) << 16 | (uint64_t)(nsteps))
#define LLQUANTIZE_FACTOR(x) ((uint32_t)((x) >> 48 & 0xffff))
#define LLQUANTIZE_LOW(x)    ((uint32_t)((x) >> 32 & 0xffff))
#define LLQUANTIZE_HIGH(x)   ((uint32_t)((x) >> 16 & 0xffff))
#define LLQUANTIZE_NSTEPS(x) ((uint32_t)((x)&0xffff))

/* Bins of one order of magnitude on one side of 0. */
static inline uint32_t
llquantize_bins(uint64_t param)
{
	uint32_t factor = LLQUANTIZE_FACTOR(param);
	uint32_t steps = LLQUANTIZE_NSTEPS(param);

	return factor == 0 ? 0 : steps - steps / factor;
}

/* ---- faults (d-builtins, fault codes) ---- */

enum dif_fault {
	FLT_NONE = -1,
	FLT_UNKNOWN = 0,
	FLT_BADADDR = 1,
	FLT_BADALIGN = 2,
	FLT_ILLOP = 3,
	FLT_DIVZERO = 4,
	FLT_NOSCRATCH = 5,
	FLT_KPRIV = 6,
	FLT_UPRIV = 7,
	FLT_TUPOFLOW = 8,
	FLT_BADSTACK = 9,
	FLT_BADSIZE = 10,
	FLT_BADINDEX = 11,
	FLT_LIBRARY = 1000,
};

/* ---- addresses inside the VM ---- */

/*
 * A VM register holds an address of the target, or a VM address: a place in one
 * of the regions.  VM addresses are non-canonical on x86-64 (48 and 57 bit), so
 * the two cannot be confused, and the same load instruction works on both.
 *
 *	63          48 47      34  33  32  31                     0
 *	+-------------+----------+--------+------------------------+
 *	|   0xd7a9    |    0     | region | offset in that region  |
 *	+-------------+----------+--------+------------------------+
 *
 * VMA_THREADS is the thread store: clause-locals and self-> in the thread's
 * lane, which both homes of the VM use.
 */
#define VMA_TAG          (0xd7a9ULL << 48)
#define VMA_IMAGE        0ULL
#define VMA_STORE        1ULL
#define VMA_THREADS      2ULL
#define VMA(region, ref) (VMA_TAG | (region) << 32 | (uint32_t)(ref))
#define VMA_IS(a)        ((a) >> 34 == VMA_TAG >> 34)
#define VMA_REGION(a)    ((a) >> 32 & 3)
#define VMA_REF(a)       ((uint32_t)(a))

/* ---- the image: written by the tracer, read-only for the target ---- */

/*
 * References are offsets from the start of the region; 0 is null.  Published
 * data does not change, except for the links (next_ref, the first ECB of a
 * probe, the tracepoint table), each of which is one aligned word.
 */
#define IMAGE_MAGIC   0x4d494444 /* "DDIM" */
#define IMAGE_VERSION 1

struct img_hdr {
	uint32_t magic, version;
	uint32_t size;         /* of the region */
	uint32_t used;         /* bytes handed out */
	uint32_t strsize;      /* bytes of a string: the option, and a NUL */
	uint32_t statics_size; /* bytes of global variables in the store */
	uint32_t locals_size;  /* bytes of clause-locals in a lane */
	uint32_t dyn_data;     /* largest dynamic variable: key + value bytes */
	uint32_t dyn_cost;     /* ... and how much of dynvarsize it uses */
	uint32_t agg_data;     /* largest aggregation entry: key + value */
	uint32_t vars_ref;     /* struct img_var [nvars], sorted by id */
	uint32_t nvars;
	uint32_t aggs_ref; /* struct img_agg [naggs], index = id - 1 */
	uint32_t naggs;
	uint32_t tps_ref; /* uint32_t [tps_max]: first img_site by
				* tracepoint id, 0 for none */
	uint32_t tps_max;
	uint32_t ecbs_ref; /* uint32_t [ecbs_max]: img_ecb by EPID */
	uint32_t ecbs_max;
	uint32_t necbs;           /* highest EPID in use */
	uint32_t error_probe_ref; /* the ERROR probe, or 0 */
	uint32_t nspec;           /* option: speculations */
	uint32_t specsize;        /* option */
	uint32_t flags;           /* IMG_* */
	uint32_t rec_max;         /* largest record of a clause, bytes */
	uint32_t difos_ref;       /* the first of all struct img_difo, or 0 */
	uint32_t programs_end;    /* probes, sites and ECBs are behind that */
	uint32_t changes;         /* of probes, sites and ECBs, so far */
};

#define IMG_DESTRUCTIVE 1
#define IMG_AGGPERCPU   2 /* an entry for each processor */
#define IMG_PINS        4 /* an action has ACT_F_PIN */

struct img_probe {
	uint32_t id;
	uint32_t prov_ref, mod_ref, func_ref, name_ref; /* NUL-terminated */
	uint32_t ecb_ref; /* first ECB, in program order */
	uint32_t flags;   /* IMG_PROBE_* */
	uint32_t spare;
};

#define IMG_PROBE_BEGIN 1
#define IMG_PROBE_END   2
#define IMG_PROBE_ERROR 4
#define IMG_PROBE_OFF   8 /* its object was unmapped */

/* A place where a probe fires, and the locations of its arguments there. */
struct img_site {
	uint32_t next_ref; /* next site of the same tracepoint */
	uint32_t probe_ref;
	uint32_t args_ref; /* struct argloc [nargs] */
	uint32_t nargs;
};

struct img_ecb {
	uint32_t epid;
	uint32_t next_ref; /* next ECB of the same probe */
	uint32_t probe_ref;
	uint32_t clause_ref;
	uint32_t flags; /* IMG_ECB_* */
	uint32_t spare;
};

#define IMG_ECB_OFF 1
#define IMG_ECB_OWN \
	2 /* does not fire in children of the process that the probe names */

struct img_clause {
	uint32_t pred_ref; /* img_difo or 0 */
	uint32_t acts_ref; /* struct img_act [nacts] */
	uint32_t nacts;
	uint32_t rec_size; /* of the whole record, header included; 0 when the
			      * clause records nothing */
	uint32_t needs;    /* NEED_*, of predicate and actions */
	uint32_t index;    /* struct prog_clause: `global_index' */
	uint32_t flags;    /* IMG_CLAUSE_* */
	uint32_t spare;
};

#define IMG_CLAUSE_SPECULATES 1 /* speculate() is its first action */
#define IMG_CLAUSE_COMMITS    2
#define IMG_CLAUSE_OUTSIDE    4 /* only the tracer can carry out its actions */

/* What the VM does at a hit. */
enum img_op {
	OP_EXPR,      /* evaluate; result discarded unless size != 0: then
		       * stored at off: by value in size bytes, or by
		       * reference: size bytes copied (strings to their NUL,
		       * the rest of the space zeroed) */
	OP_STACK,     /* struct rec_stack at off; arg = frames */
	OP_JSTACK,    /* the same, with the language's frames */
	OP_SYM,       /* evaluate; struct rec_sym at off */
	OP_AGG,       /* aggregate: arg = agg id; difo = value (0 for count()),
		       * difo2 = increment or 0; the `nkeys' acts before it
		       * built the key */
	OP_EXIT,      /* evaluate; 4 bytes at off; tracing drains */
	OP_MARK,      /* does nothing at the hit; the consumer acts: printa(),
		  * clear() ... */
	OP_SPECULATE, /* evaluate: speculation id; the record goes there */
	OP_COMMIT,
	OP_DISCARD,
	OP_STOP,
	OP_RAISE, /* evaluate: signal number */
	OP_CHILL, /* evaluate: nanoseconds */
};

#define ACT_F_KEY    1  /* off is an offset in the key, not in the record */
#define ACT_F_STRING 2  /* by reference, ends at its NUL */
#define ACT_F_BYREF  4  /* by reference, size bytes */
#define ACT_F_OBJECT 8  /* the address, 8 bytes, and then the object at it */
#define ACT_F_POINTS 16 /* may point into scratch: then its offset there */
#define ACT_F_PIN \
	32 /* OP_AGG: the key of an ECB is always the same in a
			 * thread, and no other action of the clause is one */

struct img_act {
	uint8_t op; /* enum img_op */
	uint8_t flags;
	uint16_t index; /* 1-based number of the action, for fault messages */
	uint32_t difo_ref, difo2_ref;
	uint32_t off, size;
	uint32_t nkeys; /* OP_AGG */
	int64_t arg;
};

struct img_difo {
	uint32_t text_ref, len;   /* instructions */
	uint32_t ints_ref, nints; /* uint64_t */
	uint32_t strs_ref, strs_len;
	uint32_t needs;
	uint32_t code;     /* its machine code: vm_eval(); 0: it has none */
	uint32_t next_ref; /* the next of all DIFOs, or 0 */
	struct dif_type rtype;
};

struct img_var {
	uint32_t id;
	uint8_t scope, kind, flags, spare; /* flags: DIF_BY_REF,
					    * IMG_VAR_STRING */
	uint32_t size; /* by-ref: bytes of the value; else 8 */
	uint32_t off;  /* global: in the statics; local: in the lane's locals.
			* 8-byte aligned.  By-ref: 8 bytes of which the first
			* is 0xff for NULL, then the value */
};

#define IMG_VAR_STRING 4 /* by reference, ends at its NUL */

struct img_agg {
	uint32_t id;
	uint32_t func;     /* enum dif_agg */
	uint32_t key_size; /* bytes of the key tuple */
	uint32_t words;    /* 8-byte words of the value */
	uint64_t param;    /* lquantize and llquantize: encoded parameters */
};

/* ---- records ---- */

/* Every record begins with this; the EPID determines the layout of the rest. */
struct rec_hdr {
	uint32_t epid;
	uint32_t cpu;
	uint32_t pid, tid; /* 0 for probes that fire in no process */
	uint64_t timestamp;
};

/* In place of an EPID: */
#define EPID_PAD   0          /* skip to the next: first word of rec_pad */
#define EPID_FAULT 0xffffffff /* struct rec_fault */

struct rec_pad {
	uint32_t epid; /* EPID_PAD */
	uint32_t size; /* bytes to skip, this header included */
};

struct rec_fault {
	struct rec_hdr hdr;
	uint32_t epid;   /* the ECB that faulted */
	uint32_t action; /* 1-based; 0 is the predicate */
	int32_t offset;  /* byte offset in the DIFO's text, -1 unknown */
	uint32_t code;   /* enum dif_fault */
	uint64_t value;  /* address, where the code has one */
};

/* A user stack: pcs, the innermost first, 0 after the last.  A word with the
 * highest bit set, which no pc has, is the number of a frame that a language
 * has named. */
struct rec_stack {
	uint32_t pid;
	uint32_t space; /* addrspace_stamp() of the memory it was taken in */
	uint64_t pc[];
};

struct rec_sym {
	uint32_t pid;
	uint32_t space;
	uint64_t addr;
};

#define REC_ALIGN 8 /* of every record, and of values by their size */

static_assert(sizeof(struct img_act) == 32, "image layout");
static_assert(sizeof(struct rec_hdr) == 24, "record layout");
static_assert(sizeof(struct rec_fault) == 48, "record layout");

#endif
