/*
 * The functions that a description of the pid provider means, and the sites in
 * each of them.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "disasm/func.h"
#include "dlang/base/glob.h"
#include "symbols/addrspace.h"
#include "tracer/probe.h"
#include "tracer/proc.h"
#include "tracer/prov/pid_impl.h"
#include "tracer/state.h"

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

static void
add_alias(struct pid_probe *pp, const char *name)
{
	vec_foreach(alias, &pp->aliases)
		if (strcmp(*alias, name) == 0)
			return;
	*vec_push(&pp->aliases) = mem_strdup(name);
}

void
pid_add_place(struct pid_request *r, enum pid_kind kind, const char *name,
    const struct pid_site *sites, size_t nsites)
{
	char prov[32];
	bool fresh;

	if (nsites == 0 && !r->pending)
		return;
	snprintf(prov, sizeof(prov), "pid%d", r->proc->family);
	const struct func_names *names =
	    places_func_names(r->st, r->load, r->sym);
	struct probe *p =
	    probe_add(&r->st->probes, &prov_pid, prov, r->load->module,
		names != NULL ? names->shown : r->sym->name, name, &fresh);
	if (fresh) {
		struct pid_probe *pp = mem_zalloc(sizeof(*pp));
		pp->kind = kind;
		pp->aside = r->aside;
		pp->places.family = r->proc->family;
		p->data = pp;
		if (names != NULL || r->also != NULL)
			probe_also(&r->st->probes, p,
			    names != NULL ? names->all : r->also);
	}
	struct pid_probe *pp = p->data;
	if (kind < PID_LINE && !r->globs && strcmp(p->func, r->pd->func) != 0)
		add_alias(pp, r->pd->func);
	uint32_t space = addrspace_id(r->proc->space->as);
	struct place **at = places_find(&pp->places, space, r->start);
	if (*at == NULL) {
		struct pid_place *pl =
		    mem_zalloc(sizeof(*pl) + nsites * sizeof(pl->sites[0]));
		pl->place = (struct place){
			.space = space, .addr = r->start, .load = r->load
		};
		pl->size = r->size;
		pl->pending = r->pending ? r->sym : NULL;
		pl->nsites = (uint32_t)nsites;
		if (nsites > 0)
			memcpy(pl->sites, sites, nsites * sizeof(pl->sites[0]));
		*at = &pl->place;
	}
	/* It was enabled before: another place, or its object came back. */
	if (p->image_ref != 0)
		prov_pid.enable(r->st, p);
}

static int
each_insn(void *ctx, const struct func_insn *in)
{
	struct pid_request *r = ctx;
	struct pid_site s = { .offset = (uint32_t)in->offset };

	if (r->offsets || in->offset == r->offset)
		*vec_push(&r->insns) = s;
	r->found_offset |= in->offset == r->offset;
	if (!r->ret || in->exit == FUNC_STAYS)
		return 0;
	s.conditional = in->exit == FUNC_TAIL_JCC;
	*vec_push(&r->exits) = s;
	return 0;
}

/* Nobody's function is larger; a symbol that says so lies. */
#define MAX_FUNC (16U << 20)

int
pid_walk(struct pid_request *r)
{
	if (r->size > MAX_FUNC)
		return -EFBIG;
	uint8_t *code = mem_alloc(r->size);
	int error = reader_read(&r->proc->space->text, r->start, code, r->size);
	if (error == 0)
		func_walk(code, r->size, r->start, each_insn, r, NULL);
	mem_free(code);
	return error;
}

void
pid_publish_function(struct pid_request *r)
{
	char name[32];

	vec_clear(&r->exits);
	vec_clear(&r->insns);
	if (r->entry) {
		struct pid_site first = { 0 };
		pid_add_place(r, PID_ENTRY, "entry", &first, 1);
	}
	if (!r->ret && !r->offsets && r->offset == UINT64_MAX)
		return;
	if (pid_walk(r) != 0)
		return;
	if (r->ret)
		pid_add_place(
		    r, PID_RETURN, "return", r->exits.at, r->exits.len);
	vec_foreach(s, &r->insns) {
		snprintf(name, sizeof(name), "%x", s->offset);
		if (r->offset == UINT64_MAX && !glob_match(r->pd->name, name))
			continue;
		pid_add_place(r, PID_OFFSET, name, s, 1);
	}
}

void
pid_publish_offset(struct pid_request *r, const char *name)
{
	pid_add_place(r, PID_OFFSET, name, r->insns.at, r->insns.len);
}

int
pid_measure(struct pid_request *r)
{
	struct load *l = addrspace_load_at(r->proc->space->as, r->start);
	uint64_t lo, hi;

	if (l == NULL)
		return -EAGAIN;
	uint64_t addr = r->start - l->bias;
	const struct sym *s = object_func_at(l->object, addr);
	if (s != NULL && s->addr == addr)
		r->size = s->size;
	else if (object_fde_range(l->object, addr, &lo, &hi) == 0)
		r->size = hi - addr;
	else
		return -EAGAIN;
	return 0;
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

/* Is it NAME.cold, NAME.cold.N or NAME.warm, a part of function NAME? */
static bool
is_part(const char *name)
{
	size_t len = strlen(name), digits = len;

	while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
		digits--;
	if (digits < len && digits > 0 && name[digits - 1] == '.')
		len = digits - 1;
	return len > 5 &&
	    (strncmp(name + len - 5, ".cold", 5) == 0 ||
		strncmp(name + len - 5, ".warm", 5) == 0);
}

/* Names that a glob does not mean: parts of functions and start-up code.  In Go
 * a dot stands between package and function. */
static bool
hidden_from_globs(const struct object *o, const char *name)
{
	return (is_part(name) && !object_is_go(o)) ||
	    strcmp(name, "_init") == 0 || strcmp(name, "_fini") == 0;
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
	r->globs = *r->pd->func == '\0' || glob_is(r->pd->func);
	publish_kind(r, true);
	publish_kind(r, false);
	pid_publish_unnamed(r);
	hash_fini(&r->seen);
}
