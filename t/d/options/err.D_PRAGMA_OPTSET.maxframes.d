/* No number. */
#pragma D option maxframes=4x
BEGIN { exit(0); }
