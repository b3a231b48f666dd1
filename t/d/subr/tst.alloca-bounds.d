/* Reads and writes stay in what was allocated, rounded up to 8 bytes. */
/* @opts: -q */

BEGIN { p = (char *)alloca(15); p[14] = 1; printf("%d %d\n", p[0], p[14]); }
BEGIN { p = (char *)alloca(15); printf("below %d\n", p[-1]); }
BEGIN { p = (char *)alloca(15); printf("above %d\n", p[16]); }
BEGIN { p = (char *)alloca(15); p[-1] = 1; printf("written\n"); }
BEGIN { p = (char *)alloca(15); p[16] = 1; printf("written\n"); }
BEGIN { i = (int *)alloca(10); printf("across %d\n", *(int *)((char *)i + 14)); }
BEGIN { exit(0); }

ERROR
{
	printf("fault %d\n", (int)arg4);
}
