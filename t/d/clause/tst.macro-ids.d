/* The ids of the tracer. */
/* @opts: -q */

BEGIN
{
	printf("%d %d %d\n", $pid > 1, $ppid > 0, $uid == $euid);
	exit(0);
}
