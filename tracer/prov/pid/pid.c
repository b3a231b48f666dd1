/*
 * The pid provider: entry, return and instruction offsets of functions, lines
 * of the source, inlined copies of functions.
 *
 * A probe is (pid, module, function, name). It has a place for every function
 * of that name in a load object of that name, and each place has sites.  Places
 * are found when a description names them, and get tracepoints when the probe
 * is enabled.
 *
 * dtrap never changes return addresses: a return probe has a tracepoint on each
 * `ret' and on each jump that leaves the function or may leave it
 * (disasm/body.h).
 */
#include <stdio.h>
#include <string.h>

#include "dlang/base/glob.h"
#include "symbols/addrspace.h"
#include "tracer/base/probe.h"
#include "tracer/ptrace/proc.h"
#include "tracer/prov/pid/pid_impl.h"
#include "tracer/sites/site.h"
#include "tracer/base/state.h"

/* Report a function that its object does not have. */
static int
check_function(struct pid_request *r)
{
	const char *mod = r->pd->mod, *func = r->pd->func;

	if (r->d == NULL || r->functions > 0 || r->loads == 0 || *mod == '\0' ||
	    glob_is(mod) || *func == '\0' || glob_is(func) ||
	    option_get(&r->st->opts, OPT_ZDEFS) != 0)
		return 0;
	return diag_error(r->d, D_PROC_FUNC, r->at,
	    "failed to lookup '%s' in module '%s'", func, mod);
}

/* Report an offset that is in no function of that name. */
static int
check_offset(struct pid_request *r)
{
	if (r->offset == UINT64_MAX || r->functions == 0 || r->found_offset ||
	    r->d == NULL)
		return 0;
	if (r->offset >= r->size)
		return diag_error(r->d, D_PROC_OFF, r->at,
		    "offset 0x%llx outside of function '%s'",
		    (unsigned long long)r->offset, r->pd->func);
	return diag_error(r->d, D_PROC_ALIGN, r->at,
	    "offset 0x%llx is not aligned on an instruction of '%s'",
	    (unsigned long long)r->offset, r->pd->func);
}

/*
 * Function `-': the name is an address in the executable, of the process or of
 * the file.  The function that contains it must be known, because only from its
 * start can instruction boundaries be found.
 */
static int
answer_address(struct pid_request *r)
{
	static const struct sym unnamed = { .name = "-" };
	const char *name = r->pd->name;
	uint64_t start, addr;

	if (!load_matches(r->load, r->pd->mod))
		return diag_error(r->d, D_PROC_LIB, r->at,
		    "only the executable has probes by address, not '%s'",
		    r->pd->mod);
	if (!pid_parse_hex(name, &addr))
		return diag_error(r->d, D_PROC_NAME, r->at,
		    "'%s' is not an address in hexadecimal", name);
	if (addr >= r->load->start && addr < r->load->end)
		addr -= r->load->bias;
	if (pid_around(r, addr, &start) != 0)
		return diag_error(r->d, D_PROC_OFF, r->at,
		    "address 0x%s is in no known function of '%s'", name,
		    r->load->module);
	r->sym = &unnamed;
	r->start = r->load->bias + start;
	r->offset = addr - start;
	if (pid_walk(r) != 0 || !r->found_offset)
		return diag_error(r->d, D_PROC_ALIGN, r->at,
		    "address 0x%s is not that of an instruction", name);
	pid_publish_offset(r, name);
	return 0;
}

/* Match in the program for which the description was compiled, also if that is
 * executed again, but not in a program that is executed later. */
static int
answer_program(struct pid_request *r)
{
	struct addrspace *as = r->proc->space->as;
	struct diags judged;

	r->load = as != NULL ? addrspace_exec(as) : NULL;
	if (r->load == NULL)
		return 0;
	if (r->d != NULL)
		return answer_address(r);
	if (r->proc->role.launch != LAUNCH_AT_EXEC)
		return 0;
	diags_init(&judged);
	r->d = &judged;
	answer_address(r);
	r->d = NULL;
	diags_fini(&judged);
	return 0;
}

static void
publish_process(struct pid_request *r)
{
	struct load *const *loads;
	struct addrspace *as = r->proc->space->as;

	if (as == NULL)
		return;
	size_t n = addrspace_loads(as, &loads);
	for (size_t i = 0; i < n; i++) {
		if (!loads[i]->seen || loads[i]->writable_text ||
		    !load_matches(loads[i], r->pd->mod))
			continue;
		if (r->d == NULL && load_is_matched(loads[i]))
			continue;
		r->load = loads[i];
		r->loads++;
		if (r->source.kind != PID_ENTRY)
			pid_source_publish(r);
		else
			pid_publish_load(r);
	}
}

static int
answer(struct pid_request *r)
{
	int error;

	pid_source_parse(r);
	if (strcmp(r->pd->func, "-") == 0) {
		error = answer_program(r);
	} else if (r->source.kind != PID_ENTRY) {
		publish_process(r);
		error = pid_source_check(r);
	} else {
		error = pid_parse_name(r);
		if (error != 0)
			return error;
		publish_process(r);
		error = pid_unnamed_check(r);
		if (error == 0)
			error = check_function(r);
		if (error == 0)
			error = check_offset(r);
	}
	pid_request_fini(r);
	return error;
}

/* The same for descendants of the process.  A function that they lack is no
 * error: the description was checked when it was compiled. */
static int
provide_children(struct state *st, pid_t pid, const struct probe_desc *pd)
{
	struct proc *p = NULL;
	int error = 0;

	while (
	    pd->family && error == 0 && (p = super_next(st->super, p)) != NULL)
		if (p->role.family == pid && p->role.followed)
			error = answer(&(struct pid_request){ .st = st,
			    .provider = &prov_pid,
			    .pd = pd,
			    .proc = p });
	return error;
}

static int
provide_number(struct state *st, const struct probe_desc *pd,
    const struct span *at, struct diags *d)
{
	struct proc *p;
	pid_t pid;
	int error = site_number(pd, "pid", at, d, &pid);

	if (error <= 0)
		return error;
	error = site_grab(st, pid, at, d, &p);
	if (error == 0 && p != NULL)
		error = answer(&(struct pid_request){ .st = st,
		    .provider = &prov_pid,
		    .pd = pd,
		    .at = at,
		    .d = d,
		    .proc = p });
	return error != 0 ? error : provide_children(st, pid, pd);
}

static int
provide(struct state *st, const struct probe_desc *pd, const struct span *at,
    struct diags *d)
{
	struct proc *p = NULL;
	char prov[32];
	int error = 0;

	if (pd->id != 0)
		return 0;
	if (!glob_is(pd->prov))
		return strncmp(pd->prov, "pid", 3) == 0 ?
		    provide_number(st, pd, at, d) :
		    0;
	while (error == 0 && (p = super_next(st->super, p)) != NULL) {
		snprintf(prov, sizeof(prov), "pid%d", p->role.family);
		if ((p->role.named || p->role.followed) &&
		    glob_match(pd->prov, prov))
			error = answer(&(struct pid_request){ .st = st,
			    .provider = &prov_pid,
			    .pd = pd,
			    .at = at,
			    .proc = p });
	}
	return error;
}

static void
destroy(struct probe *p)
{
	struct pid_probe *pp = p->data;

	vec_foreach(alias, &pp->aliases)
		mem_free(*alias);
	vec_fini(&pp->aliases);
	places_destroy(p);
}

const struct provider prov_pid = {
	.name = "pid",
	.stability = {
		[STAB_PROVIDER] = { "Evolving", "Evolving", "ISA" },
		[STAB_MODULE] = { "Private", "Private", "Unknown" },
		[STAB_FUNCTION] = { "Private", "Private", "Unknown" },
		[STAB_NAME] = { "Evolving", "Evolving", "ISA" },
		[STAB_ARGS] = { "Private", "Private", "Unknown" },
	},
	.provide = provide,
	.enable = pid_enable,
	.follows = true,
	.places = true,
	.per_process = true,
	.module_matches = places_module_matches,
	.function_matches = pid_function_matches,
	.means = pid_source_means,
	.note = pid_note,
	.sites = pid_sites,
	.sense = pid_sense,
	.typed = pid_typed,
	.destroy = destroy,
};
