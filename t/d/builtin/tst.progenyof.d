/* A process is among its own progeny and its parent's, not its children's. */
/* @opts: -q */

BEGIN
{
	printf("%d %d %d\n", progenyof(pid), progenyof($ppid),
	    progenyof(0x7fffffff));
	exit(0);
}
