/* Accepted, and while tracing. */
/* @opts: -q */
#pragma D option stackindent=4
BEGIN { setopt("stackindent", "8"); exit(0); }
