/*
 * The type graph: C kinds and D kinds; size, members, printing a type.
 *
 * Types live in a table (one per compilation session; the debug-information
 * reader fills the same table) and are compared by type_equal(), not by
 * pointer.  Nothing is freed before the table.
 */
#ifndef DLANG_TYPES_H
#define DLANG_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlang/base/arena.h"
#include "dlang/dif.h"

enum type_kind {
	TYPE_VOID,
	TYPE_INT,   /* also char and _Bool */
	TYPE_FLOAT, /* can be declared and traced, but not used in arithmetic */
	TYPE_ENUM,
	TYPE_POINTER,
	TYPE_ARRAY,
	TYPE_STRUCT,
	TYPE_UNION,
	TYPE_FUNC,
	TYPE_TYPEDEF,
	TYPE_CONST,
	TYPE_VOLATILE,
	TYPE_RESTRICT,
	TYPE_FORWARD,  /* declared, not defined */
	TYPE_STRING,   /* D's string: strsize characters, by reference */
	TYPE_STACK,    /* result of ustack() and friends */
	TYPE_SYMADDR,  /* result of sym(), func(), mod() */
	TYPE_USYMADDR, /* result of usym(), ufunc(), umod(), uaddr() */
	TYPE_DYN, /* <DYN>: a variable not assigned yet, or something without a
		   * value */
};

struct type_member {
	const char *name; /* NULL: unnamed struct or union, or padding */
	struct type *type;
	uint64_t offset; /* bytes; of the storage unit for bit-fields */
	uint8_t bit_offset, bit_size; /* bit_size 0: not a bit-field */
};

struct type_enumerator {
	const char *name;
	int64_t value;
};

struct type {
	enum type_kind kind;
	const char *name; /* INT, FLOAT, TYPEDEF; tag of STRUCT, UNION, ENUM,
			      * FORWARD (NULL if none) */
	uint64_t size;    /* bytes */
	bool is_signed;   /* INT, ENUM */
	bool boolean;     /* INT: holds 0 and 1 */
	bool userland;    /* POINTER (and what it points to): an address of the
			* target */
	bool spare;       /* STRUCT: a definition in the program replaces it */
	bool indirect;    /* STRUCT, UNION: passed and returned by its address
			* (C++, Rust) */
	bool vector;      /* ARRAY: a vector of the machine, one value in one
		      * register */
	bool complex;     /* ARRAY: a complex number of C or Go */
	enum type_kind forward_of; /* FORWARD: STRUCT, UNION or ENUM */
	bool foreign; /* STRUCT, UNION, ENUM, FORWARD: from the target; a
		       * definition in the program has precedence */
	/* FORWARD: type_resolve() calls this once to read the definition.  It
	 * leaves the type as it is if there is no definition.  Before that,
	 * size is right if it is not 0. */
	void (*complete)(struct type *);
	void *more;        /* complete()'s */
	struct type *base; /* POINTER, ARRAY, TYPEDEF, qualifiers, FUNC's
			      * result */
	uint64_t nelems;   /* ARRAY */
	struct type_member
	    *members; /* STRUCT, UNION; FUNC: parameters (name may
				      * be NULL) */
	size_t nmembers;
	bool varargs; /* FUNC */
	struct type_enumerator *enumerators;
	size_t nenumerators;
};

struct types; /* the table */

/* A table holding the built-in types of LP64 (d-language, built-in types);
 * strsize gives `string' its size. */
struct types *types_create(uint32_t strsize);
void types_destroy(struct types *ts);
void types_set_strsize(struct types *ts, uint32_t strsize);

/* By name: "int", "unsigned long", "struct foo", "pid_t".  NULL if unknown. */
struct type *types_lookup(struct types *ts, const char *name);

/* Call `each' for every known type name of one word, or for every tag ("struct
 * foo") that has a definition. */
typedef void types_name_fn(void *ctx, const char *name);
void types_each_name(struct types *ts, types_name_fn *each, void *ctx);
void types_each_defined(struct types *ts, types_name_fn *each, void *ctx);

/* New types, in the table's memory. */
struct type *types_new(struct types *ts, enum type_kind kind);
struct type *types_pointer(struct types *ts, struct type *to);
struct type *types_array(struct types *ts, struct type *of, uint64_t n);
/* Make a name known: a typedef name or "struct TAG".  -EEXIST if taken. */
int types_define(struct types *ts, const char *name, struct type *t);
/* Make a tag of the target a forward declaration again, so that the program can
 * define it. */
void type_disown(struct type *t);

/*
 * Set the position of a bit-field of `width' bits that begins at bit number
 * `bits' of its structure.  Its storage unit is as wide as its type, whose size
 * is known.  If the field lies across two units (packed), its unit is the 8
 * bytes that begin with its first byte.
 */
void type_member_bits(
    struct types *ts, struct type_member *m, uint64_t bits, uint64_t width);

/* Text that lives as long as the table. */
char *types_strdup(struct types *ts, const char *s);

/* The type behind typedefs and qualifiers; of a forward, the definition if
 * there is one. */
struct type *type_resolve(struct type *t);
bool type_equal(const struct type *a, const struct type *b);
bool type_is_integer(const struct type *t); /* INT or ENUM, resolved */
bool type_is_bool(const struct type *t);    /* _Bool, and C++'s bool */
bool type_is_scalar(const struct type *t);  /* integer or pointer */
bool type_is_string(const struct type *t);  /* D string */
/* string, char * or char[]: what string subroutines accept. */
bool type_is_stringlike(const struct type *t);
bool type_is_byref(const struct type *t); /* struct, union, array, string */
/* The member by name, searching unnamed members; NULL.  *offset is added to. */
const struct type_member *type_member(
    struct type *t, const char *name, uint64_t *offset);

/* As C would declare it: "struct foo *", "char [16]", shown (base/show.h).
 * Returns buf. */
char *type_name(const struct type *t, char *buf, size_t size);

/* The same type in the terms of DIF. */
struct dif_type type_dif(const struct type *t);

#endif
