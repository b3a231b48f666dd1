/* Accepted. */
/* @opts: -q */
#pragma D option maxframes=4
BEGIN { exit(0); }
