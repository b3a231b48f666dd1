/* A built-in variable cannot be assigned. */

BEGIN
{
	timestamp = 1;
}
