#!/usr/bin/env -S dtrap -qs
/*
 * slowfunc - calls of a function that take long, with the stack that made them
 *
 * usage: slowfunc.d -c COMMAND | -p PID  MODULE FUNCTION MICROSECONDS
 *
 * One block for each call that took at least so long: what it was, its first
 * four arguments and its result, and who called.  At the end, how all calls are
 * distributed.  A call of Go is that of its goroutine, on whatever threads.
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
	this->who = goid != 0 ? (int64_t)goid : -(int64_t)tid;
	start[pid, this->who] = timestamp;
	a0[pid, this->who] = arg0;
	a1[pid, this->who] = arg1;
	a2[pid, this->who] = arg2;
	a3[pid, this->who] = arg3;
}

pid$target:$1:$2:return
{
	this->who = goid != 0 ? (int64_t)goid : -(int64_t)tid;
	this->us = 0;
}

pid$target:$1:$2:return
/start[pid, this->who]/
{
	this->us = (timestamp - start[pid, this->who]) / 1000;
	@[probefunc, "microseconds"] = quantize(this->us);
	start[pid, this->who] = 0;
}

pid$target:$1:$2:return
/this->us >= $3/
{
	printf("%s(0x%x, 0x%x, 0x%x, 0x%x) = 0x%x: %d us, thread %d", probefunc,
	    a0[pid, this->who], a1[pid, this->who], a2[pid, this->who],
	    a3[pid, this->who], arg1, this->us, tid);
	ustack();
	printf("\n");
}

pid$target:$1:$2:return
{
	a0[pid, this->who] = 0;
	a1[pid, this->who] = 0;
	a2[pid, this->who] = 0;
	a3[pid, this->who] = 0;
}
