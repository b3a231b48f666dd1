/* A share in percent. */
/* @opts: -q -x maxload=25% */
#pragma D option maxload=30
BEGIN { exit(0); }
