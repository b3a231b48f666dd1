/*
 * The environment in which DIF is evaluated, and the machine.
 *
 * One environment belongs to one lane (store.h) and so to one writer: the
 * tracer on the trap path, a thread on the jump path.  What differs between the
 * two homes is behind vm_ops and nowhere else.
 */
#ifndef DLANG_VM_VM_H
#define DLANG_VM_VM_H

#include "dlang/dif.h"
#include "dlang/vm/store.h"

struct vm_env;

struct vm_ops {
	/* The target's memory.  0, or -1: then the VM raises BADADDR. */
	int (*load)(struct vm_env *, uint64_t addr, void *buf, uint32_t len);
	/* Up to a NUL or `size' bytes, whichever comes first; the number of
	 * bytes read, NUL included if it was met, or -1. */
	int64_t (*load_str)(
	    struct vm_env *, uint64_t addr, char *buf, uint32_t size);
	int (*store)(
	    struct vm_env *, uint64_t addr, const void *buf, uint32_t len);
	/* A register that vm_env's `regs' has not got: enum ureg, or one of
	 * those from UREG_FP on; 0 for one that is not known here. */
	uint64_t (*reg)(struct vm_env *, unsigned ureg);
	/* Built-in variables marked V_INT and V_STR.  0, or -1: illegal
	 * operation.  var_str() always terminates. */
	int (*var)(struct vm_env *, uint32_t id, uint64_t *value);
	int (*var_str)(struct vm_env *, uint32_t id, char *buf, uint32_t size);
	/* Where a symbol that the compiler refers to is in the current process.
	 * 0, or -1: it is not there. */
	int (*symbol)(struct vm_env *, uint64_t ref, uint64_t *addr);
	/* Rows of dif_state.def; `of' is a tid or a descriptor, as the row
	 * says.  0, or -1: illegal operation. */
	int (*state)(
	    struct vm_env *, uint64_t what, uint64_t of, uint64_t *value);
	int (*state_str)(struct vm_env *, uint64_t what, uint64_t of, char *buf,
	    uint32_t size);
	/* User stack, innermost first; the number of frames.  With `lang',
	 * words with the highest bit stand for names of frames of
	 * languages (symbols/langname.h). */
	uint32_t (*stack)(
	    struct vm_env *, uint64_t *pcs, uint32_t max, bool lang);
	/* The address space's stamp, for rec_stack and rec_sym. */
	uint32_t (*space)(struct vm_env *);
	/* OP_STOP, OP_RAISE, OP_CHILL.  0, or -1: illegal operation. */
	int (*control)(struct vm_env *, enum img_op op, int64_t arg);
	/* Set timestamp, which is 0, and cpu; NULL: the owner has. */
	void (*when)(struct vm_env *);
	/* Is the current process `pid' or a descendant of it? */
	bool (*progenyof)(struct vm_env *, int64_t pid);
};

struct vm_fault {
	int code;       /* enum dif_fault; FLT_NONE */
	int32_t offset; /* bytes in the text, -1 unknown */
	uint64_t value;
};

#define VM_ARGS 10 /* arg0 .. arg9 */

/*
 * strtok() goes on where it was for as long as a firing lasts, which is longer
 * than the scratch of a clause: its string is kept behind the end of scratch,
 * which gives way.
 */
struct vm_scan {
	uint32_t at, room; /* where in the lane's scratch, and how much of it */
	uint32_t pos, end; /* what is left of the string there */
	bool begun;
};

struct vm_env {
	/* Set by the owner before the first firing: */
	const struct vm_ops *ops;
	void *ctx; /* the owner's */
	struct region image;
	struct region store; /* as far as clauses may read it */
	struct lane_view at; /* its lane in a store: vm_open() */

	/* Set by the owner for each firing: */
	const struct lane_view *own; /* the thread's lane in a thread store:
				      * clause-locals and self-> are there;
				      * NULL: where `at' has them */
	uint64_t thread;             /* identity behind self->; never 0 */
	const struct uregs *regs;    /* of the thread, where they are at hand;
				   * else NULL */
	uint32_t pid, tid;           /* for record headers; 0 for none */
	uint32_t cpu;
	bool followed;      /* a child of the process that was asked for:
			* IMG_ECB_OWN does not fire */
	uint64_t timestamp; /* CLOCK_MONOTONIC, ns, of this firing; 0: ops->when
			     * fills it and `cpu' in when they are asked for */
	uint64_t hit[VM_ARGS]; /* words of the hit (ARGLOC_HIT) */

	/* Set by ecb_fire_*(): */
	const struct img_probe *probe;
	uint32_t probe_ref;
	const struct argloc *args;
	uint32_t nargs;
	uint32_t epid;
	struct vm_fault fault;

	/* The machine's own; see vm.c.  Zero before the first firing. */
	uint64_t scratch_used;
	uint32_t scratch_size; /* what strtok() leaves of the lane's */
	struct vm_scan scan;   /* strtok()'s */
	uint32_t depth;        /* ERROR firing inside a firing */
};

/*
 * Take lane n of a store for the environment, whose regions are set.  Before
 * a target can write to the store: nothing of what places memory is read again.
 * False when it makes no sense, and nothing fires then; else a firing has begun,
 * as by vm_begin().  With a lane of a thread store there are no globals, arrays
 * and speculations: a clause that uses them faults, or they are 0.
 */
bool vm_open(struct vm_env *env, uint32_t lane);

/*
 * Begin a firing: scratch is empty, strtok() has no state, clause-locals are 0,
 * no fault.  0, or -1 without a lane.  ecb_fire_*() call it; only who calls
 * vm_run() himself must.
 */
int vm_begin(struct vm_env *env);

/* Evaluate a DIFO that the verifier admitted.  0 with the result in *value,
 * or -1 with env->fault set. */
int vm_run(struct vm_env *env, const struct img_difo *d, uint64_t *value);

/* Stop with a fault; the first one of a run stays. */
void vm_fault(struct vm_env *env, enum dif_fault code, uint64_t value);

#endif
