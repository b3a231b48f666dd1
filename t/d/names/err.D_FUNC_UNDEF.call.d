/* A function that is not known. */

BEGIN
{
	nosuch(1);
}
