/* Every loss is counted, under its tag: firings, entries, speculations. */
/* @opts: -q -x droptags -b 64 -x aggsize=112 -x specsize=16 */

BEGIN
{
	trace(1);
}

BEGIN
{
	trace(2);
}

BEGIN
{
	trace(3);
}

BEGIN
{
	trace(4);
}

BEGIN
{
	@[1] = count();
	@[2] = count();
	@[3] = count();
	@[4] = count();
}

BEGIN
{
	s = speculation();
	none = speculation();
}

BEGIN
{
	speculate(s);
	trace(5);
}

tick-1ms
{
	exit(0);
}
