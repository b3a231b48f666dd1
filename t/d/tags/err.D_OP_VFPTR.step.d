/* A pointer to nothing of a size has no next. */
BEGIN
{
	p = (void *)alloca(8);
	p++;
}
