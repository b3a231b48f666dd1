/* No size. */
#pragma D option pcapsize=64x
BEGIN { exit(0); }
