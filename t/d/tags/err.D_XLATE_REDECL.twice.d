/* One translator for a pair of types. */
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

translator struct out < struct in *p > {
	b = p->a;
};

BEGIN
{
	exit(0);
}
