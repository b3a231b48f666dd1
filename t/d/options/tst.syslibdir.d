/* @opts: -q -x syslibdir=t/d/options/lib */
BEGIN { printf("%d\n", answer); exit(0); }
