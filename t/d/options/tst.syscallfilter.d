/* Without a launched process there is nobody to put under a filter. */
/* @opts: -q */
#pragma D option syscallfilter
BEGIN { exit(0); }
