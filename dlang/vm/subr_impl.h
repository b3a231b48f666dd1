/*
 * The subroutines of subr_str.c and subr_text.c, and the function that these
 * and subr.c share.
 */
#ifndef DLANG_VM_SUBR_IMPL_H
#define DLANG_VM_SUBR_IMPL_H

#include "dlang/vm/vm_impl.h"

/*
 * Make a string in scratch: `len' bytes of s from `off' on, cut to strsize, and
 * a NUL. Returns its VM address, and its memory in *d; 0 after the fault
 * NOSCRATCH.
 */
uint64_t subr_string(struct vm_env *env, const struct vm_str *s, uint32_t off,
    uint32_t len, char **d);

#define SUBR(name)            \
	uint64_t subr_##name( \
	    struct vm_env *env, const struct vm_tuple *a, uint32_t n)

/* subr_str.c */
SUBR(strlen);
SUBR(strjoin);
SUBR(lltostr);
SUBR(strtoll);
SUBR(strchr);
SUBR(strrchr);
SUBR(strstr);
SUBR(strtok);
SUBR(substr);
SUBR(index);
SUBR(rindex);
SUBR(toupper);
SUBR(tolower);

/* subr_text.c */
SUBR(basename);
SUBR(dirname);
SUBR(cleanpath);
SUBR(inet_ntop);
SUBR(inet_ntoa);
SUBR(inet_ntoa6);
SUBR(link_ntop);
SUBR(json);

#endif
