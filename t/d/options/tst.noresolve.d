/* Accepted; what it does is tested in t/e2e/77-symbols.sh. */
/* @opts: -q */
#pragma D option noresolve=no
BEGIN { exit(0); }
