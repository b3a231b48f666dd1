/* Accepted; what it does is tested in bufs/tst.aggsize.d. */
/* @opts: -q */
#pragma D option aggsize=64k
BEGIN { exit(0); }
