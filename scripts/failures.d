#!/usr/bin/env -S dtrap -qs
/*
 * failures - what a thread did before a call failed, by speculation
 *
 * usage: failures.d -c COMMAND | -p PID  MODULE FUNCTION CALL
 *
 * Inside of FUNCTION every system call is noted, but what was noted is shown
 * only if CALL failed on the way: the rest is forgotten when FUNCTION returns.
 *
 *	$ failures.d -c './work-files d 1 1 0 0' a.out main openat
 *	main in thread 11989:
 *	        openat = 3
 *	        close = 0
 *	        openat = -1 ENOENT
 *	...
 */
#pragma D option nspec=16
#pragma D option cleanrate=100hz

pid$target:$1:$2:entry
{
	self->spec = speculation();
	self->failed = 0;
}

pid$target:$1:$2:entry
/self->spec/
{
	speculate(self->spec);
	printf("%s in thread %d:\n", probefunc, tid);
}

syscall:::return
/self->spec/
{
	speculate(self->spec);
	printf("\t%s = %d%s\n", probefunc, errno != 0 ? -1 : (int)arg0,
	    errno != 0 ? strjoin(" ", errno_name[errno]) : "");
}

syscall::$3:return
/self->spec && errno != 0/
{
	self->failed = errno;
}

pid$target:$1:$2:return
/self->spec && self->failed/
{
	commit(self->spec);
}

pid$target:$1:$2:return
/self->spec && !self->failed/
{
	discard(self->spec);
}

pid$target:$1:$2:return
{
	self->spec = 0;
}
