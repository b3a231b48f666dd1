/* Accepted; what it does is tested in t/e2e/77-symbols.sh. */
/* @opts: -q */
#pragma D option maxframes=4
BEGIN { exit(0); }
