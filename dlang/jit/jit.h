/*
 * The compiler of clauses: verified DIF to machine code.
 *
 * The code of a DIFO is a function with the contract of vm_run() (dlang/vm/vm.h):
 * the result, the fault, and everything that other parts of the VM see are the
 * same.  It calls the VM's functions (dlang/vm/helpers.h) for all that is not
 * done by a few machine instructions.
 *
 * The code refers to itself and to the helpers by relative addresses if these
 * reach, so that it may be copied together with the helpers.  It contains no
 * address of the image, of a store or of an environment.
 */
#ifndef DLANG_JIT_JIT_H
#define DLANG_JIT_JIT_H

#include "dlang/argloc.h"
#include "dlang/vm/helpers.h"

/* The place where the code will run. */
struct jit_place {
	uint64_t addr;                    /* of the first byte of the code */
	const struct vm_helpers *helpers; /* their addresses there */
};

typedef int jit_fn(
    struct vm_env *env, const struct img_difo *d, uint64_t *value);

/* Is there a compiler for this machine? */
bool jit_possible(void);

/*
 * Compile a DIFO that the verifier accepted.  Returns the size of the code in
 * buf; or 0, with the reason in *why as a phrase for the user: then only
 * vm_run() can run it.  If `starts' is not NULL, it gets for each instruction of
 * the DIFO the offset at which its code begins.
 */
size_t jit_difo(const struct region *image, const struct img_difo *d,
    const struct jit_place *place, uint8_t *buf, size_t size, uint32_t *starts,
    const char **why);

/*
 * The body of a probe: code that carries out all its clauses for the code of a
 * site (inject/stub.h), on the program's stack, of which it takes JIT_BODY_WORDS
 * and two more at most.  What a clause with a body may have: a predicate,
 * assignments to variables of 8 bytes of the clause and the thread, aggregations
 * with keys of some words and strings or one that is pinned, a record of integers and
 * strings, and in all these arguments in registers, the time and numbers.  A body calls
 * nothing but the functions at `clock' and `text' of the lane, on the lane's stack, and
 * contains no address.
 *
 * UREG_BODY has the lane at entry and at exit.  Afterwards UREG_RESULT is 0 if
 * the body has done all that a firing does; if it is 1, nothing has been done.  The
 * lane is not busy any more then, and the flags say what the code of a site has to
 * know: x86_64/body.c.
 */
#define JIT_IN_PLACE   INT32_MIN
#define JIT_BODY_WORDS 16

/* The most clauses that one body has. */
#define JIT_BODY_CLAUSES 4

/* What the body is told about the probe: its number, and the EPID of each of its
 * clauses. */
struct jit_row {
	uint32_t body; /* the number of the body, for who writes rows */
	uint32_t probe;
	uint32_t epid[]; /* as many as it has clauses */
};

struct jit_body {
	/* Set by the caller: */
	struct region image;
	uint32_t clauses[JIT_BODY_CLAUSES]; /* in the order of their ECBs */
	uint32_t nclauses;
	uint32_t pins; /* ECBs whose EPID is below the lane's npins, as bits */
	bool own;      /* IMG_ECB_OWN of one of the ECBs */
	bool rdpid;    /* the processor has this instruction */
	const struct argloc *args; /* of the site */
	uint32_t nargs;

	/* Set by jit_body_plan(): */
	uint32_t reads;   /* arguments that it reads, as bits */
	uint32_t changes; /* registers that it may change, as bits by enum ureg,
			   * besides those that any body may (inject/stub.h) */

	/* Set by the caller then: where the value is that a register had at the
	 * site, as an offset from the stack pointer at entry; JIT_IN_PLACE: still
	 * in the register. */
	int32_t at[UREG_COUNT];

	/* Set by jit_body(): where it returns, as offsets of these instructions. */
	uint32_t exits[2];
};

/* Can the clauses have a body?  They are all those of their probe. */
bool jit_body_plan(struct jit_body *b);
/* Write it.  Returns its size; 0: there is no room. */
size_t jit_body(struct jit_body *b, uint8_t *buf, size_t size);

#endif
