/* What the address depends on is done once. */
/* @opts: -q */

BEGIN
{
	p = (int *)alloca(8);
	p[0] = 10;
	p[1] = 20;
	i = 0;
	print(&p[i++]);
	print(&p[i++]);
	trace(i);
	exit(0);
}
