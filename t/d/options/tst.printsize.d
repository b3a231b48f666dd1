/* Accepted, and while tracing. */
/* @opts: -q */
#pragma D option printsize=64k
BEGIN { setopt("printsize", "128"); exit(0); }
