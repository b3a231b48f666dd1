#!/usr/bin/env -S dtrap -qs
/*
 * mallocs - what is allocated, by size and by stack
 *
 * usage: mallocs.d -c COMMAND | -p PID
 *
 * At the end: the sizes that malloc, calloc and realloc were asked for, as a
 * distribution, and bytes and calls for the stacks that asked for most.  The
 * allocator is the one that the process uses: that of libc, its own malloc,
 * jemalloc, tcmalloc or mimalloc, in a library or linked to it.
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

#pragma D option zdefs

pid$target::malloc:entry,
pid$target:a.out:je_malloc:entry,
pid$target:a.out:tc_malloc:entry,
pid$target:a.out:mi_malloc:entry,
pid$target:libjemalloc:_Zn[wa]m*:entry,
pid$target:libtcmalloc*:_Zn[wa]m*:entry,
pid$target:libmimalloc*:_Zn[wa]m*:entry
{
	this->size = arg0;
}

pid$target::calloc:entry,
pid$target:a.out:je_calloc:entry,
pid$target:a.out:tc_calloc:entry,
pid$target:a.out:mi_calloc:entry
{
	this->size = arg0 * arg1;
}

pid$target::realloc:entry,
pid$target:a.out:je_realloc:entry,
pid$target:a.out:tc_realloc:entry,
pid$target:a.out:mi_realloc:entry
{
	this->size = arg1;
}

/* One that is called by another, from further down the stack, is part of it. */
pid$target::malloc:entry,
pid$target::calloc:entry,
pid$target::realloc:entry,
pid$target:a.out:[jtm][eci]_malloc:entry,
pid$target:a.out:[jtm][eci]_calloc:entry,
pid$target:a.out:[jtm][eci]_realloc:entry,
pid$target:libjemalloc:_Zn[wa]m*:entry,
pid$target:libtcmalloc*:_Zn[wa]m*:entry,
pid$target:libmimalloc*:_Zn[wa]m*:entry
/this->size && (!self->sp || uregs[R_SP] > self->sp)/
{
	@sizes["bytes asked for"] = quantize(this->size);
	@bytes[ustack()] = sum(this->size);
	self->sp = uregs[R_SP];
	seen = 1;
}

pid$target::malloc:return,
pid$target::calloc:return,
pid$target::realloc:return,
pid$target:a.out:[jtm][eci]_malloc:return,
pid$target:a.out:[jtm][eci]_calloc:return,
pid$target:a.out:[jtm][eci]_realloc:return,
pid$target:libjemalloc:_Zn[wa]m*:return,
pid$target:libtcmalloc*:_Zn[wa]m*:return,
pid$target:libmimalloc*:_Zn[wa]m*:return
/uregs[R_SP] == self->sp/
{
	self->sp = 0;
}

END
/!seen/
{
	printf("no call of malloc was seen, of libc or of another allocator ");
	printf("that is known\n");
}

END
/seen/
{
	printa(@sizes);
	trunc(@bytes, 10);
	printf("\nbytes by stack, the most last:\n");
	printa("%k%@16d bytes\n", @bytes);
}
