/*
 * Accept or refuse a DIFO.  The rules stand in verify.c; whatever passed may
 * be run without further checks of the code itself.
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

#endif
