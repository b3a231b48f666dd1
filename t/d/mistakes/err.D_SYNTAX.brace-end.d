/* A brace of an if is missing before another clause. */
BEGIN
{
	if (pid == 1) {
		a = 1;
}

END
{
	trace(a);
}
