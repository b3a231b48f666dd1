/* Larger than all scratch memory. */
BEGIN
{
	p = alloca(100000000);
}
