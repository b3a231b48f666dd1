/* A bit-field has no address. */
struct pair {
	int x;
	int bits : 3;
};

BEGIN
{
	trace(&((struct pair *)alloca(8))->bits);
}
