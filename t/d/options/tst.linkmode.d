/* Accepted. */
/* @opts: -q */
#pragma D option linkmode
BEGIN { exit(0); }
