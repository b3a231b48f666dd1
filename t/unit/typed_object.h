/*
 * For the tests of types from debug information: an object that was compiled,
 * opened with all that reads types of it, and what its types are asked.
 */
#ifndef T_UNIT_TYPED_OBJECT_H
#define T_UNIT_TYPED_OBJECT_H

#include <check.h>

#include "dlang/types.h"
#include "symbols/ctf.h"
#include "symbols/dwarf.h"
#include "symbols/object.h"

struct opened {
	struct types *ts;
	struct dwtypes *dw;
	struct ctftypes *c;
	struct object *o;
};

static inline struct opened
open_path(const char *path)
{
	struct opened x;
	const char *why = "";

	ck_assert_int_eq(object_open(path, path, &x.o, &why), 0);
	x.ts = types_create(256);
	x.dw = dwtypes_create(x.ts);
	x.c = ctftypes_create(x.ts);
	return x;
}

static inline void
close_path(struct opened *x)
{
	types_destroy(x->ts);
	dwtypes_destroy(x->dw);
	ctftypes_destroy(x->c);
	object_put(x->o);
}

static inline const struct type_member *
member(struct type *t, const char *name, uint64_t *offset)
{
	*offset = 0;
	const struct type_member *m = type_member(t, name, offset);

	ck_assert_msg(m != NULL, "no member %s", name);
	return m;
}

static inline void
check_name(const struct type *t, const char *expected)
{
	char buf[128];

	ck_assert_str_eq(type_name(t, buf, sizeof(buf)), expected);
}

#endif
