/* Accepted. */
/* @opts: -q */
#pragma D option udefs
BEGIN { exit(0); }
