#!/usr/bin/env -S dtrap -qs
/*
 * offcpu - where threads wait: time without a processor, by stack
 *
 * usage: offcpu.d -c COMMAND | -p PID
 *
 * At the end, a line for each stack from which threads have waited, the outermost
 * function first, with microseconds: the input of flamegraph.pl.  A wait counts
 * when it is over.  No thread is stopped, so the stack of a wait of less than some
 * milliseconds may be [not seen], and so is that of a thread that could have run.
 *
 *	$ offcpu.d -c 'sleep 0.2'
 *	...
 *	sleep;sleep`sub_2600;libc.so.6`__libc_start_main; ... ;libc.so.6`nanosleep;libc.so.6`clock_nanosleep 200692
 */
#pragma D option stackformat=folded
#pragma D option ustackframes=100

sched:::off-cpu
{
	self->off = timestamp;
}

sched:::on-cpu
/self->off/
{
	@[execname, ustack()] = sum(timestamp - self->off);
	self->off = 0;
}

END
{
	normalize(@, 1000);
	printa("%s;%k %@d\n", @);
}
