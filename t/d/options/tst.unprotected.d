/* Of no effect without a process: t/e2e/38-unprotected.sh. */
/* @opts: -q */
#pragma D option unprotected
BEGIN { printf("runs\n"); exit(0); }
