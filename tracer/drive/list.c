/*
 * Listings; see list.h.
 */
#include "tracer/drive/list.h"

#include "dlang/needs.h"
#include "dlang/prog.h"
#include "dlang/types.h"
#include "dlang/base/mem.h"
#include "tracer/consume/sink.h"
#include "tracer/consume/text.h"
#include "tracer/drive/ways.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/sites/site.h"
#include "tracer/program/unmatched.h"

void
list_header(struct state *st)
{
	struct str text = { 0 };

	if (sink_of(&st->opts)->probe != NULL)
		return;

	str_printf(&text, "%5s %10s %17s %33s %s\n", "ID", "PROVIDER", "MODULE",
	    "FUNCTION", "NAME");
	text_put(st->output.out, &text);
}

static void
attributes(struct printer *to, const char *title, const struct stability *s)
{
	str_printf(to->to,
	    "\n\t%s Attributes\n\t\tIdentifier Names: %s\n"
	    "\t\tData Semantics:   %s\n\t\tDependency Class: %s\n",
	    own(title), own(s->name), own(s->data), own(s->class));
}

/* The types of args[]. */
struct types_list {
	VEC(char *) list;
};

static void
types_list_fini(struct types_list *types)
{
	vec_foreach(t, &types->list)
		mem_free(*t);
	vec_fini(&types->list);
}

/* Add the arguments that the debug information describes. */
static void
typed_arguments(
    struct state *st, const struct probe *p, struct types_list *types)
{
	struct typed_args a;
	char buf[512];

	if (p->provider->typed == NULL || p->provider->typed(st, p, &a) != 0)
		return;
	for (size_t i = 0; i < a.n; i++)
		*vec_push(&types->list) = mem_strdup(a.args[i].native == NULL ?
			"(unknown)" :
			type_name(a.args[i].native, buf, sizeof(buf)));
}

static void
all_arguments(struct state *st, const struct probe *p, struct types_list *types)
{
	struct probe_arg a;

	typed_arguments(st, p, types);
	while (p->provider->arg != NULL &&
	    p->provider->arg(p, (unsigned)types->list.len, &a))
		*vec_push(&types->list) =
		    mem_strdup(a.translated != NULL ? a.translated :
			    a.type != NULL          ? a.type :
						      a.otherwise);
}

static void
argument_types(struct state *st, struct printer *to, const struct probe *p)
{
	struct types_list types = { 0 };

	all_arguments(st, p, &types);
	str_add(to->to, "\n\tArgument Types\n");
	for (size_t i = 0; i < types.list.len; i++) {
		str_printf(to->to, "\t\targs[%zu]: ", i);
		text_name(to, types.list.at[i]);
		str_addc(to->to, '\n');
	}
	str_add(to->to, types.list.len == 0 ? "\t\tNone\n\n" : "\n");
	types_list_fini(&types);
}

static void
note(struct printer *to, const struct probe *p)
{
	const char *text =
	    p->provider->note != NULL ? p->provider->note(p) : NULL;

	if (text != NULL)
		str_printf(to->to, "\tNote\n\t\t%s\n\n", own(text));
}

/* What -v adds about a probe. */
static void
probe_info(struct state *st, struct printer *to, const struct probe *p)
{
	attributes(to, "Probe Description", &p->provider->stability[STAB_NAME]);
	attributes(to, "Argument", &p->provider->stability[STAB_ARGS]);
	argument_types(st, to, p);
	note(to, p);
}

/* What -v of a list adds about the places of a probe, with option fastpath. */
static void
places_info(struct state *st, struct printer *to, const struct probe *p)
{
	struct str ways = { 0 };

	ways_text(st, p, "\t\t", &ways);
	if (ways.len > 0)
		str_printf(to->to, "\tPlaces\n%s\n", own(str_c(&ways)));
	str_fini(&ways);
}

/* Where it is evaluated: in the process that hits the probe, unless it needs
 * something that only the tracer has. */
static void
place(struct printer *to, const char *what, uint32_t needs)
{
	struct str words = { 0 };

	needs_text(needs, &words);
	if (words.len == 0)
		str_printf(to->to, "\t\t%s: in the process or by the tracer\n",
		    own(what));
	else
		str_printf(to->to, "\t\t%s: by the tracer, for %s\n", own(what),
		    own(str_c(&words)));
	str_fini(&words);
}

/* What -v adds about a clause on it. */
static void
clause_info(struct printer *to, const struct prog_clause *c)
{
	str_add(to->to, "\tEvaluation\n");
	if (c->pred != NULL)
		place(to, "predicate", c->pred->needs);
	if (c->nacts != 0)
		place(to, "actions", needs_of_acts(c));
	str_addc(to->to, '\n');
}

/* The same for formats that are no text. */
static void
more_info(struct state *st, struct printer *to, struct listed *l,
    const struct probe *p, const struct prog_clause *c)
{
	const struct stability *name = &p->provider->stability[STAB_NAME];
	const struct stability *args = &p->provider->stability[STAB_ARGS];
	struct str predicate = { 0 }, actions = { 0 }, places = { 0 };
	struct types_list types = { 0 };

	all_arguments(st, p, &types);
	ways_text(st, p, "", &places);
	if (c != NULL && c->pred != NULL)
		needs_text(c->pred->needs, &predicate);
	if (c != NULL && c->nacts != 0)
		needs_text(needs_of_acts(c), &actions);
	l->more = &(struct listed_more){
		.description = { name->name, name->data, name->class },
		.arguments = { args->name, args->data, args->class },
		.types = (const char *const *)types.list.at,
		.ntypes = types.list.len,
		.note = p->provider->note != NULL ? p->provider->note(p) : NULL,
		.predicate =
		    c != NULL && c->pred != NULL ? str_c(&predicate) : NULL,
		.actions = c != NULL && c->nacts != 0 ? str_c(&actions) : NULL,
		.places = places.len > 0 ? str_c(&places) : NULL,
	};
	sink_of(&st->opts)->probe(to, l);
	types_list_fini(&types);
	str_fini(&predicate);
	str_fini(&actions);
	str_fini(&places);
}

static void
list_for_sink(struct state *st, struct printer *to, const struct probe *p,
    const struct prog_clause *c, bool verbose)
{
	struct listed l = { p->id, p->prov, p->mod, p->func, p->name, NULL };

	if (verbose)
		more_info(st, to, &l, p, c);
	else
		sink_of(&st->opts)->probe(to, &l);
}

static void
list_as_text(struct state *st, struct printer *to, const struct probe *p,
    const struct prog_clause *c, bool verbose)
{
	str_printf(to->to, "%5u ", p->id);
	text_name_padded(to, p->prov, 10);
	str_addc(to->to, ' ');
	text_name_padded(to, p->mod, 17);
	str_addc(to->to, ' ');
	text_name_padded(to, p->func, 33);
	str_addc(to->to, ' ');
	text_name(to, p->name);
	str_addc(to->to, '\n');
	if (verbose)
		probe_info(st, to, p);
	if (verbose && c != NULL && (c->pred != NULL || c->nacts != 0))
		clause_info(to, c);
	if (verbose)
		places_info(st, to, p);
}

/* `c' is the clause that matches it, or NULL. */
static void
list_probe(struct state *st, const struct probe *p, const struct prog_clause *c,
    bool verbose)
{
	struct str text = { 0 };
	struct printer to = text_printer(st->output.out, &text);

	if (sink_of(&st->opts)->probe != NULL)
		list_for_sink(st, &to, p, c, verbose);
	else
		list_as_text(st, &to, p, c, verbose);
	text_put(st->output.out, &text);
}

static bool
is_matched(const struct prog *prog, const struct probe *p)
{
	for (size_t i = 0; i < prog->nclauses; i++)
		if (probe_matches(p, &prog->clauses[i]->desc))
			return true;
	return false;
}

/* List each probe that the program matches, once. */
static void
list_matched(struct state *st, struct printer *to, const struct prog *prog)
{
	vec_foreach(p, &st->probes.list) {
		if (!is_matched(prog, *p))
			continue;
		char *name = mem_printf("%s:%s:%s:%s", (*p)->prov, (*p)->mod,
		    (*p)->func, (*p)->name);
		text_name(to, name);
		str_addc(to->to, '\n');
		mem_free(name);
		probe_info(st, to, *p);
	}
}

static void
minimum(struct printer *to, const char *title, struct attr a)
{
	attributes(to, title,
	    &(struct stability){ attr_level_name(a.name),
		attr_level_name(a.data), attr_class_name(a.class) });
}

void
list_stability(
    struct state *st, const struct prog *prog, const char *name, bool probes)
{
	/* It is no part of the output of another format. */
	FILE *out =
	    sink_of(&st->opts) == &sink_text ? st->output.out : st->output.err;
	struct str text = { 0 };
	struct printer to = text_printer(out, &text);

	str_printf(&text, "\nStability attributes for %s:\n", own(name));
	minimum(&to, "Minimum Probe Description", prog->desc_attr);
	minimum(&to, "Minimum Statement", prog->stmt_attr);
	str_addc(&text, '\n');
	if (probes)
		list_matched(st, &to, prog);
	text_put(out, &text);
}

/* Programs look for DTrace's line, so the hint is a line of its own after
 * it. */
static void
say_unmatched(struct state *st, const struct probe_desc *pd)
{
	char *text = probe_desc_text(pd, false);
	struct str why = { 0 };

	if (!st->testing)
		unmatched_why(st, pd, &why);
	state_message(
	    st, "failed to match %s: No probe matches description", text);
	if (why.len > 0)
		state_message(st, "%s", str_c(&why));
	str_fini(&why);
	mem_free(text);
}

void
list_program(struct state *st, const struct prog *prog, bool verbose)
{
	for (size_t i = 0; i < prog->nclauses; i++) {
		const struct probe_desc *pd = &prog->clauses[i]->desc;
		bool any = false;
		vec_foreach(p, &st->probes.list) {
			if (!probe_matches(*p, pd))
				continue;
			list_probe(st, *p, prog->clauses[i], verbose);
			any = true;
		}
		if (any)
			continue;
		say_unmatched(st, pd);
	}
}

void
list_all(struct state *st, bool verbose)
{
	vec_foreach(p, &st->probes.list)
		list_probe(st, *p, NULL, verbose);
}

void
list_failures(struct state *st, bool verbose)
{
	const struct site_failures *all = site_failures(st);

	if (all == NULL)
		return;
	if (!verbose) {
		state_notice(st,
		    "%lu place%s could not be probed (-v says which)",
		    all->count, all->count == 1 ? "" : "s");
		return;
	}
	vec_foreach(f, &all->list)
		state_message(st, "cannot probe %s", *f);
	if (all->count > all->list.len)
		state_message(st, "and %lu more",
		    all->count - (unsigned long)all->list.len);
}
