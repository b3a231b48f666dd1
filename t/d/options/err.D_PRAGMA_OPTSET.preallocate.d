/* No size. */
#pragma D option preallocate=64x
BEGIN { exit(0); }
