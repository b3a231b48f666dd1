struct one {
	int a;
} x;
struct two {
	long a;
} y;

BEGIN
{
	held[x] = 1;
	held[y] = 2;
}
