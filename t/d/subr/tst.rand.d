/* 32 bits, and not negative: a remainder is not either. */
/* @opts: -q */

BEGIN
{
	x = rand();
	printf("%d %d %d %d\n", (int)sizeof (rand()), x < 0, x == rand(),
	    x % 10 >= 0 && x % 10 <= 9);
	exit(0);
}
