/* The command line's alone. */
#pragma D option modpath=x
BEGIN { exit(0); }
