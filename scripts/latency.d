#!/usr/bin/env -S dtrap -qs
/*
 * latency - how long the requests take that a function handles, and how many
 *
 * usage: latency.d -c COMMAND | -p PID  MODULE FUNCTION
 *
 * Once a second the throughput: calls that returned in it.  At the end the
 * latency: microseconds from entry to return, as a distribution, with the mean,
 * the least and the most.  A call of Go is that of its goroutine, on whatever
 * threads.
 *
 *	$ latency.d -p "$(pgrep -f 'php-fpm: pool')" a.out php_execute_script
 *	^C
 *
 *	           value  ------------- Distribution ------------- count
 *	            1024 |                                         0
 *	            2048 |@@@@@@@@@@@@@@@@@@@@@@@@@@@              27
 *	            4096 |@@@@@@@@@@@@@                            13
 *	            8192 |                                         0
 *
 *	40 calls, mean 3865 us, least 2334 us, most 8004 us
 */
pid$target:$1:$2:entry
{
	this->who = goid != 0 ? (int64_t)goid : -(int64_t)tid;
	start[pid, this->who] = timestamp;
}

pid$target:$1:$2:return
{
	this->who = goid != 0 ? (int64_t)goid : -(int64_t)tid;
}

pid$target:$1:$2:return
/start[pid, this->who]/
{
	this->us = (timestamp - start[pid, this->who]) / 1000;
	@done = count();
	@n = count();
	@dist = quantize(this->us);
	@mean = avg(this->us);
	@least = min(this->us);
	@most = max(this->us);
	start[pid, this->who] = 0;
}

tick-1s
{
	printa("%@d per second\n", @done);
	clear(@done);
}

END
{
	printa(@dist);
	printa("%@d calls, mean %@d us, least %@d us, most %@d us\n", @n, @mean,
	    @least, @most);
	trunc(@done);
}
