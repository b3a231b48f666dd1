/* Accepted; what it does is tested in t/e2e/71-usdt-build.sh. */
/* @opts: -q */
#pragma D option strip
BEGIN { exit(0); }
