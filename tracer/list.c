/*
 * Listings; see list.h for what, cli-and-options for the columns.
 */
#include "tracer/list.h"

#include "dlang/cc/cc.h"
#include "dlang/prog.h"
#include "dlang/types.h"
#include "tracer/probe.h"
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

static void
argument_types(struct state *st, const struct probe *p)
{
	int n = p->provider->nargs != NULL ? p->provider->nargs(p) : 0;
	struct world_arg a;
	char buf[256];

	fprintf(st->out, "\n\tArgument Types\n");
	if (n <= 0)
		fprintf(st->out, "\t\tNone\n");
	for (int i = 0; i < n; i++) {
		bool known =
		    p->provider->arg(p, (unsigned)i, cc_types(st->cc), &a) == 0;
		fprintf(st->out, "\t\targs[%d]: %s\n", i,
		    known ? type_name(
				a.translated != NULL ? a.translated : a.native,
				buf, sizeof(buf)) :
			    "(unknown)");
	}
	fputc('\n', st->out);
}

static void
list_probe(struct state *st, const struct probe *p, bool verbose)
{
	fprintf(st->out, "%5u %10s %17s %33s %s\n", p->id, p->prov, p->mod,
	    p->func, p->name);
	if (!verbose)
		return;
	attributes(
	    st->out, "Probe Description", &p->provider->stability[STAB_NAME]);
	attributes(st->out, "Argument", &p->provider->stability[STAB_ARGS]);
	argument_types(st, p);
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
