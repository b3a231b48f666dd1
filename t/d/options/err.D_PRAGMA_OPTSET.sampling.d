/* One of two words. */
#pragma D option sampling=often
BEGIN { exit(0); }
