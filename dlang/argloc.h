/*
 * Argument location: where argument n is found when a probe fires.  Providers
 * write locations, the VM evaluates them (dlang/vm/args.c), and nobody else
 * needs to know what kind of probe it is.  The same 16 bytes serve both paths.
 */
#ifndef DLANG_ARGLOC_H
#define DLANG_ARGLOC_H

#include <assert.h>
#include <stdint.h>

#include "dlang/uregs.h"

enum argloc_kind {
	ARGLOC_NONE,  /* not available: evaluating it is a fault */
	ARGLOC_ZERO,  /* 0, as DTrace gives for arguments a probe lacks */
	ARGLOC_REG,   /* register `reg', shifted right by `shift' bits */
	ARGLOC_CONST, /* disp */
	ARGLOC_MEM,   /* size bytes at base + index * scale + disp; a bad
		       * address is a fault */
	ARGLOC_STACK, /* size bytes at rsp + disp; a bad address gives 0 */
	ARGLOC_HIT,   /* word number disp of the hit (struct vm_env) */
};

#define ARGLOC_NOREG 0xff

struct argloc {
	uint8_t kind;      /* enum argloc_kind */
	uint8_t size;      /* bytes kept of the value: 1, 2, 4, 8 */
	uint8_t is_signed; /* extend by sign, else by zero */
	uint8_t reg;       /* REG: register; MEM: base or ARGLOC_NOREG */
	uint8_t index;     /* MEM: index register or ARGLOC_NOREG */
	uint8_t scale;     /* MEM: 1, 2, 4, 8 */
	uint8_t shift;     /* REG: 8 for ah..dh, else 0 */
	uint8_t spare;
	int64_t disp; /* displacement, constant, or word number */
};

static_assert(sizeof(struct argloc) == 16, "argloc is shared and recorded");

#define ARGLOC_MAX 16 /* most arguments a probe can have locations for */

#endif
