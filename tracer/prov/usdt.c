/*
 * Static probes of programs and libraries, which are described in notes of
 * their files (symbols/sdt.h).
 *
 * Provider p of process 123 is named p123. A probe has a place wherever the
 * compiler has put it, inlined copies included, so it has one or several.  An
 * enabled place has a tracepoint, and its semaphore is raised.
 *
 * The types of args[] come from the provider's declaration, if the file
 * contains it (`dtrap -G' adds it), and otherwise from the sizes of the
 * operands.
 */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/glob.h"
#include "dlang/cc/cc.h"
#include "dlang/types.h"
#include "dlang/world.h"
#include "symbols/addrspace.h"
#include "symbols/sdt.h"
#include "symbols/sdtarg.h"
#include "tracer/base/probe.h"
#include "tracer/ptrace/proc.h"
#include "tracer/base/progress.h"
#include "tracer/sites/places.h"
#include "tracer/survive/semaphore.h"
#include "tracer/sites/site.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/names/typename.h"

struct usdt_place {
	struct place place; /* first */
	uint64_t semaphore;
	uint64_t other_semaphore; /* see struct dependence */
	size_t nargs;
	struct argloc args[ARGLOC_MAX];
};

/* The structure in probe->data. */
struct usdt_probe {
	struct places places; /* first */
	size_t nargs; /* text is borrowed from the probe table's names */
	const char *native[ARGLOC_MAX], *args[ARGLOC_MAX];
	const char *by_size[ARGLOC_MAX]; /* types by operand size, if the
					  * declaration has none */
};

/* The state while one description is matched. */
struct request {
	struct state *st;
	const struct probe_desc *pd;
	const struct span *at;
	struct diags *d;
	struct proc *proc;
	struct load *load;
	const struct sdt_note *note;
	char *prov, *name; /* in the form of D */
};

/* ---- names ---- */

/* `__' in a C name means `-'. */
static char *
hyphenate(const char *s)
{
	char *out = mem_strdup(s), *to = out;

	for (; *s != '\0'; to++) {
		bool two = s[0] == '_' && s[1] == '_';
		*to = two ? '-' : *s;
		s += two ? 2 : 1;
	}
	*to = '\0';
	return out;
}

/* Does the pattern match the name with the pid, or is it equal to the name
 * without? */
static bool
prov_matches_name(const char *pattern, const char *prov, pid_t pid)
{
	char *full = mem_printf("%s%d", prov, pid);
	bool yes = glob_field(pattern, full) || strcmp(pattern, prov) == 0;

	mem_free(full);
	return yes;
}

/* ---- arguments ---- */

static int
symbol(void *ctx, const char *name, uint64_t *addr)
{
	const struct load *l = ctx;
	const struct sym *s = object_sym(l->object, name);

	if (s == NULL)
		return -ENOENT;
	*addr = l->bias + s->addr;
	return 0;
}

/* The integer type of an operand; NULL if its place is not supported. */
static const char *
type_by_size(const struct argloc *a)
{
	if (a->kind == ARGLOC_NONE)
		return NULL;
	if (a->kind == ARGLOC_ZERO)
		return "int";
	switch (a->size) {
	case 1: return a->is_signed ? "int8_t" : "uint8_t";
	case 2: return a->is_signed ? "int16_t" : "uint16_t";
	case 4: return a->is_signed ? "int" : "uint32_t";
	default: return a->is_signed ? "int64_t" : "uint64_t";
	}
}

/*
 * An operand may have another size or sign than the declared argument.  It is
 * converted as for a call: a wider value is truncated, and a value of the same
 * size gets the declared sign.
 */
static void
convert_arg(struct argloc *a, const struct type *t)
{
	if (t == NULL || !type_is_integer(t) || a->kind == ARGLOC_NONE)
		return;
	t = type_resolve((struct type *)(uintptr_t)t);
	if (t->size > a->size)
		return;
	a->size = (uint8_t)t->size;
	a->is_signed = t->is_signed;
	if (a->kind == ARGLOC_CONST)
		a->disp = sdt_truncate(a->disp, a->size, a->is_signed);
}

static void
convert_args(
    struct request *r, struct usdt_place *pl, const struct sdt_types *types)
{
	for (size_t i = 0; i < types->nargs && i < pl->nargs; i++)
		convert_arg(&pl->args[i],
		    typename_parse(
			cc_types(r->st->compiled.cc), types->args[i]));
}

/* Put the operands in the order of args[]. */
static void
map_args(struct usdt_place *pl, const struct sdt_types *types)
{
	struct argloc native[ARGLOC_MAX];
	size_t n = pl->nargs;

	memcpy(native, pl->args, sizeof(native));
	pl->nargs = MIN(types->nxargs, ARGLOC_MAX);
	for (size_t i = 0; i < pl->nargs; i++)
		pl->args[i] = types->map[i] < n ?
		    native[types->map[i]] :
		    (struct argloc){ .kind = ARGLOC_ZERO };
}

static const char *
keep(struct request *r, const char *text)
{
	return text != NULL ? intern(&r->st->probes.names, text) : NULL;
}

static void
set_types(struct request *r, struct usdt_probe *up, const struct usdt_place *pl,
    const struct sdt_types *types)
{
	up->nargs = pl->nargs;
	for (size_t i = 0; i < up->nargs; i++) {
		up->by_size[i] = type_by_size(&pl->args[i]);
		if (types == NULL)
			continue;
		up->args[i] = keep(r, types->xargs[i]);
		up->native[i] = keep(r,
		    types->map[i] < types->nargs ? types->args[types->map[i]] :
						   types->xargs[i]);
	}
}

/* ---- semaphores ---- */

/*
 * Probes that a program does not come by unless another one is watched, too.
 *
 * The interpreter of Python 3.11 looks at function__entry only where it has
 * left its fast path, which it does for the sake of line.  No tracepoint is
 * needed at the other probe: it is the semaphore that counts.
 */
static const struct dependence {
	const char *module;              /* a glob */
	const char *prov, *name, *other; /* as notes have them */
} dependences[] = {
	{ "*python3.11*", "python", "function__entry", "line" },
};

/* The address of the semaphore.  A wrong note must not make dtrap write to
 * another place, so the address is checked. */
static uint64_t
semaphore_of(const struct load *l, const struct sdt_note *n)
{
	return object_is_data(l->object, n->semaphore, 2) ?
	    l->bias + n->semaphore :
	    0;
}

static uint64_t
other_semaphore(const struct load *l, const struct sdt_note *note)
{
	const struct dependence *d = dependences,
				*end = d + ARRAY_SIZE(dependences);
	const struct sdt_note *notes;
	size_t n = object_sdt_notes(l->object, &notes);

	while (d < end &&
	    (strcmp(d->prov, note->provider) != 0 ||
		strcmp(d->name, note->name) != 0 ||
		!glob_match(d->module, l->module)))
		d++;
	for (size_t i = 0; d < end && i < n; i++)
		if (strcmp(notes[i].provider, d->prov) == 0 &&
		    strcmp(notes[i].name, d->other) == 0)
			return semaphore_of(l, &notes[i]);
	return 0;
}

/* ---- publishing ---- */

/* Set the locations of the arguments and, at the first place of a probe, their
 * types. */
static void
locate_args(struct request *r, struct usdt_probe *up, struct usdt_place *pl,
    const char *func)
{
	const struct sdt_place at = {
		.addr = pl->place.addr, .symbol = symbol, .ctx = r->load
	};
	struct sdt_types types;

	pl->nargs = sdt_args(r->note->args, &at, pl->args, ARGLOC_MAX);
	bool typed = object_sdt_types(
			 r->load->object, r->prov, func, r->name, &types) == 0;
	if (typed) {
		convert_args(r, pl, &types);
		map_args(pl, &types);
	}
	if (up->places.first == NULL)
		set_types(r, up, pl, typed ? &types : NULL);
}

static void
add_place(struct request *r, struct probe *p, const char *func)
{
	struct usdt_probe *up = p->data;
	uint32_t space = addrspace_id(r->proc->space->as);
	uint64_t pc = r->load->bias + r->note->pc;
	struct place **at = places_find(&up->places, space, pc, r->load);

	if (*at == NULL) {
		struct usdt_place *pl = mem_zalloc(sizeof(*pl));
		pl->place = (struct place){
			.space = space, .addr = pc, .load = r->load
		};
		pl->semaphore = semaphore_of(r->load, r->note);
		pl->other_semaphore = other_semaphore(r->load, r->note);
		locate_args(r, up, pl, func);
		*at = &pl->place;
	}
	/* The probe is enabled already: this is another place, or its object
	 * was mapped again. */
	if (p->image_ref != 0)
		prov_usdt.enable(r->st, p);
}

/* Publish the note as a place in the function `s', which may be NULL. */
static void
publish_note(struct request *r, const struct sym *s)
{
	const struct func_names *names =
	    s != NULL ? places_func_names(r->st, r->load, s) : NULL;
	const char *func = names != NULL ? names->shown :
	    s != NULL                    ? s->name :
					   "";
	bool fresh;
	char *prov = mem_printf("%s%d", r->prov, r->proc->role.family);
	struct probe *p = probe_add(&r->st->probes, &prov_usdt, prov,
	    r->load->module, func, r->name, &fresh);

	mem_free(prov);
	if (p->provider != &prov_usdt)
		return;
	if (fresh) {
		struct usdt_probe *up = mem_zalloc(sizeof(*up));
		up->places.family = r->proc->role.family;
		p->data = up;
		if (names != NULL)
			probe_also(&r->st->probes, p, names->all);
	}
	add_place(r, p, s != NULL ? s->name : NULL);
}

/* Does the description match the note?  Then its probe is published, if there
 * is a process for it. */
static bool
match_note(struct request *r, pid_t pid)
{
	const struct probe_desc *pd = r->pd;
	bool yes = false;

	r->prov = hyphenate(r->note->provider);
	r->name = hyphenate(r->note->name);
	if (glob_field(pd->name, r->name) &&
	    prov_matches_name(pd->prov, r->prov, pid)) {
		const struct sym *s =
		    object_code_at(r->load->object, r->note->pc);
		yes = s != NULL ?
		    places_func_matches(r->st, r->load, s, pd->func) :
		    glob_field(pd->func, "");
		if (yes && r->proc != NULL)
			publish_note(r, s);
	}
	mem_free(r->prov);
	mem_free(r->name);
	return yes;
}

/* The process whose number is in the names of a space's probes. */
static pid_t
named_after(const struct request *r, const struct addrspace *as)
{
	return r->proc != NULL ? r->proc->role.family : addrspace_pid(as);
}

/* Publish every matching note of a space.  Returns their number. */
static size_t
match_space(struct request *r, const struct addrspace *as)
{
	struct load *const *loads;
	const struct sdt_note *notes;
	size_t matched = 0, n = addrspace_loads(as, &loads);

	for (size_t i = 0; i < n; i++) {
		r->load = loads[i];
		if (!r->load->seen || r->load->writable_text ||
		    !load_matches(r->load, r->pd->mod) ||
		    (r->d == NULL && load_is_matched(r->load)))
			continue;
		size_t count = object_sdt_notes(r->load->object, &notes);
		for (size_t k = 0; k < count; k++) {
			r->note = &notes[k];
			matched += match_note(r, named_after(r, as));
		}
	}
	return matched;
}

/* ---- processes that the user has not named ---- */

static int
no_memory(void *ctx, uint64_t addr, void *buf, size_t len)
{
	return -EFAULT;
}

/* Attach to the processes that have the probe.  Their maps are read first;
 * other processes are not touched. */
static void
find_processes(struct request *r)
{
	static const struct reader nothing = { .read = no_memory };
	VEC(struct addrspace *) spaces = { 0 };
	struct pids pids = { 0 };
	char why[256];

	super_candidates(r->st->super, &pids);
	vec_foreach(pid, &pids.list) {
		struct addrspace *as = addrspace_create(*pid, &nothing);
		progress_part(r->st, (size_t)(pid - pids.list.at),
		    pids.list.len, "processes with probes of", r->pd->prov);
		/* Keep it until the end: most processes map the same
		 * objects. */
		*vec_push(&spaces) = as;
		if (addrspace_refresh(as, NULL, NULL) < 0 ||
		    match_space(r, as) == 0)
			continue;
		if (r->st->drive->attach(
			r->st, *pid, false, why, sizeof(why)) != 0) {
			state_notice(r->st, "%s", why);
			continue;
		}
		struct proc *p = super_proc(r->st->super, *pid);
		if (p != NULL)
			role_found(p);
	}
	vec_foreach(as, &spaces)
		addrspace_put(*as);
	vec_fini(&spaces);
	vec_fini(&pids.list);
}

/* Does the description ask for static probes in any process? */
static bool
wants_search(const struct request *r)
{
	if (r->d == NULL || r->st->super == NULL || r->st->named.any ||
	    *r->pd->prov == '\0')
		return false;
	for (const struct provider *const *p = r->st->providers; *p != NULL;
	     p++)
		if (strcmp((*p)->name, r->pd->prov) == 0)
			return false;
	return true;
}

/* The process whose number ends a literal provider name; 0 if there is no
 * number; -1 if it is not the number of a process, or not of the user's. */
static pid_t
named_pid(const char *prov)
{
	size_t len = strlen(prov), digits = 0;

	while (digits < len && isdigit((unsigned char)prov[len - digits - 1]))
		digits++;
	if (digits == 0)
		return 0;
	size_t name = len - digits;
	if (name == 0 || digits > 9 ||
	    (name == 3 && strncmp(prov, "pid", 3) == 0))
		return -1;
	return (pid_t)strtol(prov + name, NULL, 10);
}

/* Match in the descendants of the process. */
static void
match_children(struct request *r, pid_t pid)
{
	while ((r->proc = super_next(r->st->super, r->proc)) != NULL)
		if (r->proc->role.family == pid && r->proc->role.followed &&
		    r->proc->space->as != NULL)
			match_space(r, r->proc->space->as);
}

static int
provide(struct state *st, const struct probe_desc *pd, const struct span *at,
    struct diags *d)
{
	struct request r = { .st = st, .pd = pd, .at = at, .d = d };
	pid_t pid = glob_is(pd->prov) ? 0 : named_pid(pd->prov);
	struct proc *p = NULL;

	if (pd->id != 0 || pid < 0)
		return 0;
	if (pid > 0) {
		/* A process that does not exist has no probes, which is no
		 * error. */
		if (kill(pid, 0) != 0 && errno == ESRCH)
			return 0;
		int error = site_grab(st, pid, at, d, &r.proc);
		if (error == 0 && r.proc != NULL && r.proc->space->as != NULL)
			match_space(&r, r.proc->space->as);
		r.proc = NULL;
		if (error == 0 && pd->family)
			match_children(&r, pid);
		return error;
	}
	if (wants_search(&r))
		find_processes(&r);
	while (st->super != NULL && (p = super_next(st->super, p)) != NULL) {
		r.proc = p;
		if ((p->role.named || p->role.found || p->role.followed) &&
		    p->space->as != NULL)
			match_space(&r, p->space->as);
	}
	return 0;
}

/* ---- enabling ---- */

static void
enable_place(
    struct state *st, struct proc *proc, struct probe *p, struct place *pl)
{
	const struct usdt_place *at = (struct usdt_place *)pl;

	site_add(st, proc->space, pl->addr, p, at->args, (uint32_t)at->nargs);
	if (at->semaphore != 0)
		semaphore_raise(proc->space, at->semaphore);
	if (at->other_semaphore != 0)
		semaphore_raise(proc->space, at->other_semaphore);
}

static void
enable(struct state *st, struct probe *p)
{
	places_enable(st, p, enable_place);
}

static bool
prov_matches(const struct probe *p, const char *prov)
{
	size_t len = strlen(prov);

	/* p->prov is the name followed by the pid. */
	return len > 0 && strncmp(p->prov, prov, len) == 0 &&
	    isdigit((unsigned char)p->prov[len]) &&
	    !isdigit((unsigned char)prov[len - 1]);
}

/* The locations are in the order of args[] already. */
static bool
arg(const struct probe *p, unsigned n, struct probe_arg *out)
{
	const struct usdt_probe *up = p->data;

	if (n >= up->nargs)
		return false;
	*out = (struct probe_arg){
		.type = up->native[n],
		.otherwise = up->by_size[n],
		.translated = up->args[n],
		.source = n,
	};
	return true;
}

const struct provider prov_usdt = {
	.name = "usdt",
	.stability = {
		[STAB_PROVIDER] = { "Unstable", "Unstable", "Common" },
		[STAB_MODULE] = { "Unstable", "Unstable", "Common" },
		[STAB_FUNCTION] = { "Unstable", "Unstable", "Common" },
		[STAB_NAME] = { "Unstable", "Unstable", "Common" },
		[STAB_ARGS] = { "Unstable", "Unstable", "Common" },
	},
	.provide = provide,
	.enable = enable,
	.follows = true,
	.places = true,
	.per_process = true,
	.module_matches = places_module_matches,
	.prov_matches = prov_matches,
	.sites = places_sites,
	.arg = arg,
	.destroy = places_destroy,
};
