/* Accepted, and while tracing. */
/* @opts: -q */
#pragma D option switchrate=10hz
BEGIN { setopt("switchrate", "2s"); exit(0); }
