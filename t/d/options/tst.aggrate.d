/* Accepted, and while tracing; what it does is tested in aggs/tst.aggrate.d. */
/* @opts: -q */
#pragma D option aggrate=10hz
BEGIN { setopt("aggrate", "2s"); exit(0); }
