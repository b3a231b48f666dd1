/* A value is the same whether it is known when the program is read or not. */
/* @opts: -q */

BEGIN
{
	m = -1;
	u = 0xffffffff;
	one = 1U;
	seven = -7;
	two = 2U;
	printf("%d %d\n", -1 == 0xffffffff, m == u);
	printf("%d %d\n", -1 < 1U, m < one);
	printf("%d %d\n", -7 / 2U, seven / two);
	printf("%d %d\n", -7 % 2U, seven % two);
	printf("%d %d\n", -7 / 2, seven / 2);
	printf("%d %d\n", -7 % 2, seven % 2);
	printf("%d %d\n", -7 >> 1, seven >> 1);
	printf("%d %d\n", -1 > 1ULL, m > 1ULL);
	printf("%d %d\n", (char)-1 == (unsigned char)255,
	    (char)m == (unsigned char)u);
	exit(0);
}
