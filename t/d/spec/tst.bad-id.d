/*
 * Speculating into what cannot be ends the clause silently; to commit or
 * discard it is an illegal operation.  0 is none, and no mistake.
 */
/* @opts: -q */
BEGIN { speculate(-1); n++; }
BEGIN { speculate(2); n++; }
BEGIN { speculate(0); n++; }
BEGIN { commit(0); discard(0); }
BEGIN { printf("n is %d\n", n); }
BEGIN { commit(-1); }
BEGIN { discard(2); }
BEGIN { commit(1); }
BEGIN { exit(0); }
ERROR { printf("fault %d, %d\n", arg4, arg5); }
