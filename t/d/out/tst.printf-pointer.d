/* A pointer is hexadecimal without a prefix. */
/* @opts: -q */

BEGIN
{
	printf("%p %p\n", (void *)0x1234abcd, 0xff);
	exit(0);
}
