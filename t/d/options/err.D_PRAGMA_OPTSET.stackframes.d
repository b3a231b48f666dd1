/* No number. */
#pragma D option stackframes=4x
BEGIN { exit(0); }
