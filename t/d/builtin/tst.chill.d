/*
 * Waiting stays within half a second of each; the clause's time is that of its
 * beginning.
 */
/* @opts: -q -w */

BEGIN
{
	this->t = timestamp;
	chill(1000000);
	printf("%d\n", this->t == timestamp);
	t = timestamp;
}

BEGIN
{
	chill(500000001);
	printf("never\n");
}

BEGIN
{
	chill(-1);
	printf("never\n");
}

ERROR
{
	printf("fault %d\n", (int)arg4);
}

tick-1ms
{
	printf("%d\n", timestamp - t >= 1000000);
	exit(0);
}
