/* There is nothing at a pointer to void. */
BEGIN
{
	trace(*(void *)alloca(8));
}
