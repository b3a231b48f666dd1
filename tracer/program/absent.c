/*
 * See absent.h.
 */
#include "tracer/program/absent.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/mem.h"
#include "dlang/base/str.h"
#include "dlang/cc/cc.h"
#include "dlang/world.h"
#include "symbols/addrspace.h"
#include "symbols/sdt.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/procfs.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"

/* Programs with static probes, and how to get builds that have them. */
static const struct origin {
	const char *prov, *how;
} origins[] = {
	{ "python",
	    "CPython has it when configured --with-dtrace, as Debian's is; "
	    "jstack() shows the functions of any" },
	{ "php",
	    "PHP has it when configured --enable-dtrace, as Debian's is, "
	    "and run with USE_ZEND_DTRACE=1; jstack() shows the functions of "
	    "any" },
	{ "ruby",
	    "Ruby has it when configured --enable-dtrace; jstack() shows the "
	    "functions of any" },
	{ "hotspot",
	    "OpenJDK has it when configured --enable-dtrace, as "
	    "Debian's is, and -c java loads it later: -Z waits for it; "
	    "jstack() shows the methods of any" },
	{ "hotspot_jni",
	    "OpenJDK has it when configured --enable-dtrace, as "
	    "Debian's is, and -c java loads it later: -Z waits for it" },
	{ "node",
	    "Node had it until version 18, configured --with-dtrace; "
	    "jstack() shows the functions of any" },
	{ "perl",
	    "Perl has it when configured -Dusedtrace, which Debian's is "
	    "not" },
	{ "postgresql",
	    "PostgreSQL has it when configured --enable-dtrace, as "
	    "Debian's is" },
	{ "mysql",
	    "MySQL had it until version 5.7, configured "
	    "-DENABLE_DTRACE=1" },
	{ "tcl", "Tcl has it when configured --enable-dtrace" },
	{ "erlang", "Erlang has it when configured --with-dynamic-trace" },
};

static const struct origin *
origin_of(const char *prov)
{
	for (size_t i = 0; i < ARRAY_SIZE(origins); i++)
		if (strcmp(origins[i].prov, prov) == 0)
			return &origins[i];
	return NULL;
}

/* The row for a provider field, compared without the pid or `*'; *pid is the
 * pid, if there is one. */
static const struct origin *
named(const char *field, pid_t *pid)
{
	size_t len = strlen(field);

	while (len > 0 && isdigit((unsigned char)field[len - 1]))
		len--;
	*pid = (pid_t)strtol(field + len, NULL, 10);
	if (*pid == 0 && len > 0 && field[len - 1] == '*')
		len--;
	char *name = mem_strndup(field, len);
	const struct origin *o = origin_of(name);
	mem_free(name);
	return o;
}

/* The names of static providers of a process, each once. */
static void
find_providers(struct proc *proc, struct str *names)
{
	struct load *const *loads;
	const struct sdt_note *notes;
	size_t n = addrspace_loads(proc->space->as, &loads);

	for (size_t i = 0; i < n; i++) {
		size_t count = object_sdt_notes(loads[i]->object, &notes);
		for (size_t k = 0; k < count; k++) {
			char *word = mem_printf(" %s,", notes[k].provider);
			for (char *p = word; (p = strstr(p, "__")) != NULL;) {
				*p = '-'; /* in the form of D */
				memmove(p + 1, p + 2, strlen(p + 1));
			}
			if (strstr(str_c(names), word) == NULL)
				str_add(names, word);
			mem_free(word);
		}
	}
}

static bool
has_provider(const struct str *names, const char *name)
{
	char *word = mem_printf(" %s,", name);
	bool has = strstr(str_c(names), word) != NULL;

	mem_free(word);
	return has;
}

static void
add_absence(const struct proc *p, const char *name, const struct str *names,
    struct str *to)
{
	struct proc_status st = { .comm = "?" };

	procfs_status(p->pid, &st);
	str_printf(to, "process %d (%s) has no provider %s: ", (int)p->pid,
	    st.comm, name);
	if (names->len > 0)
		str_printf(to, "its providers of static probes are%.*s",
		    (int)names->len - 1, str_c(names));
	else
		str_add(to, "it has no static probes");
}

void
absent_provider(struct state *st, const struct probe_desc *pd, struct str *to)
{
	struct str names = { 0 };
	pid_t pid;
	const struct origin *o = named(pd->prov, &pid);

	if (o == NULL || st->super == NULL)
		return;
	struct proc *p = super_proc(st->super, pid != 0 ? pid : st->named.pid);
	if (p != NULL && p->space->as != NULL) {
		find_providers(p, &names);
		if (!has_provider(&names, o->prov))
			add_absence(p, o->prov, &names, to);
	} else if (!st->named.any) {
		str_printf(to,
		    "no process that may be traced has a provider %s", o->prov);
	}
	if (to->len > 0)
		str_printf(to, "; %s", o->how);
	str_fini(&names);
}

void
absent_tell(struct state *st)
{
	const struct prog_globals *g = cc_globals(st->compiled.cc);
	struct str why = { 0 };

	vec_foreach(p, &st->probes.list)
		if ((*p)->image_ref != 0 && (*p)->provider->follows &&
		    (*p)->provider != &prov_profile)
			return;
	vec_foreach(clause, &g->clauses) {
		absent_provider(st, &(*clause)->desc, &why);
		if (why.len == 0)
			continue;
		state_message(st, "%s", str_c(&why));
		break;
	}
	str_fini(&why);
}
