/* An expression with a hole. */

BEGIN
{
	x = 1 + ;
}
