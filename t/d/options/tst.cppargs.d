/* @opts: -q -C -x cppargs=-DONE=1 -x cppargs=-DTWO=2 */
BEGIN { printf("%d %d\n", ONE, TWO); exit(0); }
