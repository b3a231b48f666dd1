/*
 * A library of swap: work() calls SWAP, which calls back.  Built several times
 * with SWAP another name each, so that all are the same but for that.
 */
int SWAP(int (*tell)(int), int n);
int work(int (*tell)(int), int n);

__attribute__((noinline)) int
SWAP(int (*tell)(int), int n)
{
	return tell(n) + 1;
}

int
work(int (*tell)(int), int n)
{
	int r = SWAP(tell, n);

	__asm__ volatile("" ::: "memory");
	return r;
}
