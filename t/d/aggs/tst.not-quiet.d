/* Aggregations follow the records, after an empty line. */

BEGIN
{
	@a = count();
	exit(0);
}
