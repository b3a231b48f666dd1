/* Accepted. */
/* @opts: -q */
#pragma D option ctypes=x
BEGIN { exit(0); }
