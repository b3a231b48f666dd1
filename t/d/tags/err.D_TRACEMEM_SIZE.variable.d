/* As much as is known before. */
BEGIN
{
	tracemem(alloca(8), pid);
}
