/*
 * Option report: the lines of JSON that a run would print, or as much of them as
 * pictures need, become a page (page.h), whatever the format of the output is.
 */
#include <errno.h>
#include <string.h>

#include "tracer/consume/file.h"
#include "tracer/consume/json.h"
#include "tracer/consume/page.h"

void
live_create(struct consume *c)
{
	const char *path = c->env.opts->text[OPT_REPORT];

	if (path != NULL && *path != '\0')
		c->page = page_create();
}

void
live_destroy(struct consume *c)
{
	page_destroy(c->page);
	str_fini(&c->page_line);
}

/* Hand over what is in the line so far. */
static void
live_flush(void *ctx, struct str *line)
{
	struct consume *c = ctx;

	page_text(c->page, str_c(line), line->len);
	str_clear(line);
}

void
consume_asked(struct consume *c, const struct asked *a)
{
	if (c->page == NULL)
		return;
	json_line_begin(&c->page_line, a);
	live_flush(c, &c->page_line);
}

void
live_record(struct consume *c, const struct probe_text *probe)
{
	const struct rec_hdr *hdr = c->rec.hdr;

	if (c->page == NULL)
		return;
	page_hit(c->page,
	    &(struct page_hit){ hdr->timestamp, hdr->pid, hdr->tid, probe->prov,
		probe->mod, probe->func, probe->name });
}

static void
live_agg(struct consume *c, uint32_t id, uint64_t time)
{
	struct printer p = record_printer(c, &c->page_line);

	str_printf(&c->page_line,
	    "{\"type\":\"aggregation\",\"timestamp\":%llu,",
	    (unsigned long long)time);
	json_agg(&p, id, live_flush, c);
	str_add(&c->page_line, "}\n");
	live_flush(c, &c->page_line);
}

void
live_printa(struct consume *c, const struct prog_stmt *st)
{
	for (size_t i = 0; c->page != NULL && i < st->naggs; i++) {
		struct agg_table *t = aggs_table(&c->aggs, st->aggs[i]);
		if (t == NULL)
			continue;
		t->reported |= t->rows.len != 0;
		live_agg(c, st->aggs[i], c->rec.hdr->timestamp);
	}
}

void
live_aggs(struct consume *c)
{
	uint32_t n = (uint32_t)c->env.globals->aggs.len;

	for (uint32_t id = 1; c->page != NULL && id <= n; id++)
		if (!aggs_table(&c->aggs, id)->reported)
			live_agg(c, id, consume_now());
}

void
live_error(struct consume *c, const struct sink_error *e)
{
	if (c->page == NULL)
		return;
	json_line_error(&c->page_line, c, e);
	live_flush(c, &c->page_line);
}

void
live_drop(struct consume *c, const struct sink_drop *d)
{
	if (c->page == NULL)
		return;
	json_line_drop(&c->page_line, c, d, d->n);
	live_flush(c, &c->page_line);
}

void
live_end(struct consume *c, int status)
{
	if (c->page == NULL)
		return;
	json_line_end(&c->page_line, 0, 0, 0, status);
	live_flush(c, &c->page_line);
}

/* ---- the file ---- */

int
consume_page_write(const struct consume_env *env, const char *path,
    struct page *p, struct page *earlier)
{
	struct str text = { 0 };

	if (page_is_html(path))
		page_html(p, earlier, &text);
	else
		page_svg(p, &text);
	int r = file_put(env, path, &text);
	str_fini(&text);
	return r;
}

int
consume_pictures(struct consume *c)
{
	const char *path = c->env.opts->text[OPT_REPORT];
	int r = -EPROTO;

	if (c->page == NULL)
		return 0;
	if (!page_complete(c->page))
		consume_message(c, "failed to make report '%s': %s", path,
		    page_wrong(c->page));
	else if ((r = consume_page_write(&c->env, path, c->page, NULL)) != 0)
		consume_message(
		    c, "failed to write report '%s': %s", path, strerror(-r));
	return r;
}
