#!/usr/bin/env -S dtrap -qs
/*
 * functime - the time of functions: with and without what they call
 *
 * usage: functime.d -c COMMAND | -p PID  MODULE FUNCTION
 *
 * MODULE and FUNCTION may be patterns: functime.d -p 42 a.out 'parse_*'.  At the
 * end, for each function that was called: how often, and the time in
 * microseconds from its entry to its return: inclusive, and exclusive of the
 * other functions of the pattern.  A function that calls itself has its
 * inclusive time counted once, from the outermost call.  A function that is left
 * by longjmp or an exception is not counted.  A call of Go is that of its
 * goroutine, on whatever threads.  What tracing costs is in it: compare the rows.
 *
 *	$ functime.d -c './work-calls 5' a.out '[osi]*'
 *	FUNCTION                                     CALLS     INCLUSIVE     EXCLUSIVE
 *	outer                                            5         35584           454
 *	slow                                             5         13104         13104
 *	inner                                           10         22026         22026
 */
#pragma D option aggsortpos=2

pid$target:$1:$2:entry
{
	this->who = goid != 0 ? (int64_t)goid : -(int64_t)tid;
	depth[pid, this->who]++;
	this->d = depth[pid, this->who];
	start[pid, this->who, this->d] = timestamp;
	inner[pid, this->who, this->d] = 0;
	active[pid, this->who, probefunc]++;
}

pid$target:$1:$2:return
{
	this->who = goid != 0 ? (int64_t)goid : -(int64_t)tid;
	this->d = depth[pid, this->who];
}

pid$target:$1:$2:return
/this->d && start[pid, this->who, this->d]/
{
	this->took = timestamp - start[pid, this->who, this->d];
	@n[probefunc] = count();
	@own[probefunc] = sum(this->took - inner[pid, this->who, this->d]);
	active[pid, this->who, probefunc]--;
	@all[probefunc] =
	    sum(active[pid, this->who, probefunc] == 0 ? this->took : 0);
	start[pid, this->who, this->d] = 0;
	inner[pid, this->who, this->d] = 0;
	depth[pid, this->who]--;
	inner[pid, this->who, this->d - 1] += this->d > 1 ? this->took : 0;
}

END
{
	normalize(@all, 1000);
	normalize(@own, 1000);
	printf("%-40s %9s %13s %13s\n", "FUNCTION", "CALLS", "INCLUSIVE",
	    "EXCLUSIVE");
	printa("%-40s %@9d %@13d %@13d\n", @n, @all, @own);
}
