/* More than a speculation can have is as much as it can have. */
/* @opts: -q -x specsize=100t */

BEGIN
{
	s = speculation();
}

BEGIN
{
	speculate(s);
	trace(1234);
}

BEGIN
{
	commit(s);
}

BEGIN
{
	exit(0);
}
