/* Accepted. */
/* @opts: -q */
#pragma D option linktype
BEGIN { exit(0); }
