/* The format must be known. */

BEGIN
{
	s = "x";
	printf(s);
}
