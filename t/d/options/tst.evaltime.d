/* Accepted; what it does is tested in t/e2e/67-evaltime.sh. */
/* @opts: -q */
#pragma D option evaltime=main
BEGIN { exit(0); }
