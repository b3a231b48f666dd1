/* Conversions of integers. */
/* @opts: -q */

BEGIN
{
	x = 255;
	y = -5;
	printf("%d %i %u %o %x %X %c\n", x, y, x, x, x, x, 'A');
	printf("[%5d] [%-5d] [%05d] [%+d] [% d]\n", x, x, x, x, x);
	printf("[%#x] [%#o] [%8x] [%-8x] [%.4d]\n", x, x, x, x, x);
	exit(0);
}
