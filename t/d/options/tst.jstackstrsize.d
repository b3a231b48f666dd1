/* Accepted. */
/* @opts: -q */
#pragma D option jstackstrsize=64k
BEGIN { exit(0); }
