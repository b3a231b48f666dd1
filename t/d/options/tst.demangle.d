/* Accepted, and while tracing. */
/* @opts: -q -x demangle=off */
#pragma D option demangle
BEGIN { setopt("demangle", "off"); setopt("demangle", "full"); exit(0); }
