/* Not one of its words. */
#pragma D option late=never
BEGIN { exit(0); }
