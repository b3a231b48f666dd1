/* Accepted. */
/* @opts: -q */
#pragma D option noresolve=no
BEGIN { exit(0); }
