/* Accepted; what it does is tested in t/e2e/60-options.sh. */
/* @opts: -q */
#pragma D option aggpercpu
BEGIN { exit(0); }
