/* Accepted. */
/* @opts: -q */
#pragma D option strip
BEGIN { exit(0); }
