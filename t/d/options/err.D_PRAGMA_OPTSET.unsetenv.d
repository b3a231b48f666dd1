/* The command line's alone. */
#pragma D option unsetenv=x
BEGIN { exit(0); }
