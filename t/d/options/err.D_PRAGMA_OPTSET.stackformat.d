/* One of two words. */
#pragma D option stackformat=svg
BEGIN { exit(0); }
