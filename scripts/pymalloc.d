#!/usr/bin/env -S dtrap -qs
/*
 * pymalloc - the memory that Python asks of malloc, by Python function
 *
 * usage: pymalloc.d -c 'python3 FILE' | -p PID
 *
 * At the end: bytes by function, file and line, the most last.  Small objects
 * come from Python's own pools and are not seen.  The interpreter needs no
 * preparation: the function is the innermost Python frame of jstack().
 *
 *	$ pymalloc.d -c '/usr/bin/python3 -I -S -B known.py'
 *	...
 *	              libc.so.6`malloc
 *	              python3.11`0x4fb51c
 *	              python3.11`PyByteArray_Resize+0x1f2
 *	              python3.11`0x5b9189
 *	              python3.11`_PyObject_MakeTpCall+0x1c5
 *	              python3.11`_PyEval_EvalFrameDefault+0x8f0
 *	                [ leaf (/srv/known.py:2) ]
 *	                [ rec (/srv/known.py:5) ]
 *	                [ rec (/srv/known.py:5) ]
 *	                [ rec (/srv/known.py:5) ]
 *	                [ <module> (/srv/known.py:7) ]
 *	              python3.11`PyEval_EvalCode+0xbb
 *	          100001 bytes
 *	...
 */
pid$target:libc:malloc:entry
{
	@[jstack(12)] = sum(arg0);
}

END
{
	trunc(@, 20);
	printa("%k%@16d bytes\n\n", @);
}
