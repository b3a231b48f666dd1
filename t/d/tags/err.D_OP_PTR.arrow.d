/* An arrow leads from a pointer. */
BEGIN
{
	trace(pid->x);
}
