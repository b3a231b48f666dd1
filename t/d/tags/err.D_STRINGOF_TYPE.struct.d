/* A struct is no string. */
struct pair {
	int x;
} v;

BEGIN
{
	trace(stringof(v));
}
