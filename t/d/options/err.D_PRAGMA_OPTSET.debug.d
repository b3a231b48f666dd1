/* A flag of the compiler takes no value. */
#pragma D option debug=1
BEGIN { exit(0); }
