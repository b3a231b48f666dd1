/* A program's own types by their full names; arrays of unknown length. */
extern int table[];
struct pair {
	int first;
	long second;
};
self x;

BEGIN
{
	trace(offsetof(struct D`pair, second));
	exit(0);
}
