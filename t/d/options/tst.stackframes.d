/* Accepted. */
/* @opts: -q */
#pragma D option stackframes=4
BEGIN { exit(0); }
