/*
 * Fills the tables of a manual page: copies standard input to standard
 * output, and where a line is the name of a table in @, writes the rows of the
 * .def files instead.  The Makefile builds and runs it; it fails when a row
 * that means something for a user process has no words in man.def.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/dif.h"
#include "dlang/options.h"

#define LEN(a) (sizeof(a) / sizeof(*(a)))

/* One row as the page needs it. */
struct row {
	unsigned id;
	const char *name, *type; /* type of a variable, prototype of the rest */
	bool kernel;             /* means nothing for a user process */
	bool destructive;
};

/* clang-format off */
static const struct row vars[] = {
#define DIF_VAR(id, NAME, name, type, needs, how) \
	{ DIF_VAR_##NAME, name, type, how == V_NONE, false },
#include "dlang/dif_vars.def"
#undef DIF_VAR
};
static const struct row subrs[] = {
#define DIF_SUBR(n, NAME, name, proto, needs, how) \
	{ DIF_SUBR_##NAME, name, proto, how == S_KERNEL, how == S_DESTRUCTIVE },
#include "dlang/dif_subrs.def"
#undef DIF_SUBR
};
static const struct row acts[] = {
#define DIF_ACT(n, NAME, name, proto, flags) \
	{ ACT_##NAME, name, proto, (flags)&A_KERNEL, (flags)&A_DESTRUCTIVE },
#include "dlang/dif_acts.def"
#undef DIF_ACT
};
static const struct row aggs[] = {
#define DIF_AGG(n, NAME, name, proto, words) \
	{ AGG_##NAME, name, proto, false, false },
#include "dlang/dif_aggs.def"
#undef DIF_AGG
};
static const struct {
	const char *name, *text;
	enum option_kind kind;
	enum option_phase phase;
	int64_t def;
} options[] = {
#define OPTION(id, name, kind, phase, def, text) \
	{ name, text, kind, phase, def },
#include "dlang/options.def"
#undef OPTION
};
/* clang-format on */

/* The words of each table, by id: man.def is read once for each, and only the
 * rows of that table are let through. */
/* clang-format off */
#define NO_WORDS(ID, text)
#define WORDS(id, text) case id: return text;

static const char *
var_text(unsigned id)
{
	switch (id) {
#define MAN_VAR(ID, text) WORDS(DIF_VAR_##ID, text)
#define MAN_SUBR          NO_WORDS
#define MAN_ACT           NO_WORDS
#define MAN_AGG           NO_WORDS
#include "dlang/man/man.def"
	}
	return NULL;
}

static const char *
subr_text(unsigned id)
{
	switch (id) {
#undef MAN_VAR
#undef MAN_SUBR
#define MAN_VAR            NO_WORDS
#define MAN_SUBR(ID, text) WORDS(DIF_SUBR_##ID, text)
#include "dlang/man/man.def"
	}
	return NULL;
}

static const char *
act_text(unsigned id)
{
	switch (id) {
#undef MAN_SUBR
#undef MAN_ACT
#define MAN_SUBR          NO_WORDS
#define MAN_ACT(ID, text) WORDS(ACT_##ID, text)
#include "dlang/man/man.def"
	}
	return NULL;
}

static const char *
agg_text(unsigned id)
{
	switch (id) {
#undef MAN_ACT
#undef MAN_AGG
#define MAN_ACT           NO_WORDS
#define MAN_AGG(ID, text) WORDS(AGG_##ID, text)
#include "dlang/man/man.def"
	}
	return NULL;
}
/* clang-format on */

/* Text that may hold anything, as a line of mdoc: no leading dot or quote,
 * backslashes and quotes kept. */
static void
put_text(const char *s)
{
	if (*s == '.' || *s == '\'')
		fputs("\\&", stdout);
	for (; *s != '\0'; s++) {
		if (*s == '\\') {
			fputs("\\e", stdout);
			continue;
		}
		putchar(*s);
		/* A new sentence begins a new line. */
		if (*s == '.' && s[1] == ' ') {
			putchar('\n');
			s += strspn(s + 1, " ");
		}
	}
	putchar('\n');
}

/* "string(const char *, [int])" of strtoll: "string strtoll(const char *
 * [, int])" */
static void
put_proto(const struct row *r)
{
	const char *open = strchr(r->type, '(');

	if (open == NULL) {
		printf(".It Va %s Pq Li \"%s\"\n", r->name,
		    *r->type != '\0' ? r->type : "typed");
		return;
	}
	int n = (int)(open - r->type);
	bool star = n > 0 && open[-1] == '*';
	printf(".It Li \"%.*s%s%s%s\"\n", n, r->type, star ? "" : " ", r->name,
	    open);
}

static int
put_table(const struct row *rows, size_t n, const char *(*text)(unsigned))
{
	int bad = 0;

	puts(".Bl -tag -width Ds");
	for (size_t i = 0; i < n; i++) {
		const struct row *r = &rows[i];
		const char *t = text(r->id);

		/* Those with __ are what the D library is made of. */
		if (r->kernel || strncmp(r->name, "__", 2) == 0)
			continue;
		if (t == NULL) {
			fprintf(stderr, "mantab: %s: no words in man.def\n",
			    r->name);
			bad = 1;
			continue;
		}
		put_proto(r);
		put_text(t);
		if (r->destructive)
			puts("Needs\n.Fl w .");
	}
	puts(".El");
	return bad;
}

static void
put_kernel(const struct row *rows, size_t n, const char **sep)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].kernel) {
			printf("%s%s", *sep, rows[i].name);
			*sep = ",\n";
		}
}

static void
put_default(enum option_kind kind, int64_t def)
{
	static const struct {
		enum option_kind kind;
		int64_t unit;
		const char *suffix;
	} units[] = {
		{ OPTK_SIZE, 1 << 20, "m" },
		{ OPTK_SIZE, 1 << 10, "k" },
		{ OPTK_SIZE, 1, "" },
		{ OPTK_RATE, 1000000000, "s" },
		{ OPTK_RATE, 1000000, "ms" },
		{ OPTK_RATE, 1000, "us" },
		{ OPTK_RATE, 1, "ns" },
		{ OPTK_INT, 1, "" },
		{ OPTK_SHARE, 1, "%" },
	};

	for (size_t i = 0; def != OPTION_UNSET && i < LEN(units); i++)
		if (units[i].kind == kind && def % units[i].unit == 0) {
			printf("Default: %lld%s.\n",
			    (long long)(def / units[i].unit), units[i].suffix);
			return;
		}
}

/* Known, and without any effect here. */
static bool
is_ignored(size_t i)
{
	return options[i].kind == OPTK_NONE ||
	    strncmp(options[i].text, "accepted", 8) == 0;
}

/* Every option of one phase; those that are only accepted stand together. */
static void
put_options(enum option_phase phase)
{
	puts(".Bl -tag -width Ds");
	for (size_t i = 0; i < LEN(options); i++) {
		if (options[i].phase != phase || is_ignored(i))
			continue;
		static const char *const arg[] = { [OPTK_FLAG] = "",
			[OPTK_INT] = "number",
			[OPTK_SIZE] = "size",
			[OPTK_RATE] = "rate",
			[OPTK_SHARE] = "percent",
			[OPTK_STRING] = "text",
			[OPTK_POLICY] = "policy" };
		const char *a = arg[options[i].kind];
		printf(*a != '\0' ? ".It Cm %s Ns = Ns Ar %s\n" : ".It Cm %s\n",
		    options[i].name, a);
		char text[256];
		snprintf(text, sizeof(text), "%s.", options[i].text);
		if (*text >= 'a' && *text <= 'z')
			*text = (char)(*text - 'a' + 'A');
		put_text(text);
		put_default(options[i].kind, options[i].def);
	}
	puts(".El");
}

static void
put_ignored(void)
{
	const char *sep = ".Cm ";

	for (size_t i = 0; i < LEN(options); i++)
		if (is_ignored(i)) {
			printf("%s%s", sep, options[i].name);
			sep = " ,\n.Cm ";
		}
	puts(" .");
}

static int
put_directive(const char *line)
{
	const char *sep = "";

	if (strcmp(line, "@variables@\n") == 0)
		return put_table(vars, LEN(vars), var_text);
	if (strcmp(line, "@subroutines@\n") == 0)
		return put_table(subrs, LEN(subrs), subr_text);
	if (strcmp(line, "@actions@\n") == 0)
		return put_table(acts, LEN(acts), act_text);
	if (strcmp(line, "@aggregations@\n") == 0)
		return put_table(aggs, LEN(aggs), agg_text);
	if (strcmp(line, "@compile-options@\n") == 0) {
		put_options(OPTP_COMPILE);
	} else if (strcmp(line, "@run-options@\n") == 0) {
		put_options(OPTP_RUN);
	} else if (strcmp(line, "@dynamic-options@\n") == 0) {
		put_options(OPTP_DYNAMIC);
	} else if (strcmp(line, "@ignored-options@\n") == 0) {
		put_ignored();
	} else if (strcmp(line, "@kernel@\n") == 0) {
		put_kernel(vars, LEN(vars), &sep);
		put_kernel(subrs, LEN(subrs), &sep);
		put_kernel(acts, LEN(acts), &sep);
		puts(".");
	} else {
		fprintf(stderr, "mantab: unknown table %s", line);
		return 1;
	}
	return 0;
}

int
main(void)
{
	char line[4096];
	int bad = 0;

	while (fgets(line, sizeof(line), stdin) != NULL)
		if (*line == '@')
			bad |= put_directive(line);
		else
			fputs(line, stdout);
	return bad || fflush(stdout) != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
