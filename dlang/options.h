/*
 * Options: the rows of options.def, for -x, #pragma D option, setopt(), the
 * letters of the command line, and the manual.
 */
#ifndef DLANG_OPTIONS_H
#define DLANG_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum option_id {
#define OPTION(id, name, kind, phase, def, text) OPT_##id,
#include "dlang/options.def"
#undef OPTION
	OPT_COUNT
};

/* What a value looks like. */
enum option_kind {
	OPTK_FLAG, /* 0 or 1 */
	OPTK_INT,
	OPTK_SIZE,  /* bytes; suffix k m g t */
	OPTK_RATE,  /* interval in nanoseconds; suffix ns us ms s m h d hz */
	OPTK_SHARE, /* percent, from 0 to 100; suffix % */
	OPTK_STRING,
	OPTK_POLICY, /* bufpolicy: enum option_policy */
	OPTK_NONE,   /* an option of DTrace without effect here: accepted and
		    * ignored */
};

enum option_policy { POLICY_SWITCH, POLICY_FILL, POLICY_RING };

/* Values of the option demangle: off, on, full. */
enum option_names { NAMES_MANGLED, NAMES_READABLE, NAMES_FULL };

/* When it may be set. */
enum option_phase {
	OPTP_COMPILE, /* before the program to which it applies is compiled */
	OPTP_RUN,     /* before tracing starts */
	OPTP_DYNAMIC, /* at any time */
};

#define OPTION_UNSET INT64_MIN

/* The version of D: for -V, and the latest that option `version' accepts. */
#define OPTIONS_D_MAJOR 2
#define OPTIONS_D_MINOR 0
/* A version as one number: the value of OPT_VERSION, once it is set. */
#define OPTION_D_VERSION(major, minor, micro) \
	((major) << 24 | (minor) << 12 | (micro))

struct options {
	int64_t value[OPT_COUNT]; /* defaults filled in by options_init() */
	/* OPTK_STRING: owned; otherwise NULL.  An option that may be set
	 * several times (cppargs define undef incdir libdir setenv unsetenv)
	 * has all values, separated by newlines. */
	char *text[OPT_COUNT];
	bool set[OPT_COUNT]; /* by the user */
	bool active;         /* tracing runs: only dynamic options */
};

/* Defaults; nothing set. */
void options_init(struct options *o);
/* Frees the texts. */
void options_fini(struct options *o);

/*
 * Set option "name" to "value".  NULL: no `=value' was given.  "", and "no" for
 * flags and integers, restore the default; a flag is off then.  0; -ENOENT:
 * invalid name; -EINVAL: invalid value; -EBUSY: cannot be set while tracing;
 * -EPERM: cannot be set by #pragma (from_text), only on the command line.
 * option_error() gives the message.
 */
int option_set(
    struct options *o, const char *name, const char *value, bool from_text);
/* "name[=value]", as after -x. */
int option_parse(struct options *o, const char *arg, bool from_text);
const char *option_error(int error);
/*
 * Advice to append to that message: "did you mean strsize?", "accepted: a
 * number, from 1 to 8".  The caller frees it.  NULL: no advice.
 */
char *option_hint(const char *name, int error);
/* "bufsize" for OPT_BUFSIZE. */
const char *option_name(enum option_id id);
/* Parse MAJOR.MINOR[.MICRO] into a number (OPTION_D_VERSION).  0; -EINVAL:
 * syntax error; -ENOTSUP: a later version than OPTIONS_D_MAJOR.MINOR. */
int option_version(const char *s, int64_t *value);

static inline int64_t
option_get(const struct options *o, enum option_id id)
{
	return o->value[id];
}

enum fastpath { FASTPATH_AUTO, FASTPATH_ON, FASTPATH_OFF };

/* What option fastpath says. */
enum fastpath options_fastpath(const struct options *o);

enum sampling { SAMPLING_AUTO, SAMPLING_USER, SAMPLING_STOPS };

/* What option sampling says. */
enum sampling options_sampling(const struct options *o);

#endif
