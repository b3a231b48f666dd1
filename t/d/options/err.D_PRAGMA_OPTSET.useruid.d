/* No number. */
#pragma D option useruid=4x
BEGIN { exit(0); }
