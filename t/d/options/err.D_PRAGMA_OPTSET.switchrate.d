/* No rate. */
#pragma D option switchrate=10hertz
BEGIN { exit(0); }
