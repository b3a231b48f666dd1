/* One variable cannot hold what may point into scratch, and may not. */
int i;

BEGIN
{
	p = (char *)alloca(8);
	q = (i == 0 ? p : (char *)16) + 1;
}
