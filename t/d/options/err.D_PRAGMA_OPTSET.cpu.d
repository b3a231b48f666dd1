/* No such processor. */
#pragma D option cpu=-1
BEGIN { exit(0); }
