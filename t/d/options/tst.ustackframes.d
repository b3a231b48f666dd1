/* Accepted. */
/* @opts: -q */
#pragma D option ustackframes=4
BEGIN { exit(0); }
