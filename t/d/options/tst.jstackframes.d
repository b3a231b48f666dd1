/* Accepted. */
/* @opts: -q */
#pragma D option jstackframes=4
BEGIN { exit(0); }
