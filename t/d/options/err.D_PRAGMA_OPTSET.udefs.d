/* A flag of the compiler takes no value. */
#pragma D option udefs=1
BEGIN { exit(0); }
