/* The library of usdt.c: a probe in it, with its semaphore. */
#include "usdt-d.h"

int lib(int n);

int
lib(int n)
{
	int watched = USDT_LIB_CALL_ENABLED();

	USDT_LIB_CALL(n + 1000);
	return watched;
}
