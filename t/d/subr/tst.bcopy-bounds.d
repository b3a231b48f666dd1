/*
 * Where a copy begins must be scratch (or, for the source, anything readable):
 * else it is a bad address.  Where it ends must be, too: else a bad size.
 */
/* @opts: -q */

string s;

BEGIN { s = "0123456789"; }
BEGIN { p = (char *)alloca(16); bcopy(s, &p[14], 2); printf("%c%c\n", p[14], p[15]); }
BEGIN { p = (char *)alloca(16); bcopy(s, &p[14], 3); }
BEGIN { p = (char *)alloca(16); bcopy(s, p - 1, 1); }
BEGIN { p = (char *)alloca(16); bcopy(s, p - 1, 2); }
BEGIN { p = (char *)alloca(16); bcopy(s, p + 16, 1); }
BEGIN { p = (char *)alloca(16); bcopy(p + 8, p, 9); }
BEGIN { p = (char *)alloca(16); bcopy(s, p, -1); }
BEGIN { p = (char *)alloca(16); bcopy(s, p, 0); printf("nothing to do\n"); }
BEGIN { exit(0); }

ERROR
{
	printf("%s %d\n", arg4 == DTRACEFLT_BADADDR ? "address" :
	    arg4 == DTRACEFLT_BADSIZE ? "size" : "?", arg4 == DTRACEFLT_BADSIZE ?
	    (int)arg5 : 0);
}
