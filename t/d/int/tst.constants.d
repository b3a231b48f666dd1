/* Decimal, octal, hexadecimal and character constants, with suffixes. */
/* @opts: -q */

BEGIN
{
	printf("%d %d %d %d ", 255, 0377, 0xff, 0XFF);
	printf("%u %u %d ", 1u, 2UL, 3ll);
	printf("%d %d %d %d\n", 'A', '\n', '\101', 'ab');
	exit(0);
}
