/* No size. */
#pragma D option bpflogsize=64x
BEGIN { exit(0); }
