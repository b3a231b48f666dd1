/* An address of that family, not any four integers. */
int *p;

BEGIN
{
	p = alloca(16);
	trace(inet_ntoa6(p));
}
