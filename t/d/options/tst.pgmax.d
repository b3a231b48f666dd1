/* Accepted. */
/* @opts: -q */
#pragma D option pgmax=4
BEGIN { exit(0); }
