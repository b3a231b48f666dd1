/* Conversions take their arguments in order. */

BEGIN
{
	printf("%2$d", 1, 2);
}
