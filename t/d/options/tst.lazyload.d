/* Accepted. */
/* @opts: -q */
#pragma D option lazyload
BEGIN { exit(0); }
