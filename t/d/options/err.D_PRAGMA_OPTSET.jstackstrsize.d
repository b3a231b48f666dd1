/* No size. */
#pragma D option jstackstrsize=64x
BEGIN { exit(0); }
