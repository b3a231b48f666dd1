/*
 * What the build of a program with static probes needs: `dtrap -h', a header
 * with a macro for each probe, and `dtrap -G', an object with the types of
 * their arguments.
 *
 * The macros contain the probe: a nop, and a note that says where it is.  So
 * the object holds no places, nothing in the program's own objects is changed,
 * and a program that is linked without it has its probes, too.
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

/* Do what -h or -G asks for, once all programs are compiled.  0; -EINVAL for
 * wrong usage, or another negative errno, after a message. */
int sdt_build(struct state *st, const struct sdt_job *job);

/* ---- the parts of it ---- */

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
 * Are these relocatable objects for this machine, all of one model?  *model is
 * that of the first if it was SDT_ANY_MODEL.  0, or a negative errno after a
 * message that begins with `what'.
 */
int sdt_check_objects(struct state *st, const char *what, char *const *paths,
    size_t count, enum sdt_model *model);

/* Write the object, or with option linktype=dof its contents alone.  0, or a
 * negative errno after a message that begins with `what'. */
int sdt_object(struct state *st, const char *what, const char *path,
    struct sdt_providers p, enum sdt_model model);

#endif
