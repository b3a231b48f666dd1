/*
 * The format top; see top.h.
 *
 *	a record of a tick      printa() --> a table of the page of that tick
 *	                        other text --> text between the tables
 *	any other record        text --> the log
 *	no tick with printa()   all aggregations, at each top_tick()
 *
 * While the display pauses, pages are made and not shown.
 */
#include <string.h>
#include <unistd.h>

#include "tracer/consume/keep.h"
#include "tracer/consume/screen.h"
#include "tracer/consume/top.h"
#include "tracer/consume/top_impl.h"
#include "tracer/consume/writer.h"

/* The most bytes of the log. */
#define LOG_MOST 65536

struct top {
	struct top_view view;
	struct top_pages latest; /* not shown yet */
	bool fresh;              /* it has something */
	bool ticks;              /* some tick has a printa() */
	uint64_t since;          /* the screen was opened */
	size_t told;             /* messages before */
	uint64_t errors, drops;
	size_t forgotten; /* bytes of the log */
	struct str status;
	/* Of the record that is read: */
	bool of_tick;
	struct top_page *page; /* NULL: nothing has been printed yet */
};

/* What was asked, of whom; sink_top.begin() sets it. */
static struct str asked_text;

static struct top *
top_of(struct consume *c)
{
	return c->format;
}

/* After freopen() text goes to a file. */
static bool
is_drawing(const struct consume *c)
{
	return screen_is_open() && c->out.own == NULL;
}

static bool
is_tick(const char *name)
{
	return strncmp(name, "tick", 4) == 0;
}

/* ---- begin and end ---- */

static void
top_begin(struct str *to, const struct asked *a)
{
	struct str *s = &asked_text;

	for (size_t i = 0; i < a->nprograms; i++) {
		str_add(s, i != 0 ? ", " : "");
		text_add_line(
		    s, a->programs[i].name, strlen(a->programs[i].name));
	}
	for (size_t i = 0; i < a->nprocesses; i++) {
		const struct asked_process *p = &a->processes[i];
		str_printf(s, "%s%d ", i != 0 ? ", " : " of ", p->pid);
		text_add_line(s, p->command, strlen(p->command));
	}
}

static bool
has_printa(const struct prog_clause *clause)
{
	for (size_t i = 0; i < clause->nstmts; i++)
		if (clause->stmts[i].kind == ACT_PRINTA)
			return true;
	return false;
}

static void
top_create(struct consume *c)
{
	struct top *t = mem_zalloc(sizeof(*t));

	vec_foreach(clause, &c->env.globals->clauses)
		t->ticks |=
		    is_tick((*clause)->desc.name) && has_printa(*clause);
	c->format = t;
	/* What is kept goes to a terminal in the end. */
	c->out.escape |= keep_terminal() >= 0;
}

static void
top_destroy(struct consume *c)
{
	struct top *t = top_of(c);

	top_view_fini(&t->view);
	top_pages_fini(&t->latest);
	str_fini(&t->status);
	str_fini(&asked_text);
	mem_free(t);
}

bool
top_open(struct consume *c, const char **type)
{
	struct top *t = top_of(c);

	if (!screen_open(keep_terminal(), type))
		return false;
	t->since = consume_now();
	t->told = text_messages();
	return true;
}

void
top_close(struct consume *c, bool (*enough)(void))
{
	struct top *t = top_of(c);

	if (!screen_is_open())
		return;
	screen_close(enough);
	keep_end(enough);
	if (t->forgotten != 0)
		consume_message(c,
		    "%zu bytes of text were not kept while the screen was "
		    "shown",
		    t->forgotten);
	out_write(&c->out, &t->view.log);
}

/* ---- drawing ---- */

static void
make_status(struct consume *c, struct top *t)
{
	struct str *s = &t->status;

	str_clear(s);
	str_printf(s, "%llu s | %llu drops, %llu errors",
	    (unsigned long long)((consume_now() - t->since) / 1000000000),
	    (unsigned long long)t->drops, (unsigned long long)t->errors);
	if (text_messages() != t->told)
		str_printf(s, ", %zu messages", text_messages() - t->told);
	t->view.status = str_c(s);
	t->view.asked = str_c(&asked_text);
}

/* To a page of the screen, or NULL: as text. */
static void
print_all(struct consume *c, struct top_page *page)
{
	struct printer p = record_printer(c, &c->line);
	uint32_t n = (uint32_t)c->env.globals->aggs.len;

	for (uint32_t id = 1; id <= n; id++) {
		struct agg_table *table = aggs_table(&c->aggs, id);
		const struct prog_stmt st = { .aggs = &id, .naggs = 1 };
		bool printed = table->printed;

		if (page != NULL)
			top_page_table(c, page, &st);
		else
			printa(&p, &id, 1, NULL, true);
		table->printed = printed; /* they are, at the end */
	}
}

static void
take_all(struct consume *c, struct top *t)
{
	consume_aggs(c);
	print_all(c, top_page_begin(&t->latest, 0, consume_now()));
	t->fresh = true;
}

static void
show(struct consume *c, struct top *t)
{
	if (t->fresh && !t->view.paused) {
		top_view_take(&t->view, &t->latest);
		t->fresh = false;
	}
	if (!screen_is_ready())
		return;
	make_status(c, t);
	top_view_draw(&t->view);
}

void
top_tick(struct consume *c)
{
	struct top *t = top_of(c);

	if (is_drawing(c)) {
		if (!t->ticks && !t->view.paused)
			take_all(c, t);
		screen_return();
		show(c, t);
	} else if (!t->ticks) {
		consume_aggs(c);
		print_all(c, NULL);
		out_write(&c->out, &c->line);
		out_flush(&c->out);
	}
}

void
top_redraw(struct consume *c)
{
	if (!screen_is_shown())
		return;
	screen_measure();
	screen_again();
	show(c, top_of(c));
}

/* ---- keys ---- */

/* As trunc() of each in a clause: see stmt_aggs(). */
static void
forget_all(struct consume *c, struct top *t)
{
	consume_aggs(c);
	snapshots_flip(c);
	for (uint32_t id = 1; id <= c->env.globals->aggs.len; id++)
		aggs_trunc(&c->aggs, id, 0);
	top_pages_fini(&t->latest);
	top_pages_fini(&t->view.pages);
	t->fresh = false;
	if (!t->ticks)
		take_all(c, t);
}

static void
pause_or_go_on(struct consume *c, struct top *t)
{
	t->view.paused = !t->view.paused;
	if (!t->view.paused && !t->ticks)
		take_all(c, t);
}

bool
top_keys(struct consume *c)
{
	struct top *t = top_of(c);
	bool changed = false;
	int key;

	while ((key = screen_key()) != SCREEN_NONE) {
		changed = true;
		if (top_view_key(&t->view, key))
			continue;
		if (key == 'q')
			return true;
		if (key == ' ')
			pause_or_go_on(c, t);
		else if (key == 'c')
			forget_all(c, t);
	}
	if (changed)
		show(c, t);
	return false;
}

/* ---- records ---- */

static void
top_record(struct consume *c, const struct probe_text *probe,
    const struct rec_hdr *next)
{
	struct top *t = top_of(c);

	t->page = NULL;
	t->of_tick = is_drawing(c) && is_tick(probe->name);
	c->bare = true;
	if (!t->of_tick)
		sink_text.open(c, probe, next);
}

/* The page of the tick whose record is read. */
static struct top_page *
page_of(struct consume *c, struct top *t)
{
	struct probe_text probe;

	if (t->page == NULL) {
		record_probe(c, c->rec.hdr->epid, &probe);
		t->page =
		    top_page_begin(&t->latest, probe.id, c->rec.hdr->timestamp);
		t->fresh = true;
	}
	return t->page;
}

static void
top_stmt(struct consume *c, const struct prog_stmt *st)
{
	struct top *t = top_of(c);

	if (!t->of_tick) {
		sink_text.stmt(c, st);
		return;
	}
	struct top_page *page = page_of(c, t);
	if (st->kind == ACT_PRINTA) {
		top_page_text(page, &c->line);
		top_page_table(c, page, st);
	} else {
		sink_text.stmt(c, st);
	}
}

static void
top_cut(struct consume *c)
{
	if (!is_drawing(c))
		sink_text.cut(c);
}

/* The oldest lines go. */
static void
add_to_log(struct top *t, struct str *text)
{
	struct str *log = &t->view.log;

	str_addn(log, own(text->s), text->len);
	str_clear(text);
	if (log->len <= LOG_MOST)
		return;
	size_t gone = log->len - LOG_MOST;
	const char *end = memchr(log->s + gone, '\n', LOG_MOST);
	gone = end != NULL ? (size_t)(end - log->s) + 1 : gone;
	memmove(log->s, log->s + gone, log->len - gone);
	log->len -= gone;
	t->forgotten += gone;
}

static void
top_record_end(struct consume *c)
{
	struct top *t = top_of(c);

	if (!is_drawing(c)) {
		sink_text.close(c);
	} else if (t->of_tick) {
		if (c->line.len != 0)
			top_page_text(page_of(c, t), &c->line);
	} else {
		if (!c->bare)
			str_addc(&c->line, '\n');
		add_to_log(t, &c->line);
	}
}

static void
top_pass(struct consume *c)
{
	struct top *t = top_of(c);

	if (is_drawing(c) && t->fresh && !t->view.paused && !c->over)
		show(c, t);
}

static void
top_error(struct consume *c, const struct sink_error *e)
{
	top_of(c)->errors += e->count == 0;
	if (!is_drawing(c))
		sink_text.error(c, e);
}

static void
top_drop(struct consume *c, const struct sink_drop *d)
{
	top_of(c)->drops += d->n;
}

static void
top_report(struct consume *c)
{
	sink_text.report(c);
}

const struct sink sink_top = {
	.name = "top",
	.begin = top_begin,
	.create = top_create,
	.destroy = top_destroy,
	.open = top_record,
	.stmt = top_stmt,
	.cut = top_cut,
	.close = top_record_end,
	.pass = top_pass,
	.error = top_error,
	.drop = top_drop,
	.report = top_report,
};
