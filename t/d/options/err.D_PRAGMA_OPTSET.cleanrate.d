/* No rate. */
#pragma D option cleanrate=10hertz
BEGIN { exit(0); }
