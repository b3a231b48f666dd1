/*
 * Diagnostics; see diag.h.  The only place that renders an error for the
 * user.
 */
#include "dlang/base/diag.h"

#include <errno.h>
#include <string.h>

#include "dlang/base/mem.h"
#include "dlang/base/show.h"

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
	diags_init(d);
}

int
diag_verror(struct diags *d, enum diag_tag tag, const struct span *at,
    const char *fmt, va_list ap)
{
	struct str text = { 0 }, shown = { 0 };

	if (d->any)
		return -EINVAL;
	str_vprintf(&text, fmt, ap);
	show_add(&shown, SHOW_TEXT, str_c(&text), text.len);
	str_fini(&text);
	d->any = true;
	d->first = (struct diag){
		.tag = tag, .context = d->context, .text = str_take(&shown)
	};
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

static void
render_caret(FILE *out, const struct span *at)
{
	size_t len;
	const char *line = source_line(at->source->text, at->line, &len);

	if (line == NULL || at->col < 1 || (size_t)at->col > len + 1)
		return;
	fprintf(out, "    %.*s\n    ", (int)len, line);
	/* Keep tabs, so that the caret stands under its character. */
	for (int i = 0; i < at->col - 1; i++)
		fputc(line[i] == '\t' ? '\t' : ' ', out);
	fputc('^', out);
	int end = at->end_line == at->line ? at->end_col : (int)len + 1;
	for (int i = at->col + 1; i < end && i <= (int)len; i++)
		fputc('~', out);
	fputc('\n', out);
}

void
diag_render(FILE *out, const struct diag *d, const char *prefix, bool errtags,
    bool caret)
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
	fprintf(out, "%s\n", d->text);
	if (caret && at->line > 0 && at->source != NULL)
		render_caret(out, at);
}
