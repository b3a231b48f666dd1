/*
 * blocks: at a line it blocks all signals, and lets them in again, some times, and
 * ends.
 */
#include <signal.h>

#include "trigger.h"

int
main(void)
{
	sigset_t all, before, now;
	int wrong = 0;

	trigger_init();
	sigfillset(&all);
	trigger_wait();
	for (int i = 0; i < 10; i++) {
		sigprocmask(SIG_SETMASK, &all, &before);
		wrong += sigismember(&before, SIGTRAP) != 0;
		sigprocmask(SIG_BLOCK, NULL, &now);
		wrong += sigismember(&now, SIGTRAP) != 1;
		sigprocmask(SIG_SETMASK, &before, &now);
		wrong += sigismember(&now, SIGTRAP) != 1;
	}
	printf("done wrong %d\n", wrong);
	return 0;
}
