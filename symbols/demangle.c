/*
 * Names as their authors wrote them, by libiberty: C++ (Itanium), Rust (both
 * manglings) and D.
 */
#include "symbols/demangle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

/* Longer than any name a compiler has been seen to emit; the demangler's
 * work on a longer one is not bounded by anything useful. */
#define NAME_LONGEST 32768

/* The demanglers know their names by these beginnings; everything else is a
 * C name, and not worth a call. */
static int
is_mangled(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "__Z", 3) == 0 ||
	    strncmp(name, "_R", 2) == 0 || strncmp(name, "_D", 2) == 0 ||
	    strncmp(name, "_GLOBAL_", 8) == 0;
}

char *
demangle(const char *name, char *buf, size_t size)
{
	char *text = NULL;

	/* AUTO is C++ and Rust; a D name is the only one that begins so. */
	if (is_mangled(name) && strnlen(name, NAME_LONGEST) < NAME_LONGEST)
		text = cplus_demangle(name,
		    DMGL_PARAMS | DMGL_ANSI |
			(name[1] == 'D' ? DMGL_DLANG : DMGL_AUTO));
	snprintf(buf, size, "%s", text != NULL ? text : name);
	free(text);
	return buf;
}
