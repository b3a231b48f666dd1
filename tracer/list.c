/*
 * Listings; see list.h for what, cli-and-options for the columns.
 */
#include "tracer/list.h"

#include "dlang/cc/cc.h"
#include "dlang/prog.h"
#include "dlang/types.h"
#include "tracer/probe.h"
#include "tracer/prototype.h"
#include "tracer/provider.h"
#include "tracer/state.h"

void
list_header(struct state *st)
{
	fprintf(st->out, "%5s %10s %17s %33s %s\n", "ID", "PROVIDER", "MODULE",
	    "FUNCTION", "NAME");
}

static void
attributes(FILE *out, const char *title, const struct stability *s)
{
	fprintf(out,
	    "\n\t%s Attributes\n\t\tIdentifier Names: %s\n"
	    "\t\tData Semantics:   %s\n\t\tDependency Class: %s\n",
	    title, s->name, s->data, s->class);
}

/* Those that debug information tells. */
static unsigned
typed_arguments(struct state *st, const struct probe *p)
{
	struct typed_args a;
	char buf[512];

	if (p->provider->typed == NULL || p->provider->typed(st, p, &a) != 0)
		return 0;
	for (size_t i = 0; i < a.n; i++)
		fprintf(st->out, "\t\targs[%zu]: %s\n", i,
		    a.args[i].native == NULL ?
			"(unknown)" :
			type_name(a.args[i].native, buf, sizeof(buf)));
	return (unsigned)a.n;
}

static void
argument_types(struct state *st, const struct probe *p)
{
	FILE *out = st->out;
	struct probe_arg a;

	fputs("\n\tArgument Types\n", out);
	unsigned n = typed_arguments(st, p);
	for (; p->provider->arg != NULL && p->provider->arg(p, n, &a); n++)
		fprintf(out, "\t\targs[%u]: %s\n", n,
		    a.translated != NULL ? a.translated :
			a.type != NULL   ? a.type :
					   a.otherwise);
	fputs(n == 0 ? "\t\tNone\n\n" : "\n", out);
}

/* What -v adds about a probe. */
static void
probe_info(struct state *st, const struct probe *p)
{
	FILE *out = st->out;

	attributes(
	    out, "Probe Description", &p->provider->stability[STAB_NAME]);
	attributes(out, "Argument", &p->provider->stability[STAB_ARGS]);
	argument_types(st, p);
}

static void
list_probe(struct state *st, const struct probe *p, bool verbose)
{
	fprintf(st->out, "%5u %10s %17s %33s %s\n", p->id, p->prov, p->mod,
	    p->func, p->name);
	if (verbose)
		probe_info(st, p);
}

/* Each probe that the program matches, once. */
static void
list_matched(struct state *st, const struct prog *prog)
{
	vec_foreach(p, &st->probes.list) {
		size_t i = 0;
		while (i < prog->nclauses &&
		    !probe_matches(*p, &prog->clauses[i]->desc))
			i++;
		if (i == prog->nclauses)
			continue;
		fprintf(st->out, "%s:%s:%s:%s\n", (*p)->prov, (*p)->mod,
		    (*p)->func, (*p)->name);
		probe_info(st, *p);
	}
}

static void
minimum(FILE *out, const char *title, struct attr a)
{
	attributes(out, title,
	    &(struct stability){ attr_level_name(a.name),
		attr_level_name(a.data), attr_class_name(a.class) });
}

void
list_stability(
    struct state *st, const struct prog *prog, const char *name, bool probes)
{
	fprintf(st->out, "\nStability attributes for %s:\n", name);
	minimum(st->out, "Minimum Probe Description", prog->desc_attr);
	minimum(st->out, "Minimum Statement", prog->stmt_attr);
	fputc('\n', st->out);
	if (probes)
		list_matched(st, prog);
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
			list_probe(st, *p, verbose);
			any = true;
		}
		if (!any)
			state_message(st,
			    "failed to match %s:%s:%s:%s: No probe matches "
			    "description",
			    pd->prov, pd->mod, pd->func, pd->name);
	}
}

void
list_all(struct state *st, bool verbose)
{
	vec_foreach(p, &st->probes.list)
		list_probe(st, *p, verbose);
}

void
list_failures(struct state *st, bool verbose)
{
	if (st->failed == 0)
		return;
	if (!verbose) {
		state_notice(st,
		    "%lu place%s could not be probed (-v says which)",
		    st->failed, st->failed == 1 ? "" : "s");
		return;
	}
	vec_foreach(f, &st->failures)
		state_message(st, "cannot probe %s", *f);
	if (st->failed > st->failures.len)
		state_message(st, "and %lu more",
		    st->failed - (unsigned long)st->failures.len);
}
