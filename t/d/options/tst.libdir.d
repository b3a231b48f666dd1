/* @opts: -q -x libdir=t/d/options/lib */
BEGIN { printf("%d\n", answer); exit(0); }
