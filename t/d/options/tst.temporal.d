/* Accepted; what it does is tested in t/unit/test_consume.c. */
/* @opts: -q */
#pragma D option temporal=no
BEGIN { exit(0); }
