/* Either branch may be a pointer into scratch as long as it is not kept. */
/* @opts: -q */

int i;

BEGIN
{
	p = (char *)alloca(8);
	*p = 'p';
	printf("%c %d\n", *(i == 0 ? p : (char *)16),
	    (int)(uint64_t)(i == 1 ? p : (char *)16));
	q = i == 0 ? p : NULL;
	printf("%c\n", *q);
	exit(0);
}
