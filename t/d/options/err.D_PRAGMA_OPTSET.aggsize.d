/* No size. */
#pragma D option aggsize=64x
BEGIN { exit(0); }
