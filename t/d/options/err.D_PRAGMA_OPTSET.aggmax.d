/* No size. */
#pragma D option aggmax=64x
BEGIN { exit(0); }
