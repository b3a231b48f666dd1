/* One of two words. */
#pragma D option fastpath=often
BEGIN { exit(0); }
