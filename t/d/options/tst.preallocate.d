/* Accepted. */
/* @opts: -q */
#pragma D option preallocate=64k
BEGIN { exit(0); }
