/*
 * The VM: it runs DIF in an environment (struct vm_env).
 *
 * One environment belongs to one lane (store.h) and so to one writer: the
 * tracer on the trap path, a thread on the jump path.  All differences between
 * the two are in vm_ops: tracer/fire/eval.c implements it for the tracer,
 * inject/agent/ops.c for the target.
 */
#ifndef DLANG_VM_VM_H
#define DLANG_VM_VM_H

#include "dlang/dif.h"
#include "dlang/vm/store.h"

struct vm_env;

struct vm_ops {
	/* Read the target's memory.  0, or -1: then the VM raises BADADDR. */
	int (*load)(struct vm_env *, uint64_t addr, void *buf, uint32_t len);
	/* Read up to a NUL or `size' bytes, whichever comes first.  Returns the
	 * number of bytes, NUL included if there was one, or -1.  What is behind
	 * them in the buffer may change. */
	int64_t (*load_str)(
	    struct vm_env *, uint64_t addr, char *buf, uint32_t size);
	int (*store)(
	    struct vm_env *, uint64_t addr, const void *buf, uint32_t len);
	/* The value of a register that is not in `regs' of vm_env: an enum
	 * ureg, or a number from UREG_FP on.  0 for an unknown one. */
	uint64_t (*reg)(struct vm_env *, unsigned ureg);
	/* The value of a built-in variable marked V_INT or V_STR. 0, or -1:
	 * illegal operation. var_str() always terminates the string. */
	int (*var)(struct vm_env *, uint32_t id, uint64_t *value);
	int (*var_str)(struct vm_env *, uint32_t id, char *buf, uint32_t size);
	/* The address in the current process of a symbol to which the compiler
	 * gave the number ref.  0, or -1: the process does not have it. */
	int (*symbol)(struct vm_env *, uint64_t ref, uint64_t *addr);
	/* The value of a row of dif_state.def; `of' is a tid or a file
	 * descriptor, as the row says.  0, or -1: illegal operation. */
	int (*state)(
	    struct vm_env *, uint64_t what, uint64_t of, uint64_t *value);
	int (*state_str)(struct vm_env *, uint64_t what, uint64_t of, char *buf,
	    uint32_t size);
	/* The user stack, innermost frame first.  Returns the number of frames.
	 * With `lang', a word with the highest bit set names a frame of a
	 * language (symbols/langname.h). */
	uint32_t (*stack)(
	    struct vm_env *, uint64_t *pcs, uint32_t max, bool lang);
	/* The address space's stamp, for rec_stack and rec_sym. */
	uint32_t (*space)(struct vm_env *);
	/* OP_STOP, OP_RAISE, OP_CHILL.  0, or -1: illegal operation. */
	int (*control)(struct vm_env *, enum img_op op, int64_t arg);
	/* Set timestamp (which is 0) and cpu.  May be NULL if the owner sets
	 * both before each firing. */
	void (*when)(struct vm_env *);
	/* The predicate of an ECB is true, and only the tracer can carry out
	 * its actions (IMG_CLAUSE_OUTSIDE): let it do so now, by
	 * ecb_fire_rest().  NULL: this is the tracer. */
	void (*rest)(struct vm_env *, uint32_t ecb_ref);
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
 * State of strtok(), which lasts for a whole firing.  The scratch memory of a
 * clause does not, so the string is kept at the end of scratch, which becomes
 * smaller.
 */
struct vm_scan {
	uint32_t at, room; /* the string's place and size in the lane's
			    * scratch */
	uint32_t pos, end; /* the rest of the string that was not returned
			    * yet */
	bool begun;
};

struct vm_env {
	/* Set by the owner before the first firing: */
	const struct vm_ops *ops;
	void *ctx; /* for the owner's vm_ops */
	struct region image;
	struct region store; /* the part of it that clauses may read */
	struct lane_view at; /* its lane in a store: vm_open() */
	const uint8_t *code; /* the memory with the machine code of DIFOs; NULL:
			      * the interpreter runs them all */

	/* Set by the owner for each firing: */
	const struct lane_view *own; /* the thread's lane in a thread store,
				      * which then has its clause-locals and
				      * self->; NULL: they are in `at' */
	uint64_t thread;             /* identity behind self->; never 0 */
	const struct uregs *regs;    /* registers of the thread, or NULL: use
				      * ops->reg */
	uint32_t pid, tid;           /* for record headers; 0 for none */
	uint32_t cpu;
	bool followed; /* the process is a followed child of the one that the
			* user named: ECBs with IMG_ECB_OWN do not fire */
	uint64_t timestamp;    /* CLOCK_MONOTONIC of this firing in ns; 0:
			     * ops->when sets it and `cpu' when a clause needs
			     * them */
	uint64_t hit[VM_ARGS]; /* words of the hit (ARGLOC_HIT) */

	/* Set by ecb_fire_*(): */
	const struct img_probe *probe;
	uint32_t probe_ref;
	const struct argloc *args;
	uint32_t nargs;
	uint32_t site_ref; /* 0: the probe has no site */
	uint32_t epid;
	struct vm_fault fault;

	/* Private to the VM; see vm.c.  Zero before the first firing. */
	uint64_t scratch_used;
	uint32_t scratch_size; /* the lane's, minus what strtok() keeps */
	struct vm_scan scan;   /* strtok()'s */
	uint32_t depth;        /* ERROR firing inside a firing */
};

/*
 * Use lane n of a store for the environment; its regions must be set.  Call it
 * before a target can write to the store: the layout of the lane is read here,
 * once.  False if the layout is not valid; then nothing fires.  If true, a
 * firing has begun, as by vm_begin().  A lane of a thread store has no globals,
 * arrays and speculations: a clause that uses them faults, or reads 0.
 */
bool vm_open(struct vm_env *env, uint32_t lane);

/*
 * Begin a firing: scratch is empty, strtok() has no state, clause-locals are 0,
 * there is no fault.  0, or -1 without a lane. ecb_fire_*() call it; call it
 * yourself only before a direct vm_run().
 */
int vm_begin(struct vm_env *env);
/* The same, but clause-locals stay: a firing goes on that another environment of
 * the thread has begun. */
int vm_go_on(struct vm_env *env);

/* Evaluate a DIFO that the verifier accepted.  0 with the result in *value, or
 * -1 with env->fault set. */
int vm_run(struct vm_env *env, const struct img_difo *d, uint64_t *value);

/* The same, by the DIFO's machine code at env->code if there is some
 * (dlang/jit/). */
int vm_eval(struct vm_env *env, const struct img_difo *d, uint64_t *value);

/* Stop with a fault; the first one of a run stays. */
void vm_fault(struct vm_env *env, enum dif_fault code, uint64_t value);

#endif
