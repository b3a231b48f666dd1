/* tick-10ms fires, and again. */
/* @opts: -q */

tick-10ms
{
	printf("%s %s\n", probeprov, probename);
	n++;
}

tick-10ms
/n == 3/
{
	exit(0);
}
