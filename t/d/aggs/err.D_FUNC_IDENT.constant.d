/* What is called is a name. */
BEGIN
{
	@ = pid - 1();
}
