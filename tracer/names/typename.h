/*
 * Parses the text of a type, as DOF contains it.
 */
#ifndef TRACER_NAMES_TYPENAME_H
#define TRACER_NAMES_TYPENAME_H

struct type;
struct types;

/*
 * Parse a base type with pointers and arrays: "unsigned long", "struct foo *",
 * "const char **", "int [4]".  An undeclared struct becomes an incomplete type,
 * a pointer to an unknown name a pointer to void, and `string' a pointer to
 * char.  NULL if text is NULL or not a known type.
 */
struct type *typename_parse(struct types *ts, const char *text);

#endif
