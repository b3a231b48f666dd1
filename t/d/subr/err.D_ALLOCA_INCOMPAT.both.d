/* Nor the one first and the other later; arithmetic changes nothing. */
BEGIN
{
	p = (char *)alloca(8);
	q = p + 1;
}

BEGIN
{
	q = (char *)16;
}
