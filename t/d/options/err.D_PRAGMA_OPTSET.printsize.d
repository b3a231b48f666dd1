/* No size. */
#pragma D option printsize=64x
BEGIN { exit(0); }
