/* Accepted. */
/* @opts: -q */
#pragma D option late=static
BEGIN { exit(0); }
