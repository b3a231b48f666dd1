/* A flag of the compiler takes no value. */
#pragma D option unodefs=1
BEGIN { exit(0); }
