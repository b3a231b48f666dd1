/* Accepted. */
/* @opts: -q */
#pragma D option unodefs
BEGIN { exit(0); }
