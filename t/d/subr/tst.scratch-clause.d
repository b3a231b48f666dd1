/* What a clause allocates is gone for the next one, which gets it anew. */
/* @opts: -q */

BEGIN
{
	p = (char *)alloca(8);
	*p = 'x';
	printf("%c\n", *p);
}

BEGIN
{
	printf("%c\n", *p);
}

BEGIN
{
	q = (char *)alloca(8);
	printf("%d %d\n", p == q, *q);
	exit(0);
}

ERROR
{
	printf("fault %d\n", (int)arg4);
}
