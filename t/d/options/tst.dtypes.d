/* Accepted. */
/* @opts: -q */
#pragma D option dtypes=x
BEGIN { exit(0); }
