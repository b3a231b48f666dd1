/*
 * A type by the text that a file has of it.
 */
#ifndef TRACER_NAMES_TYPENAME_H
#define TRACER_NAMES_TYPENAME_H

struct type;
struct types;

/*
 * "unsigned long", "struct foo *", "const char **", "int [4]": a base type, and
 * what may stand behind it.  A struct that nobody has declared is an incomplete
 * one, a pointer to an unknown name points to void; `string' is what the program
 * has, a pointer to characters.  NULL when text is NULL or no known type.
 */
struct type *typename_parse(struct types *ts, const char *text);

#endif
