/* A brace is missing before another clause. */
BEGIN
{
	a = 1;

tick-1s, profile-997
{
	trace(a);
}
