/* Less of it is a number. */
BEGIN
{
	tracemem(alloca(8), 8, "a");
}
