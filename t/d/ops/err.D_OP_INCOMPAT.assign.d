/* A number is not a string. */

BEGIN
{
	x = 1;
	x = "one";
}
