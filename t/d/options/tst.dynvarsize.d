/* Room for some of them. */
/* @opts: -q -x dynvarsize=256 -x droptags */
BEGIN { a[1] = 1; a[2] = 1; a[3] = 1; a[4] = 1; a[5] = 1; a[6] = 1; a[7] = 1; a[8] = 1; exit(0); }
END { printf("%d\n", a[1]); }
