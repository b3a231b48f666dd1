/*
 * Error messages about D text.  Each has a tag for tests and tools and a
 * sentence for the user.  The layer that can name the user's object reports the
 * error, once; the layers above it pass the error code on unchanged.
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
 * A D program's text.  It is borrowed and must outlive every diagnostic about
 * it.
 */
struct source {
	const char *name; /* file name as the user gave it, or "-n", "-P" ... */
	const char *text; /* whole text, NUL-terminated */
	bool is_file;     /* messages say "line N:", not "in action list:" */
};

/* The usage line in the first comment of the text ("usage: ..."), without the
 * comment's decoration; its length in *len.  NULL if there is none. */
const char *source_usage(const struct source *source, size_t *len);

/* A range of the text.  Lines and columns count from 1; line 0: not known. */
struct span {
	const struct source *source;
	int line, col;         /* of the first character */
	int end_line, end_col; /* one past the last */
	const char *file; /* set by #line or an #include: report this name */
	int file_line;    /* and this line in it; 0 if not known */
	int ahead;        /* add this to the line number in messages */
	bool whole;       /* the whole program is meant: messages name no
			   * line */
};

struct diag {
	enum diag_tag tag;
	struct span span;
	const char *context; /* "in predicate", "in action list", or NULL */
	char *text;          /* the sentence, without newline */
	char *hint;          /* what to do about it, or NULL */
};

/*
 * Collects the first error of one compilation or one enabling.  Later errors
 * are ignored, because they are often consequences of the first.
 */
struct diags {
	struct diag first;
	bool any;
	bool last;           /* the latest report was stored in `first' */
	const char *context; /* stored in the errors that are reported from now
			      * on */
};

void diags_init(struct diags *d);
void diags_fini(struct diags *d);

/* Report an error.  Always returns -EINVAL, for `return diag_error(...)'. */
int diag_error(struct diags *d, enum diag_tag tag, const struct span *at,
    const char *fmt, ...) PRINTF_LIKE(4, 5);
int diag_verror(struct diags *d, enum diag_tag tag, const struct span *at,
    const char *fmt, va_list ap) PRINTF_LIKE(4, 0);

/*
 * Add advice to the error that was just reported: a few words that follow the
 * sentence, "did you mean x?". The sentence is that of DTrace, and programs may
 * compare it; a hint is dtrap's own and may change.  The first hint counts.
 * Returns -EINVAL.
 */
int diag_hint(struct diags *d, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Add "did you mean ...?" as the hint, if a name is near.  Calls
 * nearest_fini(). */
struct nearest;
int diag_nearest(struct diags *d, struct nearest *near);

/*
 * Write the message as the command line shows it: [tag] (only if errtags),
 * place, sentence, newline.  Unless `plain' is set (for comparison with
 * DTrace's messages), the hint follows the sentence, and then the line of the
 * source with a caret under it, if the error is about a part of the text.
 * `prefix' comes first ("dtrap: failed to compile script x.d: ").
 */
void diag_render(FILE *out, const struct diag *d, const char *prefix,
    bool errtags, bool plain);
/* Will diag_render() show the line of the source?  Not if the error is about
 * the whole text. */
bool diag_points(const struct diag *d);

#endif
