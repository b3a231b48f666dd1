/* No rate. */
#pragma D option statusrate=10hertz
BEGIN { exit(0); }
