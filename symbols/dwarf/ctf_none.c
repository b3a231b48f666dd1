/*
 * Replaces ctf.c and ctf_check.c if dtrap is built without libctf (make
 * CTF=no): no object has CTF. doc/licences.md gives the reason for such a
 * build.
 */
#include <errno.h>
#include <stddef.h>

#include "symbols/ctf.h"

struct ctftypes *
ctftypes_create(struct types *ts)
{
	return NULL;
}

void
ctftypes_destroy(struct ctftypes *c)
{
}

bool
ctftypes_present(struct object *o)
{
	return false;
}

int
ctftypes_var(struct ctftypes *c, struct object *o, const char *name,
    uint64_t addr, struct dwarf_var *out)
{
	return -ENOENT;
}

int
ctftypes_type(
    struct ctftypes *c, struct object *o, const char *name, struct type **out)
{
	return -ENOENT;
}

int
ctftypes_proto(struct ctftypes *c, struct object *o, const char *name,
    struct dwarf_proto *out)
{
	return -ENOENT;
}
