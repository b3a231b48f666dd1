/* What is stored is cut; what is computed has 64 bits until then. */
/* @opts: -q */

uint8_t b;
int16_t s;
char c;

BEGIN
{
	b = 250;
	b += 10;
	printf("%d ", b);
	b <<= 7;
	printf("%d ", b);
	b = ~0;
	b >>= 4;
	printf("%d ", b);
	b *= 20;
	printf("%d\n", b);
	s = -32768;
	s--;
	printf("%d ", s);
	s = 1000;
	s *= 1000;
	printf("%d ", s);
	s /= 7;
	printf("%d ", s);
	s %= 100;
	printf("%d ", s);
	s ^= 0x1ffff;
	printf("%d\n", s);
	c = 'z' + 'z';
	printf("%d %d\n", c, (c = 513));
	printf("%d %d %d\n", 1 << 64, 1 << 65, -1 >> 127);
	n = 66;
	printf("%d %d\n", 1 << n, 256LL >> n);
	exit(0);
}
