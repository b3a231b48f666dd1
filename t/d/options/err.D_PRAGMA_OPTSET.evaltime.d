/* Not one of its words. */
#pragma D option evaltime=later
BEGIN { exit(0); }
