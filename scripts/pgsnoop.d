#!/usr/bin/env -S dtrap -qs
/*
 * pgsnoop - the queries of PostgreSQL and how long each of them took
 *
 * usage: pgsnoop.d [-p PID]...
 *
 * One line for each query when it is done: the time in microseconds, of that
 * planning and executing, and its text.  Without -p, every server process is
 * found that we may trace; with the postmaster's process, those that it starts
 * are.  At the end, how the times are distributed.  It watches the static probes
 * that PostgreSQL has as most distributions build it (--enable-dtrace).
 *
 *	$ pgsnoop.d -p "$(pgrep -xo postgres)"
 *	    PID   TIME(us)       PLAN    EXECUTE QUERY
 *	  14045       1150        302         35 select name from item where id = 1
 *	  14045        139         33         16 select name from item where id = 2
 *	  14045        133         32         18 select name from item where id = 3
 *	  14045        261         42         81 select count(*) from item
 *	...
 */
BEGIN
{
	printf("%7s %10s %10s %10s %s\n", "PID", "TIME(us)", "PLAN", "EXECUTE",
	    "QUERY");
}

postgresql*:::query-start
{
	self->start = timestamp;
	self->text = copyinstr(arg0);
	self->plan = 0;
	self->execute = 0;
}

postgresql*:::query-plan-start,
postgresql*:::query-execute-start
/self->start/
{
	self->at = timestamp;
}

postgresql*:::query-plan-done
/self->at/
{
	self->plan += timestamp - self->at;
	self->at = 0;
}

postgresql*:::query-execute-done
/self->at/
{
	self->execute += timestamp - self->at;
	self->at = 0;
}

postgresql*:::query-done
/self->start/
{
	this->took = timestamp - self->start;
	printf("%7d %10d %10d %10d %s\n", pid, this->took / 1000,
	    self->plan / 1000, self->execute / 1000, self->text);
	@["microseconds"] = quantize(this->took / 1000);
	self->start = 0;
	self->text = 0;
}
