/* Accepted, and while tracing. */
/* @opts: -q */
#pragma D option aggrate=10hz
BEGIN { setopt("aggrate", "2s"); exit(0); }
