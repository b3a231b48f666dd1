#!/usr/bin/env -S dtrap -qs
/*
 * mallocs - what is allocated, by size and by stack
 *
 * usage: mallocs.d -c COMMAND | -p PID
 *
 * At the end: the sizes that malloc, calloc and realloc were asked for, as a
 * distribution, and bytes and calls for the stacks that asked for most.
 *
 *	$ mallocs.d -c './work-memory 3 20'
 *	...
 *	              libc.so.6`malloc
 *	              work-memory`kept+0x1d
 *	              work-memory`main+0x26
 *	              libc.so.6`__libc_start_call_main+0x7a
 *	              libc.so.6`__libc_start_main+0x85
 *	              work-memory`_start+0x21
 *	             300 bytes
 *	...
 */
#pragma D option ustackframes=12

pid$target:libc:malloc:entry
{
	self->size = arg0;
}

pid$target:libc:calloc:entry
{
	self->size = arg0 * arg1;
}

pid$target:libc:realloc:entry
{
	self->size = arg1;
}

pid$target:libc:malloc:entry,
pid$target:libc:calloc:entry,
pid$target:libc:realloc:entry
/self->size/
{
	@sizes["bytes asked for"] = quantize(self->size);
	@bytes[ustack()] = sum(self->size);
	self->size = 0;
}

END
{
	printa(@sizes);
	trunc(@bytes, 10);
	printf("\nbytes by stack, the most last:\n");
	printa("%k%@16d bytes\n", @bytes);
}
