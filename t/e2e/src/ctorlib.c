/* A library whose constructor makes the first call of its function. */
long ctor_calls;

__attribute__((noinline, noclone)) long
from_ctor(long n)
{
	ctor_calls++;
	return n * 3;
}

static __attribute__((constructor)) void
begin(void)
{
	from_ctor(14);
}
