/* In quiet mode values stand without padding or newline. */
/* @opts: -q */

BEGIN
{
	trace(42);
	trace(" ");
	trace(-1);
	trace("x");
	trace(1234567890123);
	exit(0);
}
