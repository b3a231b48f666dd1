#!/usr/bin/env -S dtrap -qs
/*
 * pycode - the functions that a Python program calls
 *
 * usage: pycode.d -c 'python3 FILE' | -p PID
 *
 * One line for each call: function, file, line.  It watches the static probes
 * of CPython as Debian builds it (--with-dtrace).
 *
 *	$ pycode.d -c '/usr/bin/python3 -I -S -B known.py'
 *	...
 *	<module> /srv/known.py:0
 *	rec /srv/known.py:4
 *	rec /srv/known.py:4
 *	rec /srv/known.py:4
 *	leaf /srv/known.py:1
 *	...
 */
python$target:::function-entry
{
	printf("%s %s:%d\n", copyinstr(arg1), copyinstr(arg0), (int)arg2);
}
