/*
 * dynvarsize counts keys and values: an int by an int is 16 bytes, so two fit.
 * Zero to an absent element takes no room, and to one that is there gives its
 * room back.
 */
/* @opts: -q -x dynvarsize=40 */

BEGIN
{
	a[1] = 1;
	a[2] = 2;
	a[9] = 0;
	a[1] = 0;
	a[3] = 3;
	printf("%d %d %d\n", a[1], a[2], a[3]);
	exit(0);
}
