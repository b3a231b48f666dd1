/*
 * Diagnostics: what is wrong, with a tag for tests and tools and a sentence
 * for people.  The layer that can name the user's object reports once; all
 * above it pass the error code on unchanged.
 */
#ifndef DLANG_BASE_DIAG_H
#define DLANG_BASE_DIAG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "dlang/base/base.h"

enum diag_tag {
#define DIAG_TAG(name) name,
#include "dlang/base/diag_tags.def"
#undef DIAG_TAG
	DIAG_TAG_COUNT
};

/* "D_SYNTAX" for D_SYNTAX. */
const char *diag_tag_name(enum diag_tag tag);

/*
 * A stretch of D text.  Lines and columns count from 1; line 0 means that the
 * place is not known.  The source is borrowed and outlives the diagnostic.
 */
struct source {
	const char *name; /* file name as the user gave it, or "-n", "-P" ... */
	const char *text; /* whole text, NUL-terminated */
	bool is_file;     /* messages say "line N:", not "in action list:" */
};

/* The line of its first comment that says how it is used, "usage: ...", without
 * what frames it; its length in *len.  NULL if there is none. */
const char *source_usage(const struct source *source, size_t *len);

struct span {
	const struct source *source;
	int line, col;         /* of the first character */
	int end_line, end_col; /* one past the last */
	const char *file; /* set by #line or an #include: report this name */
	int file_line;    /* and this line in it; 0 if not known */
	int ahead;        /* messages name the line so many further down */
	bool whole;       /* it is about the program: the line is not named */
};

struct diag {
	enum diag_tag tag;
	struct span span;
	const char *context; /* "in predicate", "in action list", or NULL */
	char *text;          /* the sentence, without newline */
	char *hint;          /* what to do about it, or NULL */
};

/*
 * Collects the first error of one compilation or one enabling; later ones are
 * ignored, as the first is the one that is true.
 */
struct diags {
	struct diag first;
	bool any;
	bool last;           /* the last that was reported is that one */
	const char *context; /* given to what is reported from now on */
};

void diags_init(struct diags *d);
void diags_fini(struct diags *d);

/* Report; returns -EINVAL so that `return diag_error(...)' reads well. */
int diag_error(struct diags *d, enum diag_tag tag, const struct span *at,
    const char *fmt, ...) PRINTF_LIKE(4, 5);
int diag_verror(struct diags *d, enum diag_tag tag, const struct span *at,
    const char *fmt, va_list ap) PRINTF_LIKE(4, 0);

/*
 * What to do about the error that was just reported: a few words that follow
 * the sentence, "did you mean x?".  The sentence says what DTrace's says, and
 * programs may compare it; a hint is ours, and may change.  The first counts.
 * Returns -EINVAL.
 */
int diag_hint(struct diags *d, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* "did you mean ...?" as the hint, if a name is near; frees what *near has. */
struct nearest;
int diag_nearest(struct diags *d, struct nearest *near);

/*
 * Write the message as the command line shows it: [tag] (only if errtags),
 * place, sentence, newline.  Unless `plain', which is for those who compare
 * with DTrace's messages, the hint follows the sentence, and the line of the
 * source with a caret under it, if there is something to point out.
 * `prefix' comes first ("dtrap: failed to compile script x.d: ").
 */
void diag_render(FILE *out, const struct diag *d, const char *prefix,
    bool errtags, bool plain);
/* Will it show the line of the source?  Not where all of the text is meant. */
bool diag_points(const struct diag *d);

#endif
