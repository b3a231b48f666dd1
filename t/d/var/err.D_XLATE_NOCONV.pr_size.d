/* A member of psinfo_t for which nothing is known is refused by name. */

BEGIN
{
	trace(curpsinfo->pr_size);
}
