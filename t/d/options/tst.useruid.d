/* Accepted. */
/* @opts: -q */
#pragma D option useruid=4
BEGIN { exit(0); }
