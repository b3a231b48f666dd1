/* Every assignment operator. */
/* @opts: -q */

BEGIN
{
	x = 100;
	x += 7; printf("%d ", x);
	x -= 9; printf("%d ", x);
	x *= 3; printf("%d ", x);
	x /= 4; printf("%d ", x);
	x %= 40; printf("%d ", x);
	x <<= 3; printf("%d ", x);
	x >>= 1; printf("%d ", x);
	x |= 3; printf("%d ", x);
	x &= 0x3e; printf("%d ", x);
	x ^= 0xff; printf("%d\n", x);
	exit(0);
}
