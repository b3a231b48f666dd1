/* A flag of the compiler takes no value. */
#pragma D option kdefs=1
BEGIN { exit(0); }
