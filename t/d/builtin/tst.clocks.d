/*
 * The clocks stand still within a firing and go forward between two.
 * @opts: -q
 */

BEGIN
{
	this->t = timestamp;
	self->v = vtimestamp;
	start = timestamp;
	wall = walltimestamp;
	printf("%d %d\n", this->t == timestamp, wall == walltimestamp);
}

tick-1ms
{
	/* 2020 to 2100 */
	printf("%d %d\n", timestamp > start, walltimestamp >= wall);
	printf("%d\n", wall / 1000000000 > 1577836800 &&
	    wall / 1000000000 < 4102444800);
	exit(0);
}
