/* What is in these braces is no member: that the struct is there comes first. */
struct in {
	int a;
};

struct out {
	int b;
};

translator struct out
{
	struct in *p
}
{
	b = p->a;
};
