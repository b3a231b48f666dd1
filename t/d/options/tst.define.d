/* @opts: -q -C -x define=ONE=1 -x define=NAME -x define=GONE -x undef=GONE */
#if defined(NAME) && !defined(GONE)
BEGIN { printf("%d\n", ONE); exit(0); }
#endif
