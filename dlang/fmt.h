/*
 * Formats of printf and printa.  fmt.c parses them, the compiler checks the
 * types of the arguments, and the consumer prints; all three use the rows of
 * fmt.def.
 */
#ifndef DLANG_FMT_H
#define DLANG_FMT_H

#include <stdbool.h>
#include <stddef.h>

#include "dlang/base/arena.h"

enum fmt_class {
	FMT_INT,
	FMT_SINT,
	FMT_CHAR,
	FMT_STR,
	FMT_PTR,
	FMT_FLOAT,
	FMT_SYM,
	FMT_USYM,
	FMT_HOST,
	FMT_PORT,
	FMT_TIME,
	FMT_STACK,
	FMT_AGG, /* `%@d' and friends, and the bare `%@' */
};

enum fmt_mod {
	FMT_MOD_NONE,
	FMT_MOD_H,
	FMT_MOD_L,
	FMT_MOD_LL,
	FMT_MOD_LD,
	FMT_MOD_W
};

#define FMT_LEFT  1  /* '-' */
#define FMT_PLUS  2  /* '+' */
#define FMT_SPACE 4  /* ' ' */
#define FMT_ALT   8  /* '#' */
#define FMT_ZERO  16 /* '0' */
#define FMT_GROUP 32 /* '\'' */
#define FMT_PTRW  64 /* '?': wide enough for a pointer, 16 */

struct fmt_conv {
	const char *literal; /* the text before it, with escapes and %%
			      * replaced */
	size_t literal_len;
	char letter; /* as in fmt.def; 0: the bare `%@' */
	enum fmt_class class;
	enum fmt_mod mod;
	unsigned flags;
	int width, prec;          /* -1: none; a precision of 0 is none */
	bool dyn_width, dyn_prec; /* `*': an int argument comes before */
};

struct fmt {
	const char *text; /* the whole format */
	struct fmt_conv *convs;
	size_t nconvs;
	const char *tail; /* text after the last conversion */
	size_t tail_len;
};

/*
 * Parse a format (escapes of the D string already done).  0, or -EINVAL with
 * a sentence in *error, in the arena: "format conversion #2 ...".
 */
int fmt_parse(
    struct arena *a, const char *text, struct fmt **out, const char **error);

#endif
