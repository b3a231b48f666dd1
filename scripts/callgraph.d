#!/usr/bin/env -S dtrap -Fs
/*
 * callgraph - the tree of calls below a function, with results
 *
 * usage: callgraph.d -c COMMAND | -p PID  MODULE FUNCTION
 *
 * From each entry of FUNCTION to its return: the functions of MODULE (which may
 * be a pattern; a.out is the program itself) that the thread calls, indented by
 * depth, and what each returned.
 *
 *	$ callgraph.d -c './work-calls 1' a.out outer
 *	CPU FUNCTION
 *	  0  -> outer
 *	  0    -> inner
 *	  0    <- inner                                                  0
 *	  0    -> slow
 *	  0    <- slow                                                   0
 *	  0    -> inner
 *	  0    <- inner                                                  0
 *	  0  <- outer                                                 9935
 */
pid$target:$1::entry
/probefunc == $$2/
{
	self->inside++;
}

pid$target:$1::entry
/self->inside/
{
}

pid$target:$1::return
/self->inside/
{
	trace(arg1);
}

pid$target:$1::return
/self->inside && probefunc == $$2/
{
	self->inside--;
}
