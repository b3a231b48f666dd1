/*
 * Argument location: where argument n is when a probe fires.  Providers write
 * locations, and the VM evaluates them (dlang/vm/args.c), so no other code
 * needs to know the kind of a probe.  Trap path and jump path use the same 16
 * bytes.
 */
#ifndef DLANG_ARGLOC_H
#define DLANG_ARGLOC_H

#include <assert.h>
#include <stdint.h>

#include "dlang/uregs.h"

enum argloc_kind {
	ARGLOC_NONE,    /* not available: evaluating it is a fault */
	ARGLOC_ZERO,    /* 0, as DTrace gives for arguments a probe lacks */
	ARGLOC_REG,     /* register `reg', shifted right by `shift' bits */
	ARGLOC_CONST,   /* disp */
	ARGLOC_MEM,     /* size bytes at base + index * scale + disp; a bad
		       * address is a fault */
	ARGLOC_STACK,   /* size bytes at rsp + disp; a bad address gives 0 */
	ARGLOC_HIT,     /* word number disp of the hit (struct vm_env) */
	ARGLOC_SUM,     /* the address of ARGLOC_MEM itself */
	ARGLOC_VIA,     /* size bytes at (pointer at base + disp's low half) +
		       * disp's high half; a bad address is a fault */
	ARGLOC_VIA_SUM, /* the address of ARGLOC_VIA itself */
};

/* ARGLOC_VIA: both displacements, signed, in disp. */
#define ARGLOC_VIA_DISP(via, disp) \
	((int64_t)((uint64_t)(disp) << 32 | (uint32_t)(via)))

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

/*
 * Where the calling convention puts a typed argument of any size.  It is known
 * when a program is compiled: the compiler writes the code that fetches the
 * argument (dlang/cc/cg_arg.c), and a hit looks nothing up.
 */
enum argplace_kind {
	ARGPLACE_ARG, /* the same as arg N, N is `source' of struct world_arg */
	ARGPLACE_EMPTY,  /* an object without a value (C++) is passed nowhere */
	ARGPLACE_REG,    /* a value, in the low bytes of register `reg' */
	ARGPLACE_MEM,    /* in memory, at register reg + disp */
	ARGPLACE_AT,     /* an object; memory at register reg + disp has its
		      * address */
	ARGPLACE_PIECES, /* an object, in the registers of piece[] */
	ARGPLACE_UNKNOWN,
};

/* Go passes an object in as many registers as it has. */
#define ARGPLACE_PIECES_MAX 24

/* Part of an object: the low `size' bytes (1, 2, 4, 8) of a register are the
 * bytes of the object from `offset' on. */
struct argpiece {
	uint8_t reg; /* enum ureg, UREG_XMM, UREG_ST */
	uint8_t size;
	uint16_t offset;
};

struct argplace {
	uint8_t kind;    /* enum argplace_kind */
	uint8_t npieces; /* PIECES */
	uint8_t reg;     /* REG, MEM, AT */
	int32_t disp;    /* MEM, AT */
	struct argpiece piece[ARGPLACE_PIECES_MAX];
};

#define ARGLOC_MAX 16 /* most arguments a probe can have locations for */

/* Argument numbers from here on are variables of the target, by name
 * (tracer/names/locals.c). */
#define ARGLOC_LOCALS ARGLOC_MAX

#endif
