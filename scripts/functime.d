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
 *	FUNCTION                                     CALLS INCLUSIVE(us) EXCLUSIVE(us)
 *	outer                                            5         35584           454
 *	slow                                             5         13104         13104
 *	inner                                           10         22026         22026
 */
#pragma D option aggsortpos=2

int64_t top[pid_t, int64_t];		  /* the call that is innermost */
int64_t outer[pid_t, int64_t, int64_t];	  /* the one around it */
int64_t first[pid_t, int64_t, string];	  /* the outermost of a function */

/* A call is known by the place of its frame, which is the same when it returns;
 * of a goroutine, whose stack is moved, by how deep it is.  The outer of two is
 * the greater. */
pid$target:$1:$2:entry
{
	this->who = goid != 0 ? (int64_t)goid : -(int64_t)tid;
	depth[pid, this->who] += goid != 0;
	this->at = goid != 0 ? -depth[pid, this->who] : (int64_t)uregs[R_SP];
	start[pid, this->who, this->at] = timestamp;
	inner[pid, this->who, this->at] = 0;
	this->up = top[pid, this->who];
	this->first = first[pid, this->who, probefunc];
}

/* What an exception has left is not outside of this call: its frame is gone. */
pid$target:$1:$2:entry
/this->up && this->up <= this->at/
{
	this->up = outer[pid, this->who, this->up];
}

pid$target:$1:$2:entry
/this->up && this->up <= this->at/
{
	this->up = outer[pid, this->who, this->up];
}

pid$target:$1:$2:entry
/this->up && this->up <= this->at/
{
	this->up = 0;
}

pid$target:$1:$2:entry
{
	outer[pid, this->who, this->at] = this->up;
	top[pid, this->who] = this->at;
	first[pid, this->who, probefunc] =
	    this->first && this->first > this->at ? this->first : this->at;
}

pid$target:$1:$2:return
{
	this->who = goid != 0 ? (int64_t)goid : -(int64_t)tid;
	this->at = goid != 0 ? -depth[pid, this->who] : (int64_t)uregs[R_SP];
}

pid$target:$1:$2:return
/this->at && start[pid, this->who, this->at]/
{
	this->took = timestamp - start[pid, this->who, this->at];
	this->first = first[pid, this->who, probefunc];
	this->up = outer[pid, this->who, this->at];
	@n[probefunc] = count();
	@own[probefunc] = sum(this->took - inner[pid, this->who, this->at]);
	@all[probefunc] = sum(this->first == this->at ? this->took : 0);
	first[pid, this->who, probefunc] =
	    this->first == this->at ? 0 : this->first;
	start[pid, this->who, this->at] = 0;
	inner[pid, this->who, this->at] = 0;
	outer[pid, this->who, this->at] = 0;
	top[pid, this->who] = this->up;
	inner[pid, this->who, this->up] += this->up ? this->took : 0;
	depth[pid, this->who] -= goid != 0;
}

END
{
	normalize(@all, 1000);
	normalize(@own, 1000);
	printf("%-40s %9s %13s %13s\n", "FUNCTION", "CALLS", "INCLUSIVE(us)",
	    "EXCLUSIVE(us)");
	printa("%-40s %@9d %@13d %@13d\n", @n, @all, @own);
}
