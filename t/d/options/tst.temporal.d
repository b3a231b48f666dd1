/* Accepted. */
/* @opts: -q */
#pragma D option temporal=no
BEGIN { exit(0); }
