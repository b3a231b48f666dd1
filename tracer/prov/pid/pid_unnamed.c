/*
 * Functions without a name: sub_ADDRESS.
 *
 *	sub_1139	the one at that address of the file
 *	sub_*		a glob that begins so: those that it matches
 *	*, others	in an object in which no function has a name: those
 *			that it matches; else none
 *
 * Also the messages about objects without names.
 */
#include <string.h>

#include "dlang/base/glob.h"
#include "symbols/addrspace.h"
#include "tracer/names/bodies.h"
#include "tracer/base/probe.h"
#include "tracer/prov/pid/pid_impl.h"
#include "tracer/base/state.h"

#define PREFIX "sub_"

static bool
begins_so(const char *func)
{
	return strncmp(func, PREFIX, sizeof(PREFIX) - 1) == 0;
}

/* The number of named functions, except those of the start-up code. */
static size_t
names_count(struct object *o)
{
	const struct sym *syms;
	size_t n = object_funcs(o, &syms), count = 0;

	for (size_t i = 0; i < n; i++)
		count += strcmp(syms[i].name, "_init") != 0 &&
		    strcmp(syms[i].name, "_fini") != 0;
	return count;
}

/* Part of the run: modules for which the message was printed. */
struct said {
	VEC(char *) modules;
};

static void
said_end(void *part)
{
	struct said *said = part;

	vec_foreach(m, &said->modules)
		mem_free(*m);
	vec_fini(&said->modules);
}

/* Was the message printed for this module?  It is printed once. */
static bool
is_said(struct state *st, const char *module)
{
	static const struct part part = { .size = sizeof(struct said),
		.end = said_end };
	struct said *said = part_of(&st->parts, &part);

	vec_foreach(m, &said->modules)
		if (strcmp(*m, module) == 0)
			return true;
	*vec_push(&said->modules) = mem_strdup(module);
	return false;
}

static void
say_nameless(struct pid_request *r)
{
	const char *func = r->pd->func, *module = r->load->module;

	if (!is_said(r->st, module))
		state_notice(r->st,
		    "%s has no function symbols: '%s' matches its functions "
		    "by address, sub_ADDRESS",
		    module, *func != '\0' ? func : "*");
}

static void
publish(struct pid_request *r, const struct sym *s)
{
	r->sym = s;
	r->start = r->load->bias + s->addr;
	r->size = s->size;
	r->functions++;
	pid_publish_function(r);
}

/* Say that only exported functions are matched, though the user asked for
 * all. */
static void
say_exported(struct pid_request *r, size_t names)
{
	if (!r->load->is_exec || r->d == NULL ||
	    object_has_symtab(r->load->object) ||
	    r->pd->func[strspn(r->pd->func, "*")] != '\0' ||
	    is_said(r->st, r->load->module))
		return;
	state_notice(r->st,
	    "%s has no symbol table: '*' means the %zu function%s that it "
	    "exports, 'sub_*' the others",
	    r->load->module, names, names == 1 ? "" : "s");
}

bool
pid_unnamed_means(const struct pid_probe *pp, const char *func)
{
	return !pp->aside || begins_so(func);
}

/* Say that a library has no names except those that it exports, if the user
 * named the library. */
static void
note_symless(struct pid_request *r)
{
	const char *mod = r->pd->mod;
	bool named = *mod != '\0' && !glob_is(mod);

	if (r->symless == NULL && (named || r->load->is_exec) &&
	    !object_has_symtab(r->load->object))
		r->symless = r->load;
}

/* Is this a part of a function that the compiler moved elsewhere?  Such parts
 * have unwind entries too. */
static bool
is_part(const struct pid_request *r, const struct sym *s)
{
	uint64_t start;

	return bodies_owner(r->st, r->load->object, s->addr, &start) == 0 &&
	    start != s->addr;
}

void
pid_publish_unnamed(struct pid_request *r)
{
	const char *func = r->pd->func;
	const struct sym *syms;
	uint64_t before = r->functions;
	bool asked = begins_so(func);
	size_t names = names_count(r->load->object);

	note_symless(r);
	if (!asked && names > 0)
		say_exported(r, names);
	if (!asked && (!r->globs || names > 0))
		return;
	r->aside = names > 0;
	size_t n = object_unnamed(r->load->object, &syms);
	for (size_t i = 0; i < n; i++)
		if (r->globs ? glob_match(func, syms[i].name) &&
			    !is_part(r, &syms[i]) :
			       strcmp(func, syms[i].name) == 0)
			publish(r, &syms[i]);
	r->aside = false;
	if (!asked && r->functions > before)
		say_nameless(r);
}

int
pid_unnamed_check(struct pid_request *r)
{
	const struct probe_desc *pd = r->pd;

	if (r->d == NULL || r->functions > 0 || r->symless == NULL)
		return 0;
	const char *module = r->symless->module;
	if (option_get(&r->st->opts, OPT_ZDEFS) != 0) {
		if (!is_said(r->st, module))
			state_notice(r->st, "%s has no symbol table", module);
		return 0;
	}
	if (*pd->mod != '\0' && !glob_is(pd->mod) && !r->globs)
		return diag_error(r->d, D_PROC_FUNC, r->at,
		    "failed to lookup '%s' in module '%s', which has no symbol "
		    "table%s",
		    pd->func, pd->mod,
		    names_count(r->symless->object) > 0 ?
			" but that of what it exports" :
			"");
	return diag_error(r->d, D_PDESC_ZERO, r->at,
	    "probe description %s:%s:%s:%s does not match any probes: %s has "
	    "no symbol table%s",
	    pd->prov, pd->mod, pd->func, pd->name, module,
	    names_count(r->symless->object) > 0 ?
		" but that of what it exports" :
		"");
}
