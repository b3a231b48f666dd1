/* No number. */
#pragma D option jstackframes=4x
BEGIN { exit(0); }
