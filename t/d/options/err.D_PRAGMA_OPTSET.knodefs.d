/* A flag of the compiler takes no value. */
#pragma D option knodefs=1
BEGIN { exit(0); }
