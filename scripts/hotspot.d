#!/usr/bin/env -S dtrap -qZs
/*
 * hotspot - what a Java virtual machine does: classes, threads, methods, monitors
 *
 * usage: hotspot.d -c 'java -XX:+ExtendedDTraceProbes CLASS' | -p PID
 *
 * Methods and monitors are seen only if the machine was started with
 * -XX:+ExtendedDTraceProbes (or +DTraceMethodProbes, +DTraceMonitorProbes).
 *
 *	$ hotspot.d -c 'java -XX:+DTraceMethodProbes -XX:+DTraceMonitorProbes Greeter 4 3'
 *	...
 *	            class-loaded [???] Greeter
 *	            thread-start [  9] greeter 1
 *	            method-entry [  9] Greeter.run
 *	 monitor-contended-enter [  9] Greeter$Greeting
 *	  monitor-contended-exit [  1] Greeter$Greeting
 *	...
 */
#pragma D option bufsize=16m

hotspot$target:::class-loaded
{
	printf("%24s [???] %s\n", probename, stringof(copyin(arg0, arg1)));
}

hotspot$target:::method-entry,
hotspot$target:::method-return
{
	printf("%24s [%3d] %s.%s\n", probename, arg0,
	    stringof(copyin(arg1, arg2)), stringof(copyin(arg3, arg4)));
}

hotspot$target:::thread-start,
hotspot$target:::thread-stop
{
	printf("%24s [%3d] %s\n", probename, arg2,
	    stringof(copyin(arg0, arg1)));
}

hotspot$target:::monitor-contended-enter,
hotspot$target:::monitor-contended-entered,
hotspot$target:::monitor-contended-exit
{
	printf("%24s [%3d] %s\n", probename, arg0,
	    stringof(copyin(arg2, arg3)));
}

hotspot$target:::gc-begin
{
	printf("%24s full: %d\n", probename, arg0);
	self->gc = timestamp;
}

hotspot$target:::gc-end
/self->gc/
{
	printf("%24s %d us\n", probename, (timestamp - self->gc) / 1000);
	self->gc = 0;
}
