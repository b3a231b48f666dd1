/* Calls a function of libctor.so that its constructor has called before. */
#include "trigger.h"

long from_ctor(long n);
extern long ctor_calls;

int
main(void)
{
	trigger_init();
	from_ctor(1);
	printf("calls %ld\n", ctor_calls);
	return 0;
}
