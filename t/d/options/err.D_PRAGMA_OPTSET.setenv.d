/* The command line's alone. */
#pragma D option setenv=x
BEGIN { exit(0); }
