/*
 * Accept or reject a DIFO. verify.c lists the rules.  The VM runs an accepted
 * DIFO without further checks of its code.
 */
#ifndef DLANG_VERIFY_H
#define DLANG_VERIFY_H

#include <stdio.h>

#include "dlang/prog.h"

/*
 * 0, with d->needs, d->destructive and d->verified set; or -EINVAL with one
 * sentence in *why (static or in the arena) and the instruction in *at.
 */
int verify_difo(struct arena *a, struct difo *d, const struct prog_globals *g,
    const char **why, uint32_t *at);

/* DIF as text, as -S prints it (dis.c). */
void dis_difo(FILE *out, const struct difo *d);
/* One instruction of it, as a line. */
void dis_instr(FILE *out, const struct difo *d, uint32_t n);

#endif
