#!/usr/bin/env -S dtrap -qZs
/*
 * topphp - the functions of PHP: how often, how long, for which request
 *
 * usage: topphp.d [-p PID]... | -c COMMAND
 *
 * At the end, by function (with its class) and request: calls, and the mean time
 * from entry to return in microseconds.  PHP has its probes only if it was
 * started with USE_ZEND_DTRACE=1 in the environment.
 *
 *	$ topphp.d -p "$(pgrep -f 'php-fpm: pool')"
 *	^C
 *	FUNCTION                                 REQUEST                             CALLS   MEAN(us)
 *	page                                     /shop                                   2       1996
 *	Store::__construct                       /shop                                   2       4314
 *	main                                     /shop                                   2       6473
 *	...
 *	Store::price                             /shop                                   6         39
 *	Store::ask                               /stand                                  6        455
 *	Store::ask                               /shop                                   8        279
 */
php*:::request-startup
{
	self->uri = copyinstr(arg1);
	self->depth = 0;
}

php*:::function-entry
{
	self->start[self->depth++] = timestamp;
}

php*:::function-return
/self->depth > 0/
{
	this->func = strjoin(copyinstr(arg3),
	    strjoin(copyinstr(arg4), copyinstr(arg0)));
	this->took = timestamp - self->start[--self->depth];
	@n[this->func, self->uri] = count();
	@us[this->func, self->uri] = avg(this->took / 1000);
	self->start[self->depth] = 0;
}

END
{
	printf("%-40s %-32s %8s %10s\n", "FUNCTION", "REQUEST", "CALLS",
	    "MEAN(us)");
	printa("%-40s %-32s %@8d %@10d\n", @n, @us);
}
