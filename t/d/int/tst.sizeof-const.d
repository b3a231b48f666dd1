/* The types of constants: the first that holds the value. */
/* @opts: -q */

BEGIN
{
	printf("%d %d %d %d %d\n", sizeof(1), sizeof(2147483647),
	    sizeof(2147483648), sizeof(0xffffffff), sizeof(1L));
	exit(0);
}
