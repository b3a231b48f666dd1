/* A predicate must be a number. */

BEGIN
/"yes"/
{
	exit(0);
}
