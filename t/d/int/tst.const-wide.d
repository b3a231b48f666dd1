/* Constants that outgrow int are long, as a literal of that size is. */
/* @opts: -q */

BEGIN
{
	printf("%d %d\n", (1 << 63) - 1, sizeof (1 << 40));
	printf("%d %d\n", 2147483647 + 1, sizeof (2147483647 + 1));
	printf("%d %d\n", 65536 * 65536, sizeof (65536 * 65535));
	printf("%d %d\n", -2147483647 - 2, -(-2147483647 - 1));
	printf("%d %d\n", sizeof (2147483647), sizeof (1 << 30));
	printf("%u\n", 4294967295U + 1);
	exit(0);
}
