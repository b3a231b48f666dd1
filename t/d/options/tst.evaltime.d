/* Accepted. */
/* @opts: -q */
#pragma D option evaltime=main
BEGIN { exit(0); }
