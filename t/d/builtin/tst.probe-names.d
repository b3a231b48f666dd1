/*
 * The four names of the probe, its number, and the enabling's.
 * @opts: -q
 */

unsigned int last;

BEGIN, tick-1ms
{
	printf("%s|%s|%s|%s\n", probeprov, probemod, probefunc, probename);
	this->same = epid == last;
	last = epid;
	ids[id] = 1;
}

BEGIN
{
	printf("%d\n", ids[id]);
}

tick-1ms
{
	printf("%d %d\n", ids[id], this->same);
	exit(0);
}
