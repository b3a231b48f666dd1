/* Accepted, and while tracing. */
/* @opts: -q -x usrcline */
#pragma D option usrcline=no
BEGIN { setopt("usrcline"); ustack(); exit(0); }
