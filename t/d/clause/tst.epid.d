/* Enablings are numbered in the order of the program. */
/* @opts: -q */

BEGIN { printf("%d ", epid); }
BEGIN { printf("%d ", epid); }
END { printf("%d\n", epid); }
BEGIN { printf("%d ", epid); exit(0); }
