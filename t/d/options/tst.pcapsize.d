/* Accepted. */
/* @opts: -q */
#pragma D option pcapsize=64k
BEGIN { exit(0); }
