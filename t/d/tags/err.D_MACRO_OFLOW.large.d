/* An argument that is a number has 64 bits. */
/* @args: 99999999999999999999 */
BEGIN
{
	trace($1);
}
