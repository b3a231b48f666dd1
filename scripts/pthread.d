#!/usr/bin/env -S dtrap -qs
/*
 * pthread - threads that begin and end, and what they wait for
 *
 * usage: pthread.d -c COMMAND | -p PID
 *
 * One line for each pthread_create and pthread_join, and for each call that
 * takes or leaves a mutex or waits for or signals a condition, with the object
 * as a symbol and the function that called.
 *
 *	$ pthread.d -c './work-handoff 1 1'
 *	...
 *	[12290] pthread_mutex_lock:entry work-handoff`queue_lock [55b9b05cc080] from work-handoff`put+0x17
 *	[12290] pthread_mutex_lock:return work-handoff`queue_lock [55b9b05cc080] from work-handoff`put+0x17
 *	[12291] pthread_mutex_lock:entry work-handoff`queue_lock [55b9b05cc080] from work-handoff`take+0x15
 *	...
 */
pid$target:libc:pthread_create:entry
{
	self->thread = arg0;
	self->func = arg2;
	self->arg = arg3;
}

pid$target:libc:pthread_create:return
/self->thread/
{
	printf("[%d] pthread_create %x %A(%x) = %d\n", tid,
	    *(uint64_t *)copyin(self->thread, 8), self->func, self->arg,
	    (int)arg1);
	self->thread = 0;
}

pid$target:libc:pthread_join:entry
{
	self->joined = arg0;
	printf("[%d] pthread_join %x\n", tid, arg0);
}

pid$target:libc:pthread_join:return
{
	printf("[%d] pthread_join:return %x\n", tid, self->joined);
}

pid$target:libc:pthread_mutex_lock:entry,
pid$target:libc:pthread_cond_wait:entry,
pid$target:libc:pthread_cond_timedwait:entry
{
	self->object = arg0;
	self->from = ucaller;
}

pid$target:libc:pthread_mutex_lock:entry,
pid$target:libc:pthread_mutex_unlock:entry,
pid$target:libc:pthread_cond_signal:entry,
pid$target:libc:pthread_cond_broadcast:entry,
pid$target:libc:pthread_cond_wait:entry,
pid$target:libc:pthread_cond_timedwait:entry
{
	printf("[%d] %s:%s %A [%p] from %A\n", tid, probefunc, probename, arg0,
	    arg0, ucaller);
}

pid$target:libc:pthread_mutex_lock:return,
pid$target:libc:pthread_cond_wait:return,
pid$target:libc:pthread_cond_timedwait:return
/self->object/
{
	printf("[%d] %s:%s %A [%p] from %A\n", tid, probefunc, probename,
	    self->object, self->object, self->from);
	self->object = 0;
}
