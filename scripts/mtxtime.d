#!/usr/bin/env -S dtrap -qs
/*
 * mtxtime - how long it takes to get a mutex, by stack
 *
 * usage: mtxtime.d -c COMMAND | -p PID
 *
 * At the end, for each stack that called pthread_mutex_lock or
 * pthread_mutex_timedlock: the nanoseconds until it had the mutex, as a
 * distribution.  The trap itself is in the smallest of them: what matters are
 * the large ones.
 *
 *	$ mtxtime.d -c './work-handoff 5 3'
 *	...
 *	              libc.so.6`pthread_mutex_lock+0x73
 *	              work-handoff`put+0x17
 *	              work-handoff`main+0xd9
 *	              libc.so.6`__libc_start_call_main+0x7a
 *	              libc.so.6`__libc_start_main+0x85
 *	              work-handoff`_start+0x21
 *
 *	           value  ------------- Distribution ------------- count
 *	           65536 |                                         0
 *	          131072 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1
 *	          262144 |                                         0
 *	...
 */
#pragma D option ustackframes=8

pid$target:libc:pthread_mutex_lock:entry,
pid$target:libc:pthread_mutex_timedlock:entry
{
	self->start = timestamp;
}

pid$target:libc:pthread_mutex_lock:return,
pid$target:libc:pthread_mutex_timedlock:return
/self->start && arg1 == 0/
{
	@[ustack()] = quantize(timestamp - self->start);
}

pid$target:libc:pthread_mutex_lock:return,
pid$target:libc:pthread_mutex_timedlock:return
{
	self->start = 0;
}
