/*
 * Answers to the compiler; see world.h.
 */
#include "tracer/program/world.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "dlang/base/glob.h"
#include "dlang/types.h"
#include "tracer/program/absent.h"
#include "tracer/program/enable.h"
#include "tracer/program/typed_use.h"
#include "tracer/names/external.h"
#include "tracer/names/locals.h"
#include "tracer/names/prototype.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/names/typename.h"
#include "tracer/program/unmatched.h"

static void
world_unmatched(void *ctx, const struct probe_desc *pd, struct str *to)
{
	absent_provider(ctx, pd, to);
	if (to->len == 0)
		unmatched_why(ctx, pd, to);
}

/* The provider reports a function that does not exist. */
static int64_t
world_probes(void *ctx, const struct probe_desc *pd, const struct span *at,
    struct diags *d)
{
	int64_t n = enable_provide(ctx, pd, at, d);
	struct str why = { 0 };

	if (n < 0 && d->any &&
	    (d->first.tag == D_PROC_FUNC || d->first.tag == D_PDESC_ZERO)) {
		unmatched_why(ctx, pd, &why);
		if (why.len > 0)
			diag_hint(d, "%s", str_c(&why));
		str_fini(&why);
	}
	return n;
}

/* Does the field name a process: pid123? */
static bool
names_process(const struct provider *prov, const char *field)
{
	size_t n = strlen(prov->name);

	return prov->per_process && strncmp(field, prov->name, n) == 0 &&
	    strspn(field + n, "0123456789") == strlen(field + n);
}

static bool
world_provider(void *ctx, const char *field)
{
	const struct state *st = ctx;

	if (*field == '\0')
		return false;
	if (unmatched_kernel(field))
		return true;
	for (const struct provider *const *p = st->providers; *p != NULL; p++)
		if (glob_field(field, (*p)->name) || names_process(*p, field))
			return true;
	vec_foreach(p, &st->probes.list)
		if (glob_field(field, (*p)->prov))
			return true;
	return false;
}

/* The type of args[n] of one probe.  False if there is none. */
static bool
probe_arg(const struct probe *p, unsigned n, struct probe_arg *out)
{
	*out = (struct probe_arg){ 0 };
	return p->provider->arg != NULL && p->provider->arg(p, n, out);
}

static bool
same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool
same_typed(struct state *st, const struct probe *p, const struct probe *q)
{
	struct typed_args a, b;

	return p->provider == q->provider && p->provider->typed != NULL &&
	    p->provider->typed(st, p, &a) == 0 &&
	    p->provider->typed(st, q, &b) == 0 && typed_args_equal(&a, &b);
}

static bool
same_args(struct state *st, const struct probe *p, const struct probe *q)
{
	struct probe_arg a, b;
	bool more = true;

	if (p->provider->typed != NULL || q->provider->typed != NULL)
		return same_typed(st, p, q);

	for (unsigned n = 0; more; n++) {
		more = probe_arg(p, n, &a);
		if (more != probe_arg(q, n, &b) || a.source != b.source ||
		    !same_text(a.type, b.type) ||
		    !same_text(a.otherwise, b.otherwise) ||
		    !same_text(a.translated, b.translated))
			return false;
	}
	return true;
}

/* A probe that has the same arguments as all that match.  NULL with *error; for
 * -ENOTUNIQ, two probes that differ are in `unlike'. */
static const struct probe *
typical(struct state *st, const struct probe_desc *pd, int *error,
    const struct probe *unlike[2])
{
	const struct probe *first = NULL;

	*error = -ENOENT;
	vec_foreach(p, &st->probes.list) {
		if (!probe_matches(*p, pd))
			continue;
		if (first == NULL)
			first = *p;
		else if (!same_args(st, first, *p)) {
			*error = -ENOTUNIQ;
			unlike[0] = first;
			unlike[1] = *p;
			return NULL;
		}
	}
	return first;
}

static int
typed_nargs(struct state *st, const struct probe_desc *pd,
    const struct probe *p, const char **why)
{
	struct typed_args a;
	int error = p->provider->typed(st, p, &a);

	if (error != 0)
		return error;
	*why = a.why;
	if (a.n == 0)
		return -ENOENT;
	typed_use_note(st, pd, &a);
	return (int)a.n;
}

static int
typed_arg(
    struct state *st, const struct probe *p, unsigned n, struct world_arg *out)
{
	struct typed_args a;

	if (p->provider->typed(st, p, &a) != 0 || n >= a.n)
		return -ENOENT;
	*out = a.args[n];
	return out->native != NULL ? 0 : -ENOENT;
}

#define TYPE_TEXT 160 /* of a type in a message */

/* The type of args[n] of a probe as text; "" if there is none. */
static void
arg_text(struct state *st, const struct probe *p, unsigned n, struct str *to)
{
	static const char unknown[] = "of no known type";
	struct typed_args typed;
	struct probe_arg a;
	char buf[TYPE_TEXT];

	str_clear(to);
	if (p->provider->typed != NULL) {
		if (p->provider->typed(st, p, &typed) != 0 || n >= typed.n)
			return;
		const struct type *t = typed.args[n].native;
		str_add(
		    to, t != NULL ? type_name(t, buf, sizeof(buf)) : unknown);
	} else if (probe_arg(p, n, &a)) {
		str_add(to,
		    a.translated != NULL ? a.translated :
			a.type != NULL   ? a.type :
					   unknown);
	}
}

static void
add_arg_of(struct str *to, const struct probe *p, unsigned n, const char *what)
{
	str_printf(to, "%s:%s ", p->func, p->name);
	if (*what != '\0')
		str_printf(to, "has %s as args[%u]", what, n);
	else if (n == 0)
		str_add(to, "has no args[ ]");
	else
		str_printf(to, "has no args[%u]", n);
}

/* The first difference between two probes with different arguments. */
static const char *
difference_text(struct state *st, struct types *ts, const struct probe *p,
    const struct probe *q)
{
	struct str a = { 0 }, b = { 0 }, text = { 0 };
	unsigned n = 0;

	for (;; n++) {
		arg_text(st, p, n, &a);
		arg_text(st, q, n, &b);
		if (a.len == 0 || strcmp(str_c(&a), str_c(&b)) != 0)
			break;
	}
	if (a.len == 0 && b.len == 0) {
		/* The types have the same name, or there are several functions
		 * of one name. */
		str_printf(&text,
		    "%s:%s:%s and %s:%s:%s do not have the same arguments",
		    p->mod, p->func, p->name, q->mod, q->func, q->name);
	} else {
		add_arg_of(&text, p, n, str_c(&a));
		str_add(&text, ", ");
		add_arg_of(&text, q, n, str_c(&b));
	}
	str_printf(&text, ": write a clause for each, or arg%u here", n);
	const char *kept = types_strdup(ts, str_c(&text));
	str_fini(&a);
	str_fini(&b);
	str_fini(&text);
	return kept;
}

static int
world_nargs(
    void *ctx, const struct probe_desc *pd, struct types *ts, const char **why)
{
	struct probe_arg a;
	int error, n = 0;
	const struct probe *unlike[2] = { NULL, NULL };
	const struct probe *p = typical(ctx, pd, &error, unlike);

	if (p == NULL && error == -ENOENT)
		*why = "there is no such probe yet to tell their types";
	if (p == NULL && error == -ENOTUNIQ)
		*why = difference_text(ctx, ts, unlike[0], unlike[1]);
	if (p == NULL)
		return error;
	if (p->provider->typed != NULL)
		return typed_nargs(ctx, pd, p, why);
	if (p->provider->arg == NULL)
		return -ENOENT;
	while (probe_arg(p, (unsigned)n, &a))
		n++;
	return n;
}

static int
world_arg(void *ctx, const struct probe_desc *pd, unsigned n, struct types *ts,
    struct world_arg *out)
{
	struct probe_arg a;
	int error;
	const struct probe *unlike[2];
	const struct probe *p = typical(ctx, pd, &error, unlike);

	if (p == NULL)
		return error;
	if (p->provider->typed != NULL)
		return typed_arg(ctx, p, n, out);
	if (!probe_arg(p, n, &a))
		return -ENOENT;
	out->source = a.source;
	/* An address of characters can be used as a string without
	 * conversion. */
	if (a.translated != NULL && strcmp(a.translated, "string") == 0) {
		out->native = out->translated = types_lookup(ts, "string");
		return 0;
	}
	out->native = typename_parse(ts, a.type);
	if (out->native == NULL)
		out->native = typename_parse(ts, a.otherwise);
	out->translated = a.translated != NULL ?
	    typename_parse(ts, a.translated) :
	    out->native;
	return out->native != NULL ? 0 : -ENOENT;
}

static int
world_symbol(void *ctx, const char *object, const char *name, struct types *ts,
    struct world_symbol *out)
{
	return external_symbol(ctx, object, name, ts, out);
}

static int
world_local(void *ctx, const struct probe_desc *pd, const char *name,
    bool address, struct types *ts, struct world_local *out)
{
	return locals_find(ctx, pd, name, address, ts, out);
}

static int
world_type(void *ctx, const char *object, const char *name, struct types *ts,
    struct type **out)
{
	return external_type(ctx, object, name, ts, out);
}

static bool
world_stability(
    void *ctx, const struct probe_desc *pd, struct attr parts[ATTR_PARTS])
{
	const struct state *st = ctx;
	const struct provider *prov = NULL;

	if (pd->prov[0] == '\0' && pd->id == 0)
		return false;
	vec_foreach(p, &st->probes.list) {
		if (pd->id != 0 ? (*p)->id == pd->id :
				  strcmp((*p)->prov, pd->prov) == 0) {
			prov = (*p)->provider;
			break;
		}
	}
	for (int i = 0; prov != NULL && i < ATTR_PARTS; i++) {
		const struct stability *s = &prov->stability[i];
		if (!attr_words(s->name, s->data, s->class, &parts[i]))
			return false;
	}
	return prov != NULL;
}

static int
world_macro(void *ctx, const char *name, int64_t *value)
{
	const struct state *st = ctx;
	const struct {
		const char *name;
		int64_t value;
	} rows[] = {
		{ "target", st->named.pid },
		{ "target set", st->named.set }, /* desc.c asks */
		{ "pid", getpid() },
		{ "ppid", getppid() },
		{ "pgid", getpgid(0) },
		{ "sid", getsid(0) },
		{ "uid", getuid() },
		{ "euid", geteuid() },
		{ "gid", getgid() },
		{ "egid", getegid() },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].name, name) == 0) {
			*value = rows[i].value;
			return 0;
		}
	}
	return -ENOENT;
}

const struct world_ops world_ops = {
	.probes = world_probes,
	.unmatched = world_unmatched,
	.provider = world_provider,
	.nargs = world_nargs,
	.arg = world_arg,
	.symbol = world_symbol,
	.local = world_local,
	.type = world_type,
	.stability = world_stability,
	.macro = world_macro,
};
