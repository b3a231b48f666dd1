/* From what no translator knows. */
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
	trace(xlate <struct out> (1).b);
}
