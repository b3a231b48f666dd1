/* A variable points into scratch memory, or never. */
BEGIN
{
	p = alloca(8);
	p = (void *)4096;
}
