#!/usr/bin/env -S dtrap -qs
/*
 * slowfunc - calls of a function that take long, with the stack that made them
 *
 * usage: slowfunc.d -c COMMAND | -p PID  MODULE FUNCTION MICROSECONDS
 *
 * One block for each call that took at least so long: what it was, its first
 * four arguments and its result, and who called.  At the end, how all calls are
 * distributed.
 *
 *	$ slowfunc.d -c './work-calls 2' a.out slow 2000
 *	slow(0x1, 0x0, 0x0, 0x0) = 0x0: 2080 us, thread 12113
 *	              work-calls`slow+0x9f
 *	              work-calls`outer+0x10
 *	              work-calls`main+0x1a
 *	...
 */
pid$target:$1:$2:entry
{
	self->start = timestamp;
	self->a0 = arg0;
	self->a1 = arg1;
	self->a2 = arg2;
	self->a3 = arg3;
}

pid$target:$1:$2:return
/self->start/
{
	this->us = (timestamp - self->start) / 1000;
	@[probefunc, "microseconds"] = quantize(this->us);
	self->start = 0;
}

pid$target:$1:$2:return
/this->us >= $3/
{
	printf("%s(0x%x, 0x%x, 0x%x, 0x%x) = 0x%x: %d us, thread %d", probefunc,
	    self->a0, self->a1, self->a2, self->a3, arg1, this->us, tid);
	ustack();
	printf("\n");
}
