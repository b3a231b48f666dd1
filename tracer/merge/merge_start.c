/*
 * The program of a merge: its aggregations are those of the first stream, its
 * clauses are those that run where the streams are merged.
 */
#include <string.h>

#include "dlang/cc/cc.h"
#include "tracer/drive/asked.h"
#include "tracer/drive/mistakes.h"
#include "tracer/drive/run.h"
#include "tracer/drive/session.h"
#include "tracer/merge/merge.h"
#include "tracer/program/dlib.h"

/* ---- options ---- */

/* Options of the hosts that say how something is printed, or how the program is
 * read.  Others are the hosts' own: a stream has no say in what runs here. */
static const enum option_id taken[] = { OPT_AGGHIST, OPT_AGGPACK, OPT_AGGPERCPU,
	OPT_AGGSORTKEY, OPT_AGGSORTKEYPOS, OPT_AGGSORTPOS, OPT_AGGSORTREV,
	OPT_AGGZOOM, OPT_ARGREF, OPT_DEFAULTARGS, OPT_DEMANGLE, OPT_DROPTAGS,
	OPT_ENCODING, OPT_ERRTAGS, OPT_FLOWINDENT, OPT_PRINTSIZE, OPT_PSPEC,
	OPT_QUIET, OPT_RAWBYTES, OPT_STACKFORMAT, OPT_STACKINDENT, OPT_STRSIZE,
	OPT_USRCLINE, OPT_VERSION };

static void
take_options(struct merge *m, const struct stream *s)
{
	struct options *opts = &m->st.opts;

	for (size_t i = 0; i < ARRAY_SIZE(taken); i++) {
		enum option_id id = taken[i];
		if (opts->set[id])
			continue;
		vec_foreach(o, &s->options)
			if (strcmp(o->name, option_name(id)) == 0)
				option_set(opts, o->name, o->value, true);
	}
	/* Clauses of the hosts are left out, and all may be. */
	option_set(opts, "zdefs", NULL, false);
	option_set(opts, "empty", NULL, false);
	option_set(opts, "argref", NULL, false);
}

/* ---- the program ---- */

static bool
is_elsewhere(const char *desc)
{
	return !where_text_is_merged(desc);
}

static int
compile(struct merge *m, const struct stream_source *src)
{
	struct state *st = &m->st;
	struct source *source = mem_zalloc(sizeof(*source));
	size_t n = src->noperands;
	char **argv = mem_zalloc((n + 2) * sizeof(*argv));
	struct prog *prog = NULL;
	struct diags d;

	argv[0] = (char *)src->name;
	memcpy(argv + 1, src->operands, n * sizeof(*argv));
	*source = (struct source){ .name = src->name,
		.text = src->text,
		.is_file = src->level == CC_SCRIPT };
	*vec_push(&m->sources) = source;
	struct cc_input in = { .source = source,
		.level = (enum cc_level)src->level,
		.argc = (int)n + 1,
		.argv = argv,
		.elsewhere = is_elsewhere };
	diags_init(&d);
	int error = dlibs_load(st, &d);
	if (error == 0)
		error = cc_compile(st->compiled.cc, &in, &prog, &d);
	if (error != 0) {
		char *prefix =
		    mem_printf("%s: clauses of tick-N and END: ", st->name);
		fflush(st->output.out);
		diag_render(st->output.err, &d.first, prefix, false, false);
		fflush(st->output.err);
		mem_free(prefix);
	} else {
		*vec_push(&st->compiled.progs) = prog;
	}
	diags_fini(&d);
	mem_free(argv);
	return error;
}

/* ---- aggregations ---- */

static bool
same_rec(const struct prog_rec *a, const struct prog_rec *b)
{
	return a->kind == b->kind && a->size == b->size && a->off == b->off &&
	    a->is_signed == b->is_signed;
}

static bool
same_agg(const struct prog_agg *a, const struct prog_agg *b)
{
	if (a->func != b->func || a->param != b->param ||
	    a->words != b->words || a->nkeys != b->nkeys ||
	    a->key_size != b->key_size)
		return false;
	for (size_t i = 0; i < a->nkeys; i++)
		if (!same_rec(&a->keys[i], &b->keys[i]))
			return false;
	return true;
}

const char *
merge_match(struct merge *m, struct stream *s)
{
	const struct prog_globals *g = cc_globals(m->st.compiled.cc);

	for (size_t i = 0; i < s->aggs.len; i++) {
		const struct prog_agg *own = NULL;

		vec_foreach(a, &g->aggs)
			if (strcmp((*a)->name, s->aggs.at[i]->name) == 0)
				own = *a;
		if (own == NULL || !same_agg(own, s->aggs.at[i]))
			return "its aggregations are not those of the others: "
			       "is it of another program?";
		s->ids.at[i] = own;
	}
	return NULL;
}

/* ---- the start ---- */

static void
describe(struct merge *m, const struct stream *s)
{
	VEC(struct asked_program) programs = { 0 };

	vec_foreach(src, &s->sources)
		*vec_push(&programs) = (struct asked_program){
			.kind =
			    src->level == CC_SCRIPT ? "script" : "description",
			.name = src->name,
			.text = src->text,
			.matched = -1,
		};
	asked_begin(&m->st,
	    &(struct asked){ .version = s->version,
		.programs = programs.at,
		.nprograms = programs.len });
	vec_fini(&programs);
}

static const char *
start(struct merge *m, struct stream *s)
{
	struct state *st = &m->st;
	char *hint = NULL;

	vec_foreach(src, &s->sources)
		if (src->merged && compile(m, src) != 0)
			return "its program cannot be merged here";
	vec_foreach(p, &st->compiled.progs)
		if ((*p)->destructive &&
		    option_get(&st->opts, OPT_DESTRUCTIVE) == 0)
			return "clauses of tick-N or END have destructive "
			       "actions: -w allows them here";
	const char *why = run_enable(st, NULL, &hint);
	mem_free(hint);
	if (why != NULL)
		return why;
	describe(m, s);
	session_start(st);
	return NULL;
}

const char *
merge_start(struct merge *m, struct stream *s)
{
	struct state *st = &m->st;

	take_options(m, s);
	st->compiled.cc = cc_create(&st->compiled.world, &st->opts);
	vec_foreach(a, &s->aggs)
		if (cc_declare_agg(st->compiled.cc, *a) == NULL)
			return "it has two aggregations of one name";
	const char *why = start(m, s);
	m->failed = why != NULL;
	m->started = why == NULL;
	return why != NULL ? why : merge_match(m, s);
}
