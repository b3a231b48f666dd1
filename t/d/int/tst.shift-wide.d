/* What is shifted out of an int is there for who takes 64 bits. */
/* @opts: -q */

BEGIN
{
	n = 31;
	int64 = (int64_t)0;
	int32 = 0;
	int64 = 1 << n;
	int32 = 1 << n;
	printf("%d %d %d\n", int64, -(int64_t)(1 << n), int32);
	int64 = 1U << n << 1;
	printf("%d\n", int64);
	exit(0);
}
