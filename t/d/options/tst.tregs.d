/* Just enough of them for the keys. */
#pragma D option quiet
#pragma D option tregs=3
BEGIN { a[1, 2, 3] = 4; @[1, 2, 3] = sum(a[1, 2, 3]); printa("%d %d %d %@d\n", @); exit(0); }
