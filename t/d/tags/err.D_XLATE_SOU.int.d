/* To what has no members. */
struct in {
	int a;
};
struct out {
	int b;
	int c;
};

translator struct out < struct in *p > {
	b = p->a;
};

BEGIN
{
	trace(xlate <int> (1));
}
