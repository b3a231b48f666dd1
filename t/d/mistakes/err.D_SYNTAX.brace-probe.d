/* A brace is missing before another clause. */
BEGIN
{
	a = 1;

syscall::read:entry
/pid == 3/
{
	trace(a);
}
