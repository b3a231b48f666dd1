/* The first use of a global may be an increment. */
/* @opts: -q */

BEGIN
{
	n++;
	n++;
	total += 5;
	printf("%d %d\n", n, total);
	exit(0);
}
