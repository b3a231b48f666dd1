/* The command line's alone. */
#pragma D option ldpath=x
BEGIN { exit(0); }
