/*
 * Division by zero: a message, nothing printed by that clause, and on it
 * goes.
 */
/* @opts: -q */

BEGIN
{
	zero = 0;
	printf("lost");
	trace(1 / zero);
}

BEGIN
{
	printf("next\n");
	exit(0);
}
