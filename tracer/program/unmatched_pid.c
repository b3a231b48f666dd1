/*
 * Why a description of the pid provider matches no probe; see unmatched.h.
 */
#include <string.h>

#include "dlang/base/glob.h"
#include "dlang/base/nearest.h"
#include "symbols/addrspace.h"
#include "symbols/dwarf_source.h"
#include "tracer/base/probe.h"
#include "tracer/ptrace/proc.h"
#include "tracer/sites/places.h"
#include "tracer/base/state.h"
#include "tracer/program/unmatched.h"

/* More objects than this, or longer names, would not help. */
#define SHOWN_MOST   8
#define NAME_LONGEST 120

/* A description, and one process. */
struct search {
	struct state *st;
	struct proc *proc;
	const struct probe_desc *pd;
	struct load *const *loads;
	size_t n;
};

static bool
search_begin(struct search *s, struct state *st, struct proc *p,
    const struct probe_desc *pd)
{
	*s = (struct search){ .st = st, .proc = p, .pd = pd };
	if (p->space->as == NULL)
		return false;
	s->n = addrspace_loads(p->space->as, &s->loads);
	return true;
}

/* Append the provider as the user probably wrote it. */
static void
add_provider(const struct search *s, struct str *to)
{
	if (s->proc->role.family == s->st->named.pid)
		str_add(to, "pid$target");
	else
		str_printf(to, "pid%d", (int)s->proc->role.family);
}

/* ---- objects ---- */

/* "libc" of "libc.so.6". */
static void
offer_module(struct nearest *near, const char *module)
{
	const char *so = strstr(module, ".so");

	nearest_offer(near, module);
	if (so == NULL)
		return;
	char *base = mem_strndup(module, (size_t)(so - module));
	nearest_offer(near, base);
	mem_free(base);
}

/* Hint if no object has the name. */
static void
tell_modules(const struct search *s, struct str *to)
{
	const char *names[SHOWN_MOST];
	struct nearest near;
	size_t n = 0;

	nearest_init(&near, s->pd->mod);
	nearest_offer(&near, "a.out");
	for (size_t i = 0; i < s->n; i++) {
		if (!s->loads[i]->seen)
			continue;
		offer_module(&near, s->loads[i]->module);
		if (n < SHOWN_MOST)
			names[n] = s->loads[i]->module;
		n++;
	}
	unmatched_name(s->proc, to);
	str_printf(to, " has no object %s", s->pd->mod);
	if (nearest_found(&near)) {
		str_add(to, nearest_hint(&near));
	} else if (n <= SHOWN_MOST) {
		str_add(to, "; it has ");
		unmatched_list(to, names, n);
	} else {
		str_printf(
		    to, "; it has a.out, its program, and %zu others", n - 1);
	}
	nearest_fini(&near);
}

/* ---- functions ---- */

/* The first function of that name in the object. */
static const struct sym *
find_function(const struct state *st, const struct load *l, const char *func)
{
	const struct sym *syms;
	size_t n = object_funcs(l->object, &syms);

	for (size_t i = 0; i < n; i++)
		if (places_func_matches(st, l, &syms[i], func))
			return &syms[i];
	return NULL;
}

/* Is `name' the last part of a longer name, as put in shop::put and Sell in
 * main.(*Till).Sell? */
static bool
ends_in(const char *longer, const char *name)
{
	size_t n = strlen(name), l = strlen(longer);

	if (l <= n || strcmp(longer + l - n, name) != 0)
		return false;
	char before = longer[l - n - 1];
	return before == ':' || before == '.' || before == '/';
}

/* A name without arguments of templates and functions, and without the `*' and
 * parentheses of a Go receiver. */
static void
bare_name(const char *name, struct str *to)
{
	int angles = 0;

	str_clear(to);
	for (const char *p = name; *p != '\0'; p++) {
		if (*p == '(' && p[1] != '*' && p > name && p[-1] != '.' &&
		    strncmp(p, "(anonymous", 10) != 0)
			break; /* parameters */
		angles += *p == '<';
		if (angles == 0 && strchr("(*) ", *p) == NULL)
			str_addc(to, *p);
		angles -= *p == '>' && angles > 0;
	}
}

/* The last part of a name. */
static const char *
last_word(const char *name)
{
	const char *end = name + strlen(name);

	while (end > name && strchr(":./", end[-1]) == NULL)
		end--;
	return end;
}

/* Compares names of functions, as a whole and by their last parts. */
struct like {
	struct nearest near;
	struct str bare, other; /* the wanted name and another one, without
			      * brackets */
	unsigned last_limit;    /* greatest distance of last parts */
};

static void
like_init(struct like *k, const char *want)
{
	*k = (struct like){ 0 };
	nearest_init(&k->near, want);
	bare_name(want, &k->bare);
	k->last_limit = nearest_limit(last_word(str_c(&k->bare)));
}

static void
like_fini(struct like *k)
{
	nearest_fini(&k->near);
	str_fini(&k->bare);
	str_fini(&k->other);
}

static void
offer_function(struct like *k, const char *name)
{
	const char *bare = str_c(&k->bare);

	if (strlen(name) > NAME_LONGEST)
		return;
	nearest_offer(&k->near, name);
	if (*bare == '\0' || strpbrk(name, ":.(<") == NULL)
		return;
	bare_name(name, &k->other);
	const char *other = str_c(&k->other);
	unsigned limit = k->last_limit;
	unsigned d = nearest_distance(last_word(bare), last_word(other), limit);
	if (strcmp(other, bare) == 0)
		nearest_offer_at(&k->near, name, 0);
	else if (ends_in(other, bare))
		nearest_offer_at(&k->near, name, 1);
	else if (d <= limit)
		nearest_offer_at(&k->near, name, 1 + d);
}

static void
offer_functions(const struct search *s, const struct load *l, struct like *k)
{
	const struct sym *syms;
	size_t n = object_funcs(l->object, &syms);

	for (size_t i = 0; i < n; i++) {
		if (object_is_piece(l->object, syms[i].name))
			continue;
		const struct func_names *names =
		    places_func_names(s->st, l, &syms[i]);
		offer_function(k, names != NULL ? names->shown : syms[i].name);
	}
}

static bool
is_meant(const struct search *s, const struct load *l)
{
	return l->seen && load_matches(l, s->pd->mod);
}

/* A user knows the names of the program better than those of its libraries. */
static void
offer_all(const struct search *s, struct like *k)
{
	struct load *exec = addrspace_exec(s->proc->space->as);

	if (exec != NULL && is_meant(s, exec))
		offer_functions(s, exec, k);
	for (size_t i = 0; i < s->n && !nearest_found(&k->near); i++)
		if (s->loads[i] != exec && is_meant(s, s->loads[i]))
			offer_functions(s, s->loads[i], k);
}

/* Hint if an object that the description does not name has the function. */
static bool
tell_elsewhere(const struct search *s, struct str *to)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct load *l = s->loads[i];
		if (!l->seen || is_meant(s, l) ||
		    find_function(s->st, l, s->pd->func) == NULL)
			continue;
		str_printf(to, "%s has it: ", l->module);
		add_provider(s, to);
		str_printf(
		    to, ":%s:%s:%s", l->module, s->pd->func, s->pd->name);
		return true;
	}
	return false;
}

struct inlined {
	const char *func;
	bool found;
};

static void
inline_seen(void *ctx, const char *name, const char *linkage, uint64_t addr)
{
	struct inlined *in = ctx;

	in->found |= strcmp(name, in->func) == 0 ||
	    (linkage != NULL && strcmp(linkage, in->func) == 0);
}

/* Hint if all calls of the function are inlined.  Debug information of a
 * library is read only if the description names it, because it may be large. */
static bool
tell_inlined(const struct search *s, struct str *to)
{
	struct inlined in = { .func = s->pd->func };

	for (size_t i = 0; i < s->n && !in.found; i++) {
		const struct load *l = s->loads[i];
		if (!is_meant(s, l) || (*s->pd->mod == '\0' && !l->is_exec))
			continue;
		dwarf_inlines(l->object, inline_seen, &in);
		if (!in.found)
			continue;
		str_add(to, "all calls of it are inlined: ");
		add_provider(s, to);
		str_printf(to, ":%s:%s:inline-entry",
		    l->is_exec ? "a.out" : l->module, s->pd->func);
	}
	return in.found;
}

static bool
tell_variable(const struct search *s, struct str *to)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct sym *v = is_meant(s, s->loads[i]) ?
		    object_sym(s->loads[i]->object, s->pd->func) :
		    NULL;
		if (v == NULL || v->kind == SYM_FUNC || v->kind == SYM_IFUNC)
			continue;
		str_printf(to, "%s is a variable of %s", s->pd->func,
		    s->loads[i]->module);
		return true;
	}
	return false;
}

/* No name is similar: say how to list the functions. */
static void
tell_where(const struct search *s, struct str *to)
{
	const struct load *exec = addrspace_exec(s->proc->space->as);

	if (exec != NULL && is_meant(s, exec) &&
	    !object_has_symtab(exec->object)) {
		str_add(to,
		    "sub_* matches its functions, named by address; its "
		    "package of debug symbols would give their names");
		return;
	}
	if (*s->pd->mod == '\0') {
		str_add(to, "no object of ");
		unmatched_name(s->proc, to);
		str_add(to, " has a function of that name");
		return;
	}
	str_add(to, "-l -n '");
	add_provider(s, to);
	str_printf(to, ":%s::entry' lists those that it has", s->pd->mod);
}

/* Language runtimes, recognised by a function that they export.  Their
 * interpreted or compiled functions are not functions of an object. */
static const struct runtime {
	const char *sym, *language, *probe;
} runtimes[] = {
	{ "PyEval_EvalCode", "Python",
	    "python$target:::function-entry has them, " },
	{ "rb_funcallv", "Ruby", "ruby$target:::method-entry has them, " },
	{ "zend_execute", "PHP", "php$target:::function-entry has them, " },
	{ "JNI_CreateJavaVM", "Java",
	    "hotspot$target:::method-entry has them, " },
	{ "node_module_register", "JavaScript", "" },
};

static bool
has_symbol(const struct search *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->loads[i]->seen &&
		    object_sym(s->loads[i]->object, name) != NULL)
			return true;
	return false;
}

static void
tell_language(const struct search *s, struct str *to)
{
	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++) {
		const struct runtime *r = &runtimes[i];
		if (!has_symbol(s, r->sym))
			continue;
		str_printf(to,
		    "the pid provider has no functions written in %s: "
		    "%sjstack() shows them; ",
		    r->language, r->probe);
		return;
	}
}

/* Hint if no object that the description names has the function. */
static void
tell_functions(const struct search *s, struct str *to)
{
	struct like k;

	if (tell_elsewhere(s, to) || tell_variable(s, to) ||
	    tell_inlined(s, to))
		return;
	tell_language(s, to);
	like_init(&k, s->pd->func);
	offer_all(s, &k);
	if (nearest_found(&k.near)) {
		str_add(to, nearest_question(&k.near));
	} else {
		tell_where(s, to);
	}
	like_fini(&k);
}

/* Is it a glob?  The star of a Go receiver, as in main.(*T).f, does not
 * count. */
static bool
is_glob(const char *func)
{
	return glob_is(func) && strstr(func, "(*") == NULL;
}

/* Hint if the function exists, but not the probe in it. */
static void
tell_name(const struct search *s, struct str *to)
{
	if (strcmp(s->pd->name, "return") == 0)
		str_printf(
		    to, "%s has no instruction that returns", s->pd->func);
	else
		str_add(to, "its code cannot be decoded");
}

void
unmatched_pid(struct state *st, struct proc *p, const struct probe_desc *pd,
    struct str *to)
{
	struct search s;
	bool object = false, function = false;

	if (!search_begin(&s, st, p, pd))
		return;
	for (size_t i = 0; i < s.n; i++) {
		if (!is_meant(&s, s.loads[i]))
			continue;
		object = true;
		function |= find_function(st, s.loads[i], pd->func) != NULL;
	}
	if (!object)
		tell_modules(&s, to);
	else if (function && *pd->func != '\0' && !is_glob(pd->func))
		tell_name(&s, to);
	else if (!function && !is_glob(pd->func))
		tell_functions(&s, to);
	else if (!function)
		tell_where(&s, to);
}

bool
unmatched_function(struct state *st, const char *func, struct str *to)
{
	static const struct probe_desc any = { "", "", "", "", 0, false };
	struct proc *p = NULL;
	struct search s;

	while (st->super != NULL && (p = super_next(st->super, p)) != NULL) {
		if (!search_begin(&s, st, p, &any))
			continue;
		for (size_t i = 0; i < s.n; i++) {
			if (!s.loads[i]->seen ||
			    find_function(st, s.loads[i], func) == NULL)
				continue;
			add_provider(&s, to);
			str_printf(to, "::%s", func);
			return true;
		}
	}
	return false;
}

bool
unmatched_like(struct state *st, const char *func, struct str *to)
{
	static const struct probe_desc any = { "", "", "", "", 0, false };
	struct proc *p = NULL;
	struct search s;
	struct like k;

	if (st->super == NULL || is_glob(func) ||
	    (p = super_next(st->super, NULL)) == NULL ||
	    !search_begin(&s, st, p, &any))
		return false;
	like_init(&k, func);
	offer_all(&s, &k);
	bool found = nearest_found(&k.near);
	if (found) {
		str_add(to, "did you mean ");
		add_provider(&s, to);
		str_printf(to, "::%s:entry?", k.near.name[0]);
	}
	like_fini(&k);
	return found;
}
