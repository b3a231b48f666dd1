/*
 * Diagnostics; see diag.h.  The only place that renders an error for the
 * user.
 */
#include "dlang/base/diag.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "dlang/base/mem.h"
#include "dlang/base/nearest.h"
#include "dlang/base/str.h"

static const char *const tag_names[] = {
#define DIAG_TAG(name) #name,
#include "dlang/base/diag_tags.def"
#undef DIAG_TAG
};

const char *
diag_tag_name(enum diag_tag tag)
{
	return tag_names[tag];
}

void
diags_init(struct diags *d)
{
	*d = (struct diags){ 0 };
}

void
diags_fini(struct diags *d)
{
	mem_free(d->first.text);
	mem_free(d->first.hint);
	diags_init(d);
}

/* The words, without what a terminal would obey.  A hint is one line, whatever
 * names are in it. */
static char *
shown_text(enum show how, const char *fmt, va_list ap)
{
	struct str text = { 0 }, shown = { 0 };

	str_vprintf(&text, fmt, ap);
	str_add_shown(&shown, how, str_c(&text), text.len);
	str_fini(&text);
	return str_take(&shown);
}

int
diag_verror(struct diags *d, enum diag_tag tag, const struct span *at,
    const char *fmt, va_list ap)
{
	d->last = !d->any;
	if (d->any)
		return -EINVAL;
	d->any = true;
	d->first = (struct diag){ .tag = tag,
		.context = d->context,
		.text = shown_text(SHOW_TEXT, fmt, ap) };
	if (at != NULL)
		d->first.span = *at;
	return -EINVAL;
}

int
diag_error(struct diags *d, enum diag_tag tag, const struct span *at,
    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int error = diag_verror(d, tag, at, fmt, ap);
	va_end(ap);
	return error;
}

int
diag_hint(struct diags *d, const char *fmt, ...)
{
	va_list ap;

	if (!d->last || d->first.hint != NULL)
		return -EINVAL;
	va_start(ap, fmt);
	d->first.hint = shown_text(SHOW_NAME, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int
diag_nearest(struct diags *d, struct nearest *near)
{
	if (nearest_found(near))
		diag_hint(d, "%s", nearest_question(near));
	nearest_fini(near);
	return -EINVAL;
}

const char *
source_usage(const struct source *source, size_t *len)
{
	static const char word[] = "usage:";
	const char *text = source->text;

	if (strncmp(text, "#!", 2) == 0)
		text += strcspn(text, "\n");
	const char *begin = strstr(text, "/*");
	const char *end = begin != NULL ? strstr(begin + 2, "*/") : NULL;
	for (const char *p = begin; p != NULL && p < end; p++) {
		if (strncasecmp(p, word, sizeof(word) - 1) != 0)
			continue;
		*len = MIN(strcspn(p, "\r\n"), (size_t)(end - p));
		while (*len > 0 && isblank((unsigned char)p[*len - 1]))
			--*len;
		return *len >= sizeof(word) ? p : NULL;
	}
	return NULL;
}

/* The text of line n (from 1), without its newline. */
static const char *
source_line(const char *text, int n, size_t *len)
{
	while (--n > 0) {
		text = strchr(text, '\n');
		if (text == NULL)
			return NULL;
		text++;
	}
	*len = strcspn(text, "\n");
	return text;
}

/* Is the place the whole text, but for blanks? */
static bool
is_whole(const struct span *at)
{
	static const char blanks[] = " \t\r\n";
	const char *text = at->source->text;
	size_t len;
	const char *last = source_line(text, at->end_line, &len);

	if (last == NULL || at->end_col < 1 || (size_t)at->end_col > len + 1)
		return false;
	last += at->end_col - 1;
	if (last[strspn(last, blanks)] != '\0')
		return false;
	const char *first = source_line(text, at->line, &len);
	if (first == NULL || at->col < 1 || (size_t)at->col > len + 1)
		return false;
	first += at->col - 1;
	return strspn(text, blanks) >= (size_t)(first - text);
}

/* The line to be shown, NULL if there is none. */
static const char *
shown_line(const struct span *at, size_t *len)
{
	if (at->line <= 0 || at->source == NULL)
		return NULL;
	const char *line = source_line(at->source->text, at->line, len);
	if (line == NULL || at->col < 1 || (size_t)at->col > *len + 1 ||
	    strspn(line, " \t\r") >= *len)
		return NULL;
	return !at->source->is_file && is_whole(at) ? NULL : line;
}

bool
diag_points(const struct diag *d)
{
	size_t len;

	return shown_line(&d->span, &len) != NULL;
}

static void
render_caret(FILE *out, const struct span *at)
{
	size_t len;
	const char *line = shown_line(at, &len);

	if (line == NULL)
		return;
	fprintf(out, "    %.*s\n    ", (int)len, line);
	/* Keep tabs, and count characters, so that the caret stands under
	 * its own. */
	for (int i = 0; i < at->col - 1; i++)
		if (((unsigned char)line[i] & 0xc0) != 0x80)
			fputc(line[i] == '\t' ? '\t' : ' ', out);
	fputc('^', out);
	int end = at->end_line == at->line ? at->end_col : (int)len + 1;
	for (int i = at->col + 1; i < end && i <= (int)len; i++)
		fputc('~', out);
	fputc('\n', out);
}

/* Behind a sentence, on a line of its own where the sentence has several. */
static void
render_hint(FILE *out, const struct diag *d)
{
	bool lines = strchr(d->text, '\n') != NULL;
	bool question = d->text[0] != '\0' &&
	    strchr(".?!", d->text[strlen(d->text) - 1]) != NULL;

	fprintf(out, "%s%s", lines ? "\n\t" : question ? " " : "; ", d->hint);
}

void
diag_render(FILE *out, const struct diag *d, const char *prefix, bool errtags,
    bool plain)
{
	const struct span *at = &d->span;

	fputs(prefix, out);
	if (errtags)
		fprintf(out, "[%s] ", diag_tag_name(d->tag));
	/* Text of the command line has no lines to speak of. */
	bool line = at->line > 0 && !at->whole;
	if (line && at->file != NULL)
		fprintf(out, "\"%s\", line %d: ", at->file,
		    at->file_line + at->ahead);
	else if (line && at->source != NULL && at->source->is_file)
		fprintf(out, "line %d: ",
		    (at->file_line > 0 ? at->file_line : at->line) + at->ahead);
	else if (d->context != NULL)
		fprintf(out, "%s: ", d->context);
	fputs(d->text, out);
	if (!plain && d->hint != NULL)
		render_hint(out, d);
	fputc('\n', out);
	if (!plain)
		render_caret(out, at);
}
