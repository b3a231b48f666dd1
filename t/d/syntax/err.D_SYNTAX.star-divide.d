/* Two operators in a row, that are not the end of a comment. */
BEGIN
{
	i = 1;
	i */= 2;
}
