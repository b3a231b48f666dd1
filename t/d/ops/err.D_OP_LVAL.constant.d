/* Nor can a constant. */

BEGIN
{
	1 = 2;
}
