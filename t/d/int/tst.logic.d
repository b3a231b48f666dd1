/* Logical and, or, exclusive or, not. */
/* @opts: -q */

BEGIN
{
	t = 7;
	f = 0;
	printf("%d%d%d%d ", t && t, t && f, f && t, f && f);
	printf("%d%d%d%d ", t || t, t || f, f || t, f || f);
	printf("%d%d%d%d ", t ^^ t, t ^^ f, f ^^ t, f ^^ f);
	printf("%d%d%d\n", !t, !f, !!t);
	exit(0);
}
