/* The command line's alone. */
#pragma D option lockmem=x
BEGIN { exit(0); }
