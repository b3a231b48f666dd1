/* A macro variable that is not known. */

BEGIN
{
	trace($nosuch);
}
