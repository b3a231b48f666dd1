/* A constant past 64 bits. */

BEGIN
{
	trace(18446744073709551616);
}
