/* Numbers to text and back, in other bases, too. */
/* @opts: -q */

BEGIN
{
	printf("%s %s %s %s\n", lltostr(-5), lltostr(255, 16), lltostr(8, 8),
	    lltostr(35, 36));
	printf("%s %s\n", lltostr(0), lltostr(-1, 16));
	printf("%d %d %d\n", strtoll("-42"), strtoll("077"), strtoll("12 men"));
	printf("%d %d %d\n", strtoll("ff", 16), strtoll("101", 2),
	    strtoll("zz", 36));
	printf("%d %d\n", strtoll("9223372036854775807"), strtoll("none"));
	printf("%d\n", strtoll(lltostr(-123456789012)));
}

BEGIN
{
	trace(strtoll("1", 37));
}

BEGIN
{
	exit(0);
}

ERROR
{
	printf("fault %d\n", (int)arg4);
}
