/* No rate. */
#pragma D option aggrate=10hertz
BEGIN { exit(0); }
