/* The command line's alone. */
#pragma D option debuginfodtime=5
BEGIN { exit(0); }
