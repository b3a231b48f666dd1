/* Assigning 0 takes an element away; it can come back. */
/* @opts: -q */

BEGIN
{
	a[7] = 1;
	a[7] = 0;
	printf("%d ", a[7]);
	a[7] = 2;
	printf("%d\n", a[7]);
	exit(0);
}
