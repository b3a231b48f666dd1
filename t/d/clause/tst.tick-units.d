/* Ticks in other units. */
/* @opts: -q */

tick-500us { a = 1; }
tick-1000hz { b = 1; }
tick-2000000ns { c = 1; }
profile:::tick-1msec { d = 1; }

tick-1ms
/a && b && c && d/
{
	printf("all\n");
	exit(0);
}
