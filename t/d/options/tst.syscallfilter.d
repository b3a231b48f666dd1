/* Of no effect without a launched process: t/e2e/72-syscall-filter.sh. */
/* @opts: -q */
#pragma D option syscallfilter
BEGIN { printf("runs\n"); exit(0); }
