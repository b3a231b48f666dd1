/*
 * The table of system calls; see syscalls.def.
 */
#include "tracer/ptrace/syscall_table.h"

#include <stddef.h>
#include <string.h>

#include "dlang/base/base.h"

struct call {
	const char *name, *args;
};

static const struct call calls[SYSCALL_MAX] = {
#define CALL(nr, sysname, letters) [nr] = { #sysname, letters },
#include "tracer/ptrace/machine/syscalls.def"
#undef CALL
};

static const struct {
	char letter;
	const char *type;
} types[] = {
	{ 'i', "int" },
	{ 'u', "unsigned int" },
	{ 'l', "long" },
	{ 'm', "unsigned long" },
	{ 'z', "size_t" },
	{ 's', "char *" },
	{ 'p', "void *" },
	{ 'n', "int *" },
};

const char *
syscall_name(unsigned nr)
{
	return nr < SYSCALL_MAX ? calls[nr].name : NULL;
}

const char *
syscall_arg(unsigned nr, unsigned n)
{
	if (syscall_name(nr) == NULL || n >= strlen(calls[nr].args))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].letter == calls[nr].args[n])
			return types[i].type;
	return NULL;
}
