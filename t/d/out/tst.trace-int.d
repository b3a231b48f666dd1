/* Integers are as wide as their type is. */

BEGIN
{
	trace(42);
	trace(-42);
	trace(1234567890123);
	trace((short)12);
	trace((char)65);
	exit(0);
}
