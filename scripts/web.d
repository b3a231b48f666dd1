#!/usr/bin/env -S dtrap -qZs
/*
 * web - a request on its way through the web server, PHP and PostgreSQL
 *
 * usage: web.d [-p PID]...
 *
 * Requests, functions and errors of PHP, and the queries of PostgreSQL, as they
 * come, of every process that we may trace or of those named.  PHP has its
 * probes only if it was started with USE_ZEND_DTRACE=1 in the environment.
 *
 * nginx and Apache have no probes: they have to be named, and what they read
 * and write is looked at.  Of an encrypted connection nothing is seen.
 *
 *	$ web.d -p "$(pgrep -f 'nginx: worker')" -p "$(pgrep -f 'php-fpm: pool')" \
 *	    -p "$(pgrep -xo postgres)"
 *	[nginx 13957] request   GET /shop?items=1 HTTP/1.0
 *	[php 13951] request-startup     GET /shop file /srv/shop.php
 *	[php 13951] function-entry      main shop.php:35
 *	[php 13951] function-entry      Store::__construct shop.php:12
 *	[php 13951] function-return     Store::__construct shop.php:12
 *	[php 13951] function-entry      page shop.php:28
 *	[php 13951] function-entry      Store::ask shop.php:17
 *	[postgresql 13986] query-parse-start    select name from item where id = 1
 *	[postgresql 13986] query-execute-done   select name from item where id = 1: 52 us
 *	[php 13951] function-return     Store::ask shop.php:17
 *	...
 *	[php 13951] function-return     main shop.php:35
 *	[nginx 13957] answer    HTTP/1.1 200 OK: 18989 us
 *	[php 13951] request-shutdown    GET /shop file -
 */
#pragma D option strsize=2048
#pragma D option bufsize=16m

syscall::read:entry,
syscall::recvfrom:entry
/execname == "nginx" || execname == "apache2"/
{
	self->from = arg1;
	self->fd = arg0;
}

syscall::read:return,
syscall::recvfrom:return
/self->from && errno == 0 && arg0 > 0/
{
	this->line = strtok(copyinstr(self->from, arg0), "\r\n");
	self->asked = strstr(this->line, " HTTP/1.") != NULL;
}

syscall::read:return,
syscall::recvfrom:return
/self->asked/
{
	asked[pid, self->fd] = timestamp;
	printf("[%s %d] request\t%s\n", execname, pid, this->line);
	self->asked = 0;
}

syscall::read:return,
syscall::recvfrom:return
{
	self->from = 0;
}

/* The answer begins in the first of the pieces. */
syscall::writev:entry
/asked[pid, (int)arg0]/
{
	this->line = copyinstr(*(uintptr_t *)copyin(arg1, sizeof(uintptr_t)), 80);
	printf("[%s %d] answer\t%s: %d us\n", execname, pid,
	    strtok(this->line, "\r\n"),
	    (timestamp - asked[pid, (int)arg0]) / 1000);
	asked[pid, (int)arg0] = 0;
}

php*:::request-startup,
php*:::request-shutdown
{
	printf("[php %d] %s\t%s %s file %s\n", pid, probename, copyinstr(arg2),
	    copyinstr(arg1), copyinstr(arg0));
}

php*:::function-entry,
php*:::function-return
{
	printf("[php %d] %s\t%s%s%s %s:%d\n", pid, probename, copyinstr(arg3),
	    copyinstr(arg4), copyinstr(arg0), basename(copyinstr(arg1)),
	    (int)arg2);
}

php*:::error
{
	printf("[php %d] error\t%s %s:%d\n", pid, copyinstr(arg0),
	    copyinstr(arg1), (int)arg2);
}

postgresql*:::query-parse-start
{
	self->query = copyinstr(arg0);
	printf("[postgresql %d] %s\t%s\n", pid, probename, self->query);
}

postgresql*:::query-execute-start
{
	self->start = timestamp;
}

postgresql*:::query-execute-done
/self->start/
{
	printf("[postgresql %d] %s\t%s: %d us\n", pid, probename, self->query,
	    (timestamp - self->start) / 1000);
	self->start = 0;
}
