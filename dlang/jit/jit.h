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

#endif
