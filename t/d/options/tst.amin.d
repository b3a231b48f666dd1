/* Nothing here is less than the minimum. */
/* @opts: -q -x amin=Stable/Stable/Common */
dtrace:::BEGIN { printf("%d\n", arg0); exit(0); }
