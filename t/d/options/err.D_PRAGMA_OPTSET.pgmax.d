/* No number. */
#pragma D option pgmax=4x
BEGIN { exit(0); }
