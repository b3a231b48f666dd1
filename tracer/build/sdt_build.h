/*
 * Support for building programs with static probes: `dtrap -h' writes a header
 * with a macro for each probe, `dtrap -G' an object with the types of their
 * arguments.
 *
 * A macro contains the whole probe: a nop, and a note with its address.  So the
 * object of -G contains no addresses, the program's own objects are not
 * changed, and a program that is linked without the object has its probes too.
 */
#ifndef TRACER_BUILD_SDT_BUILD_H
#define TRACER_BUILD_SDT_BUILD_H

#include <stdbool.h>
#include <stddef.h>

struct prog_provider;
struct source;
struct state;

/* One program of the command line. */
struct sdt_program {
	const char *spec; /* the script's path, or the description */
	bool is_script;
	const struct source *source;
};

enum sdt_model { SDT_ANY_MODEL, SDT_ILP32, SDT_LP64 };

struct sdt_job {
	bool header; /* -h, else -G */
	const struct sdt_program *programs;
	size_t count;
	const char *output; /* -o, or NULL */
	enum sdt_model model;
	char *const *objects;
	size_t nobjects;
};

/* Do the work of -h or -G.  All programs must be compiled.  0, or a negative
 * errno after a message (-EINVAL: wrong usage). */
int sdt_build(struct state *st, const struct sdt_job *job);

/* ---- its parts ---- */

/* include/dtrap-sdt.h */
extern const char sdt_text[];

/* The providers of one program, or of all. */
struct sdt_providers {
	struct prog_provider *const *at;
	size_t count;
};

/* Write the header.  0, or a negative errno after a message. */
int sdt_header(struct state *st, const char *path, struct sdt_providers p);

/*
 * Check that these are relocatable objects for this machine, all of one data
 * model.  If *model is SDT_ANY_MODEL, it is set to that of the first.  0, or a
 * negative errno after a message that begins with `what'.
 */
int sdt_check_objects(struct state *st, const char *what, char *const *paths,
    size_t count, enum sdt_model *model);

/* Write the object; with option linktype=dof only its contents.  0, or a
 * negative errno after a message that begins with `what'. */
int sdt_object(struct state *st, const char *what, const char *path,
    struct sdt_providers p, enum sdt_model model);

#endif
