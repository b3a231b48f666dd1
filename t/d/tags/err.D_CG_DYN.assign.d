/* What an aggregation is assigned is no value. */
BEGIN
{
	x = 1;
	x = (@a = count());
}
