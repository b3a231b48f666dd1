/* Accepted. */
/* @opts: -q */
#pragma D option aggsize=64k
BEGIN { exit(0); }
