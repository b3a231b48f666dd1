/* Accepted, and while tracing; what it does is tested in t/e2e/77-symbols.sh. */
/* @opts: -q */
#pragma D option stackindent=4
BEGIN { setopt("stackindent", "8"); exit(0); }
