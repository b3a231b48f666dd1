/* The command line's alone. */
#pragma D option debuginfod=all
BEGIN { exit(0); }
