/* Accepted. */
/* @opts: -q */
#pragma D option cleanrate=10hz
BEGIN { exit(0); }
