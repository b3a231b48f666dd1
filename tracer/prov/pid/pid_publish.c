/*
 * The functions that a description of the pid provider means.
 */
#include <errno.h>
#include <string.h>

#include "dlang/base/glob.h"
#include "symbols/addrspace.h"
#include "tracer/base/probe.h"
#include "tracer/ptrace/proc.h"
#include "tracer/base/progress.h"
#include "tracer/prov/pid/pid_impl.h"

bool
pid_function_matches(const struct probe *p, const char *func)
{
	const struct pid_probe *pp = p->data;

	if (strcmp(p->func, func) == 0)
		return true;
	if (pp->kind == PID_LINE)
		return pid_line_matches(p, func);
	vec_foreach(alias, &pp->aliases)
		if (strcmp(*alias, func) == 0)
			return true;
	return false;
}

/* Where the function is: an IFUNC is where it was resolved to. */
static int
locate(struct pid_request *r)
{
	uint64_t impl;

	r->start = r->load->bias + r->sym->addr;
	r->size = r->sym->size;
	if (r->sym->kind != SYM_IFUNC)
		return 0;
	if (addrspace_ifunc(r->proc->space->as, r->load, r->sym, &impl) != 0)
		return -EAGAIN;
	r->start = impl;
	return pid_measure(r);
}

/* An IFUNC that nobody has called yet: entry and return are promised, and kept
 * when its resolver has said where the function is. */
static void
publish_pending(struct pid_request *r)
{
	r->pending = true;
	if (r->entry)
		pid_add_place(r, PID_ENTRY, "entry", NULL, 0);
	if (r->ret)
		pid_add_place(r, PID_RETURN, "return", NULL, 0);
	r->pending = false;
}

/* Names that a glob does not mean: pieces of functions and start-up code. */
static bool
hidden_from_globs(const struct object *o, const char *name)
{
	return object_is_piece(o, name) || strcmp(name, "_init") == 0 ||
	    strcmp(name, "_fini") == 0;
}

static bool
symbol_matches(const struct pid_request *r, const struct sym *s)
{
	const char *func = r->pd->func;

	if (s->size == 0 || !object_is_text(r->load->object, s->addr))
		return false;
	if (r->globs && hidden_from_globs(r->load->object, s->name))
		return false;
	return places_func_matches(r->st, r->load, s, func);
}

/* A description means each function once, by the best of its names that match;
 * who names an alias gets it. */
static bool
is_alias(struct pid_request *r)
{
	return hash_set(&r->seen, r->start, r) != NULL;
}

/*
 * A function with two names that differ by leading underscores is one probe by
 * the better of them, whichever is asked for, as in DTrace.  Other aliases
 * (open64, functions that a linker folded into one) are probes of their own.
 */
static const struct sym *
canonical(
    const struct pid_request *r, const struct sym *s, const struct sym *first)
{
	const char *bare = s->name + strspn(s->name, "_");
	const struct sym *best = s;

	if (r->globs)
		return s;
	for (const struct sym *a = s;
	     a > first && a[-1].addr == s->addr && a[-1].size == s->size; a--)
		if (a[-1].kind == s->kind &&
		    strcmp(a[-1].name + strspn(a[-1].name, "_"), bare) == 0)
			best = a - 1;
	return best;
}

/* The symbols of one kind that match. */
static void
publish_kind(struct pid_request *r, bool ifunc)
{
	const struct sym *syms;
	size_t n = object_funcs(r->load->object, &syms);

	for (size_t i = 0; i < n; i++) {
		const struct sym *s = &syms[i];
		progress_part(r->st, i, n, "functions of", r->load->module);
		if ((s->kind == SYM_IFUNC) != ifunc || !symbol_matches(r, s))
			continue;
		r->sym = canonical(r, s, syms);
		r->functions++;
		if (locate(r) != 0)
			publish_pending(r);
		else if (!is_alias(r))
			pid_publish_function(r);
	}
}

/* IFUNCs first: memcpy says more than the name of the implementation. */
void
pid_publish_load(struct pid_request *r)
{
	progress(r->st, "functions of %s", r->load->module);
	r->globs = *r->pd->func == '\0' || glob_is(r->pd->func);
	publish_kind(r, true);
	publish_kind(r, false);
	pid_publish_unnamed(r);
	hash_fini(&r->seen);
}
