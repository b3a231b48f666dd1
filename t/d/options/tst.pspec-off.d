/* @opts: -q */
char*p;
int**q, *r;
BEGIN { p = 0; q = 0; r = 0; printf("%d %d %d\n", sizeof(p), sizeof(*q), sizeof(*r)); exit(0); }
