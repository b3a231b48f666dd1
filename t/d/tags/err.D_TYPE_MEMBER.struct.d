/* A member that the struct has not. */
struct pair {
	int x;
	int bits : 3;
};

BEGIN
{
	trace(((struct pair *)alloca(8))->z);
}
