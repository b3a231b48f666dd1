/* No rate. */
#pragma D option toprate=10hertz
BEGIN { exit(0); }
