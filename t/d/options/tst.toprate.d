/* Accepted, and while tracing; what it does is tested in t/e2e/78-top.sh. */
/* @opts: -q */
#pragma D option toprate=10hz
BEGIN { setopt("toprate", "2s"); exit(0); }
