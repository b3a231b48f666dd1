/* No number. */
#pragma D option ustackframes=4x
BEGIN { exit(0); }
