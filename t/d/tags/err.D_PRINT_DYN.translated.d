/* What a translator gives has members and no bytes. */
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
	print(xlate <struct out *> ((struct in *)alloca(4)));
}
