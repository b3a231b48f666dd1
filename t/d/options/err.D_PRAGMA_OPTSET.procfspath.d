/* The command line's alone. */
#pragma D option procfspath=x
BEGIN { exit(0); }
