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
 * by longjmp or an exception is not counted.  What tracing costs is in it:
 * compare the rows.
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
	self->depth++;
	self->start[self->depth] = timestamp;
	self->inner[self->depth] = 0;
	self->active[probefunc]++;
}

pid$target:$1:$2:return
/self->depth && self->start[self->depth]/
{
	this->took = timestamp - self->start[self->depth];
	@n[probefunc] = count();
	@own[probefunc] = sum(this->took - self->inner[self->depth]);
	self->active[probefunc]--;
	@all[probefunc] =
	    sum(self->active[probefunc] == 0 ? this->took : 0);
	self->start[self->depth] = 0;
	self->inner[self->depth] = 0;
	self->depth--;
	self->inner[self->depth] += this->took;
}

END
{
	normalize(@all, 1000);
	normalize(@own, 1000);
	printf("%-40s %9s %13s %13s\n", "FUNCTION", "CALLS", "INCLUSIVE",
	    "EXCLUSIVE");
	printa("%-40s %@9d %@13d %@13d\n", @n, @all, @own);
}
