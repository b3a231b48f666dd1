/* A bit-field has no size in bytes. */
struct pair {
	int x;
	int bits : 3;
};

BEGIN
{
	trace(sizeof(((struct pair *)alloca(8))->bits));
}
