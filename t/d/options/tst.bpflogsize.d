/* Accepted. */
/* @opts: -q */
#pragma D option bpflogsize=64k
BEGIN { exit(0); }
