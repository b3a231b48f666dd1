/*
 * Parts of objects: private data of one source file about an ELF file.  They are kept
 * until the run ends, because the next process that maps the file needs the same.
 *
 *	struct windows *ws = part_of(object_parts(st, o), &windows_part);
 */
#ifndef TRACER_NAMES_KEPT_H
#define TRACER_NAMES_KEPT_H

struct object;
struct parts;
struct state;

/* The parts of the object, which is held from now on. */
struct parts *object_parts(struct state *st, struct object *o);

#endif
