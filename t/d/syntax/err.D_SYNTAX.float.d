/* Constants with a fraction are not known. */

BEGIN
{
	trace(1.5);
}
