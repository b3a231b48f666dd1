/* Only structs and unions have members. */
BEGIN
{
	trace(offsetof(int, x));
}
