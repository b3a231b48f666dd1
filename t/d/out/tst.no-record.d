/* A clause that only computes prints its line all the same. */

BEGIN
{
	x = 1;
}

BEGIN
{
	exit(x - 1);
}
