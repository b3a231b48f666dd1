/* A tick outside of any traced process is in the tracer: arg1 is a place in it,
 * and there is no kernel to have one for arg0. */
/* @opts: -q */

tick-1ms
{
	printf("%d %d %d %d\n", pid == $pid, arg0 == 0, arg1 != 0, arg2);
	exit(0);
}
