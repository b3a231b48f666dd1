/* Accepted. */
/* @opts: -q */
#pragma D option statusrate=10hz
BEGIN { exit(0); }
