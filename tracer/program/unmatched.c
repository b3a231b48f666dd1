/*
 * Why a description matches no probe; see unmatched.h.
 *
 * The fields of the description are applied one after the other, from the
 * provider on.  The first field that leaves no probe is the wrong one.  The
 * values of this field in the probes that were left are what the user can
 * choose from.
 */
#include "tracer/program/unmatched.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/glob.h"
#include "dlang/base/nearest.h"
#include "tracer/base/probe.h"
#include "tracer/ptrace/proc.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"

/* More names than this would not help. */
#define SHOWN_MOST 12

/* ---- providers of the kernel ---- */

#define CALLS     "syscall has the calls that a process makes"
#define FUNCTIONS "pid$target has the functions of a process"

/* clang-format off */
static const struct kernel_row {
	const char *prov, *instead;
} kernel_rows[] = {
	{ "fbt",	FUNCTIONS ", " CALLS },
	{ "fpuinfo",	"profile-997 samples what runs" },
	{ "io",		CALLS ", read and write among them" },
	{ "ip",		CALLS ", sendto and recvfrom among them" },
	{ "kinst",	FUNCTIONS },
	{ "lockstat",	"plockstat$target has the locks of a process" },
	{ "mib",	CALLS },
	{ "nfs",	CALLS },
	{ "rawfbt",	FUNCTIONS ", " CALLS },
	{ "rawtp",	CALLS },
	{ "sctp",	CALLS ", sendto and recvfrom among them" },
	{ "sdt",	"static probes of a program have a provider of their "
			"own: NAME$target" },
	{ "sysinfo",	CALLS },
	{ "tcp",	CALLS ", connect and accept among them" },
	{ "udp",	CALLS ", sendto and recvfrom among them" },
	{ "vfs",	CALLS ", openat and read among them" },
	{ "vm",		"proc:::fault has the faults that kill" },
};
/* clang-format on */

/* Providers of which dtrap has a part. */
static const struct kernel_row part_rows[] = {
	{ "sched",
	    "sched has on-cpu, off-cpu and preempt; the others need the "
	    "kernel's tracepoints, which dtrap does not use" },
	{ "cpc",
	    "cpc has EVENT-MODE-COUNT, as cycles-user-1000000: EVENT is cycles, "
	    "instructions, branches, branch_misses, cache_references, "
	    "cache_misses, bus_cycles, ref_cycles, cpu_clock or task_clock (in "
	    "ns), MODE is user, kernel or all" },
	{ "vminfo",
	    "vminfo has as_fault and maj_fault; the others are "
	    "counters of the kernel's memory" },
};

static bool
tell_part(const char *prov, struct str *to)
{
	for (size_t i = 0; i < ARRAY_SIZE(part_rows); i++)
		if (strcmp(part_rows[i].prov, prov) == 0)
			str_add(to, part_rows[i].instead);
	return to->len > 0;
}

static const struct kernel_row *
kernel_row(const char *prov)
{
	for (size_t i = 0; i < ARRAY_SIZE(kernel_rows); i++)
		if (strcmp(kernel_rows[i].prov, prov) == 0)
			return &kernel_rows[i];
	return NULL;
}

static void
tell_kernel(const struct kernel_row *k, struct str *to)
{
	str_printf(to, "%s shows the kernel, dtrap shows processes: %s",
	    k->prov, k->instead);
}

bool
unmatched_kernel(const char *prov)
{
	return kernel_row(prov) != NULL;
}

/* ---- choices ---- */

/* The names to choose from, each once. */
struct choice {
	struct nearest near;
	const char *names[SHOWN_MOST];
	size_t n; /* may exceed the array */
};

static void
offer(struct choice *c, const char *name)
{
	for (size_t i = 0; i < MIN(c->n, SHOWN_MOST); i++)
		if (strcmp(c->names[i], name) == 0)
			return;
	nearest_offer(&c->near, name);
	if (c->n < SHOWN_MOST)
		c->names[c->n] = name;
	c->n++;
}

/* Append "did you mean x?", or all names if they are few. */
static void
tell(struct choice *c, const char *what, struct str *to)
{
	size_t n = MIN(c->n, SHOWN_MOST);

	if (nearest_found(&c->near)) {
		str_add(to, nearest_question(&c->near));
	} else if (n > 0 && c->n <= SHOWN_MOST) {
		str_add(to, what);
		unmatched_list(to, c->names, n);
	}
	nearest_fini(&c->near);
}

/* ---- fields ---- */

enum { PROV, MOD, FUNC, NAME, FIELDS };

static const char *
field_of(const struct probe *p, int field)
{
	switch (field) {
	case PROV: return p->prov;
	case MOD: return p->mod;
	case FUNC: return p->func;
	default: return p->name;
	}
}

/* The first n fields of a description; the others are empty. */
static struct probe_desc
first_fields(const struct probe_desc *pd, int n)
{
	struct probe_desc part = { "", "", "", "", 0, pd->family };

	part.prov = n > PROV ? pd->prov : "";
	part.mod = n > MOD ? pd->mod : "";
	part.func = n > FUNC ? pd->func : "";
	part.name = n > NAME ? pd->name : "";
	return part;
}

static bool
matches(const struct probe *p, const struct probe_desc *part)
{
	return (*part->prov == '\0' && *part->mod == '\0' &&
		   *part->func == '\0' && *part->name == '\0') ||
	    probe_matches(p, part);
}

static bool
any_matches(const struct state *st, const struct probe_desc *part)
{
	vec_foreach(p, &st->probes.list)
		if (matches(*p, part))
			return true;
	return false;
}

/* Append the values of the wrong field, in the probes that the other fields
 * match. */
static void
tell_field(
    struct state *st, const struct probe_desc *pd, int field, struct str *to)
{
	static const char *const what[] = {
		[MOD] = "its module is ",
		[FUNC] = "its functions are ",
		[NAME] = "the names are ",
	};
	const char *const want[] = { pd->prov, pd->mod, pd->func, pd->name };
	struct probe_desc part = first_fields(pd, field);
	struct choice c = { 0 };

	nearest_init(&c.near, want[field]);
	vec_foreach(p, &st->probes.list)
		if (matches(*p, &part) && *field_of(*p, field) != '\0')
			offer(&c, field_of(*p, field));
	tell(&c, what[field], to);
}

/* ---- providers ---- */

/* The index in a provider name at which the number of the process begins. */
static size_t
number_at(const char *prov)
{
	size_t n = strlen(prov);

	while (n > 0 && isdigit((unsigned char)prov[n - 1]))
		n--;
	return n;
}

/* Append the static providers of a traced process: "did you mean", or a
 * list. */
static void
tell_static(struct state *st, struct proc *p, const char *name, struct str *to)
{
	struct choice c = { 0 };
	char *number = mem_printf("%d", (int)p->role.family);
	VEC(char *) names = { 0 };

	nearest_init(&c.near, name);
	vec_foreach(q, &st->probes.list) {
		size_t n = number_at((*q)->prov);
		if ((*q)->provider != &prov_usdt ||
		    strcmp((*q)->prov + n, number) != 0)
			continue;
		*vec_push(&names) = mem_strndup((*q)->prov, n);
		offer(&c, names.at[names.len - 1]);
	}
	unmatched_name(p, to);
	if (c.n == 0) {
		str_add(to, " has no static probes");
		nearest_fini(&c.near);
	} else {
		str_printf(to, " has no provider %s; ", name);
		tell(&c, "it has ", to);
	}
	vec_foreach(s, &names)
		mem_free(*s);
	vec_fini(&names);
	mem_free(number);
}

static void
tell_provider_of(struct state *st, const char *prov, struct str *to)
{
	size_t n = number_at(prov);
	pid_t pid = (pid_t)strtol(prov + n, NULL, 10);
	struct proc *p = super_proc(st->super, pid);

	if (p == NULL) {
		str_printf(to, "process %d is not traced", (int)pid);
		return;
	}
	char *name = mem_strndup(prov, n);
	tell_static(st, p, name, to);
	mem_free(name);
}

/* Is there a probe of this name that is not in a function? */
static bool
is_name(const struct state *st, const char *name)
{
	vec_foreach(p, &st->probes.list)
		if (*(*p)->func == '\0' && strcmp((*p)->name, name) == 0)
			return true;
	return false;
}

/* Hint for an unknown provider. */
static void
tell_provider(struct state *st, const struct probe_desc *pd, struct str *to)
{
	struct choice c = { 0 };
	struct proc *p;

	if (glob_is(pd->prov))
		return;
	if (is_name(st, pd->prov)) {
		str_printf(
		    to, "%s is a probe: write it without a provider", pd->prov);
		return;
	}
	if (prov_usdt.provide != NULL)
		prov_usdt.provide(st,
		    &(struct probe_desc){ "*", "", "", "", 0, false }, NULL,
		    NULL);
	/* It has said what is wrong with the description. */
	if (number_at(pd->prov) == strlen(prov_watch.name) &&
	    strncmp(pd->prov, prov_watch.name, number_at(pd->prov)) == 0)
		return;
	if (pd->prov[number_at(pd->prov)] != '\0') {
		tell_provider_of(st, pd->prov, to);
		return;
	}
	nearest_init(&c.near, pd->prov);
	for (const struct provider *const *q = st->providers; *q != NULL; q++)
		if (*q != &prov_usdt)
			offer(&c, (*q)->name);
	bool near = nearest_found(&c.near);
	tell(&c, "providers are ", to);
	if (near)
		return;
	p = st->super != NULL ? super_next(st->super, NULL) : NULL;
	if (p == NULL) {
		str_printf(to,
		    ", and %s$target with -p or -c if a program has static "
		    "probes of that name",
		    pd->prov);
		return;
	}
	str_clear(to);
	tell_static(st, p, pd->prov, to);
}

/* ---- a provider in another field ---- */

/* The process whose functions the description names. */
static struct proc *
pid_process(struct state *st, const char *prov)
{
	if (strncmp(prov, "pid", 3) != 0 || !isdigit((unsigned char)prov[3]))
		return NULL;
	return super_proc(st->super, (pid_t)strtol(prov + 3, NULL, 10));
}

/* Append "pid$target", as the user probably wrote it. */
static void
add_provider(const struct state *st, const char *prov, struct str *to)
{
	size_t n = number_at(prov);
	pid_t pid = (pid_t)strtol(prov + n, NULL, 10);

	if (n > 0 && pid != 0 && pid == st->named.pid)
		str_printf(to, "%.*s$target", (int)n, prov);
	else
		str_add(to, prov);
}

/* Is the word "pid123", with the number of a traced process? */
static bool
is_numbered(const struct state *st, const char *word)
{
	size_t n = number_at(word);
	pid_t pid = (pid_t)strtol(word + n, NULL, 10);

	return n > 0 && pid != 0 && st->super != NULL &&
	    super_proc(st->super, pid) != NULL;
}

static bool
is_provider(const struct state *st, const char *word)
{
	for (const struct provider *const *q = st->providers; *q != NULL; q++)
		if (*q != &prov_usdt && *q != &prov_pid &&
		    strcmp((*q)->name, word) == 0)
			return true;
	return false;
}

static void
tell_reading(const struct state *st, const char *prov, const char *mod,
    const char *func, const char *name, struct str *to)
{
	str_add(to, "the provider is the first of four fields: ");
	add_provider(st, prov, to);
	str_printf(to, ":%s:%s:%s", mod, func, name);
}

static bool
tell_if_any(struct state *st, const struct probe_desc *pd, struct str *to)
{
	bool any = any_matches(st, pd);

	if (any)
		tell_reading(st, pd->prov, pd->mod, pd->func, pd->name, to);
	return any;
}

/* Of one process: its probes have not been asked for, and their names tell. */
static void
tell_numbered(struct state *st, const char *prov, const char *middle,
    const char *last, struct str *to)
{
	if (strcmp(last, "entry") == 0 || strcmp(last, "return") == 0 ||
	    pid_process(st, prov) == NULL)
		tell_reading(st, prov, "", middle, last, to);
	else
		tell_reading(st, prov, middle, last, "entry", to);
}

/* -n 'python*' */
static void
tell_glob(struct state *st, const char *prov, struct str *to)
{
	const struct probe_desc pd = { prov, "", "", "", 0, false };

	if (prov_usdt.provide != NULL)
		prov_usdt.provide(st, &pd, NULL, NULL);
	if (any_matches(st, &pd))
		tell_reading(st, prov, "", "", "", to);
}

/* Hint for syscall::entry, pid$target:malloc, fbt:vfs_read: fields are counted
 * from the right, so the provider is in the wrong field. */
static bool
tell_misplaced(struct state *st, const struct probe_desc *pd, struct str *to)
{
	const char *const fields[] = { pd->mod, pd->func, pd->name };
	size_t at = 0;

	while (at < ARRAY_SIZE(fields) && *fields[at] == '\0')
		at++;
	if (at == ARRAY_SIZE(fields))
		return false;
	const char *prov = fields[at], *last = at < 2 ? pd->name : "",
		   *middle = at == 0 ? pd->func : "";
	const struct kernel_row *k = kernel_row(prov);
	if (k != NULL)
		tell_kernel(k, to);
	else if (is_numbered(st, prov))
		tell_numbered(st, prov, middle, last, to);
	else if (glob_is(prov) && at == 2)
		tell_glob(st, prov, to);
	else if (is_provider(st, prov) &&
	    !tell_if_any(st,
		&(struct probe_desc){
		    prov, "", middle, at == 2 ? "entry" : last, 0, false },
		to) &&
	    !tell_if_any(st,
		&(struct probe_desc){ prov, middle, last, "entry", 0, false },
		to))
		str_printf(to, "%s is a provider: -l -P %s lists its probes",
		    prov, prov);
	return to->len > 0;
}

/* ---- names alone ---- */

static bool
is_syscall(const struct state *st, const char *name)
{
	vec_foreach(p, &st->probes.list)
		if ((*p)->provider == &prov_syscall &&
		    strcmp((*p)->func, name) == 0)
			return true;
	return false;
}

/* Hint for -n malloc: a single name is that of a probe. */
static bool
tell_bare(struct state *st, const struct probe_desc *pd, struct str *to)
{
	const char *name = *pd->func != '\0' ? pd->func : pd->name;
	const char *probe =
	    *pd->func != '\0' && *pd->name != '\0' ? pd->name : "entry";

	if (*name == '\0' || glob_is(name))
		return false;
	bool call = is_syscall(st, name);
	if (call)
		str_printf(
		    to, "the system call is syscall::%s:%s", name, probe);
	struct str func = { 0 };
	if (unmatched_function(st, name, &func))
		str_printf(to, "%sthe function is %s:%s", call ? ", " : "",
		    str_c(&func), probe);
	str_fini(&func);
	return to->len > 0;
}

/* Names of actions and subroutines. */
static const char *const called[] = {
#define DIF_ACT(n, NAME, name, proto, flags)        name,
#define DIF_SUBR(n, NAME, name, proto, need, flags) name,
#include "dlang/dif_acts.def"
#include "dlang/dif_subrs.def"
#undef DIF_ACT
#undef DIF_SUBR
	NULL
};

/* Hint for "BEGIN trace(1)". */
static bool
tell_action(const struct probe_desc *pd, struct str *to)
{
	const char *name = *pd->func != '\0' ? pd->func : pd->name;
	size_t n = strcspn(name, "(");

	if (name[n] == '\0')
		return false;
	for (const char *const *p = called; *p != NULL; p++)
		if (strlen(*p) == n && strncmp(*p, name, n) == 0) {
			str_add(to, "actions go inside { }");
			return true;
		}
	return false;
}

/* Hint for "tick-1sek". */
static bool
tell_rate(const struct probe_desc *pd, struct str *to)
{
	if (isdigit((unsigned char)*pd->name) &&
	    (strcmp(pd->prov, "profile") == 0 ||
		strcmp(pd->func, "profile") == 0 ||
		strcmp(pd->func, "tick") == 0)) {
		str_printf(to, "its name has two parts: %s-%s",
		    strcmp(pd->func, "tick") == 0 ? "tick" : "profile",
		    pd->name);
		return true;
	}
	if (strncmp(pd->name, "tick-", 5) != 0 &&
	    strncmp(pd->name, "profile-", 8) != 0)
		return false;
	str_add(to,
	    "a rate is a number and hz, ns, us, ms, sec, min, hour or day, "
	    "and 5000hz at most");
	return true;
}

static void
tell_unnamed(struct state *st, const struct probe_desc *pd, struct str *to)
{
	bool alone = *pd->func == '\0' && *pd->mod == '\0';

	if (tell_misplaced(st, pd, to))
		return;
	if (*pd->mod != '\0') {
		str_printf(to,
		    "the objects of a process are in pid$target:%s:%s:%s, with "
		    "-p or -c",
		    pd->mod, pd->func, *pd->name != '\0' ? pd->name : "entry");
		return;
	}
	if (tell_bare(st, pd, to) || tell_action(pd, to))
		return;
	for (int field = MOD; field < FIELDS && to->len == 0; field++) {
		struct probe_desc part = first_fields(pd, field + 1);
		if (!any_matches(st, &part)) {
			tell_field(st, pd, field, to);
			break;
		}
	}
	const char *name = alone ? pd->name : pd->func;
	if (to->len > 0 || unmatched_like(st, name, to))
		return;
	/* Another reading of the description may give a better hint:
	 * a::b:entry. */
	if (strstr(name, "::") != NULL)
		return;
	if (super_next(st->super, NULL) != NULL)
		str_printf(to, "no traced process has a function of that name");
	else
		str_printf(to,
		    "a function is pid$target::%s:entry, with -p or -c", name);
}

/* ---- */

void
unmatched_why(struct state *st, const struct probe_desc *pd, struct str *to)
{
	const struct kernel_row *k = kernel_row(pd->prov);
	struct proc *p;

	if (pd->id != 0)
		return;
	if (k != NULL) {
		tell_kernel(k, to);
		return;
	}
	if (tell_rate(pd, to) || tell_part(pd->prov, to))
		return;
	if (*pd->prov == '\0') {
		tell_unnamed(st, pd, to);
		return;
	}
	p = pid_process(st, pd->prov);
	if (p != NULL) {
		unmatched_pid(st, p, pd, to);
		return;
	}
	for (int field = PROV; field < FIELDS; field++) {
		struct probe_desc part = first_fields(pd, field + 1);
		/* Ask the provider that creates probes on demand. */
		if (field == PROV && prov_usdt.provide != NULL)
			prov_usdt.provide(st, &part, NULL, NULL);
		if (field == PROV && prov_plockstat.provide != NULL)
			prov_plockstat.provide(st, &part, NULL, NULL);
		if (any_matches(st, &part))
			continue;
		if (field == PROV)
			tell_provider(st, pd, to);
		else
			tell_field(st, pd, field, to);
		return;
	}
}
