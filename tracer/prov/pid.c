/*
 * The pid provider: entry, return and instruction offsets of functions.
 *
 * A probe is (pid, module, function, name); behind it stand places, one for
 * every function of that name in a load object of that name, each with its
 * sites.  Places are found when a description asks for them; they get
 * tracepoints when the probe is enabled.
 *
 * No return address is ever rewritten: a return probe has a tracepoint on each
 * `ret' and on each jump that leaves the function.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disasm/func.h"
#include "dlang/base/glob.h"
#include "dlang/base/hash.h"
#include "inject/tracepoint.h"
#include "symbols/addrspace.h"
#include "tracer/probe.h"
#include "tracer/proc.h"
#include "tracer/prov/pid.h"
#include "tracer/prov/site.h"
#include "tracer/provider.h"
#include "tracer/state.h"

/* One site of a place: offset in the function. */
struct pid_site {
	uint32_t offset;
	bool conditional; /* leaves only when the jump is taken */
};

/* One function that the probe stands for. */
struct place {
	struct place *next;
	uint32_t space;       /* addrspace_id() */
	uint64_t start, size; /* in memory */
	const struct load *load;
	const struct sym *pending; /* IFUNC not resolved yet: start and size are
				    * its resolver's */
	bool enabled;
	uint32_t nsites;
	struct pid_site sites[];
};

enum pid_kind { PID_ENTRY, PID_RETURN, PID_OFFSET };

/* What hangs on probe->data. */
struct pid_probe {
	enum pid_kind kind;
	pid_t pid;
	struct place *places;
	VEC(char *)
	aliases; /* what its function was called by descriptions,
			      * besides its name */
};

/* ---- publishing ---- */

/* One request while it is being answered. */
struct request {
	struct state *st;
	const struct probe_desc *pd;
	const struct span *at;
	struct diags *d;
	struct proc *proc;
	const struct load *load;
	const struct sym *sym;
	uint64_t start, size;     /* of the function, in memory */
	uint64_t offset;          /* the one that is named, or UINT64_MAX */
	bool entry, ret, offsets; /* what the name field means */
	bool found_offset;
	bool globs;       /* the function field is one, or empty */
	struct hash seen; /* functions published for it, by address */
	bool pending;     /* sym is an IFUNC, start its resolver */
	VEC(struct pid_site) exits;
	VEC(struct pid_site) insns;
	uint64_t functions; /* that matched */
	uint64_t loads;     /* that matched */
};

static bool
function_matches(const struct probe *p, const char *func)
{
	const struct pid_probe *pp = p->data;

	if (strcmp(p->func, func) == 0)
		return true;
	vec_foreach(alias, &pp->aliases)
		if (strcmp(*alias, func) == 0)
			return true;
	return false;
}

static void
add_place(struct request *r, enum pid_kind kind, const char *name,
    const struct pid_site *sites, size_t nsites)
{
	char prov[32];
	bool fresh;

	if (nsites == 0 && !r->pending)
		return;
	snprintf(prov, sizeof(prov), "pid%d", r->proc->family);
	struct probe *p = probe_add(&r->st->probes, &prov_pid, prov,
	    r->load->module, r->sym->name, name, &fresh);
	if (fresh) {
		struct pid_probe *pp = mem_zalloc(sizeof(*pp));
		*pp =
		    (struct pid_probe){ .kind = kind, .pid = r->proc->family };
		p->data = pp;
	}
	struct pid_probe *pp = p->data;
	if (!r->globs && !function_matches(p, r->pd->func))
		*vec_push(&pp->aliases) = mem_strdup(r->pd->func);
	uint32_t space = addrspace_id(r->proc->space->as);
	struct place **at = &pp->places;
	for (; *at != NULL; at = &(*at)->next) {
		if ((*at)->space != space || (*at)->start != r->start)
			continue;
		/* Known already; enabled anew if its object came back. */
		if (p->image_ref != 0)
			prov_pid.enable(r->st, p);
		return;
	}
	struct place *pl =
	    mem_zalloc(sizeof(*pl) + nsites * sizeof(pl->sites[0]));
	pl->space = space;
	pl->start = r->start;
	pl->size = r->size;
	pl->load = r->load;
	pl->pending = r->pending ? r->sym : NULL;
	pl->nsites = (uint32_t)nsites;
	if (nsites != 0)
		memcpy(pl->sites, sites, nsites * sizeof(pl->sites[0]));
	*at = pl;
	/* The probe was enabled before (another object, before an exec). */
	if (p->image_ref != 0)
		prov_pid.enable(r->st, p);
}

static int
each_insn(void *ctx, const struct func_insn *in)
{
	struct request *r = ctx;
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

/* Decode the function as it stands in memory, without our own int3. */
static int
walk(struct request *r)
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

static void
publish_function(struct request *r)
{
	char name[32];

	vec_clear(&r->exits);
	vec_clear(&r->insns);
	if (r->entry) {
		struct pid_site first = { 0 };
		add_place(r, PID_ENTRY, "entry", &first, 1);
	}
	if (!r->ret && !r->offsets && r->offset == UINT64_MAX)
		return;
	if (walk(r) != 0)
		return;
	if (r->ret)
		add_place(r, PID_RETURN, "return", r->exits.at, r->exits.len);
	vec_foreach(s, &r->insns) {
		snprintf(name, sizeof(name), "%x", s->offset);
		if (r->offset == UINT64_MAX && !glob_match(r->pd->name, name))
			continue;
		add_place(r, PID_OFFSET, name, s, 1);
	}
}

/* The size of the function at r->start, which no symbol need name.  Its object
 * may be another than the IFUNC's. */
static int
measure(struct request *r)
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
locate(struct request *r)
{
	uint64_t impl;

	r->start = r->load->bias + r->sym->addr;
	r->size = r->sym->size;
	if (r->sym->kind != SYM_IFUNC)
		return 0;
	if (addrspace_ifunc(r->proc->space->as, r->load, r->sym, &impl) != 0)
		return -EAGAIN;
	r->start = impl;
	return measure(r);
}

/* An IFUNC that nobody has called yet: entry and return are promised, and kept
 * when its resolver has said where the function is. */
static void
publish_pending(struct request *r)
{
	r->pending = true;
	if (r->entry)
		add_place(r, PID_ENTRY, "entry", NULL, 0);
	if (r->ret)
		add_place(r, PID_RETURN, "return", NULL, 0);
	r->pending = false;
}

/* Names that a glob does not mean: parts of functions and start-up code. */
static bool
hidden_from_globs(const char *name)
{
	return strpbrk(name, "@.") != NULL || strcmp(name, "_init") == 0 ||
	    strcmp(name, "_fini") == 0;
}

static bool
symbol_matches(const struct request *r, const struct sym *s)
{
	const char *func = r->pd->func;

	if (s->size == 0 || !object_is_text(r->load->object, s->addr))
		return false;
	if (r->globs)
		return glob_match(func, s->name) && !hidden_from_globs(s->name);
	return strcmp(func, s->name) == 0;
}

/* A glob means each function once, by the best of its names that match; who
 * names an alias gets it. */
static bool
is_alias(struct request *r)
{
	return r->globs && hash_set(&r->seen, r->start, r) != NULL;
}

/*
 * A function with two names that differ by leading underscores is one probe by
 * the better of them, whichever is asked for, as in DTrace.  Other aliases
 * (open64, functions that a linker folded into one) are probes of their own.
 */
static const struct sym *
canonical(const struct request *r, const struct sym *s, const struct sym *first)
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
publish_kind(struct request *r, bool ifunc)
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
			publish_function(r);
	}
}

/* IFUNCs first: memcpy says more than the name of the implementation. */
static void
publish_load(struct request *r)
{
	r->globs = *r->pd->func == '\0' || glob_is(r->pd->func);
	publish_kind(r, true);
	publish_kind(r, false);
	hash_fini(&r->seen);
}

static void
publish_process(struct request *r)
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
		publish_load(r);
	}
}

/* ---- what a description asks for ---- */

/* The name field: entry, return, an offset in hex, a glob. */
static int
parse_name(struct request *r)
{
	const char *name = r->pd->name;
	bool globs = *name == '\0' || glob_is(name);
	char *end;

	r->offset = UINT64_MAX;
	r->entry =
	    globs ? glob_match(name, "entry") : strcmp(name, "entry") == 0;
	r->ret =
	    globs ? glob_match(name, "return") : strcmp(name, "return") == 0;
	r->offsets = globs;
	if (globs || r->entry || r->ret)
		return 0;
	errno = 0;
	r->offset = isxdigit((unsigned char)*name) ? strtoull(name, &end, 16) :
						     UINT64_MAX;
	if (r->offset == UINT64_MAX || *end != '\0' || errno != 0)
		return r->d == NULL ?
		    -EINVAL :
		    diag_error(r->d, D_PROC_NAME, r->at,
			"%s is not a probe of the pid provider: entry, return "
			"or an offset in hexadecimal",
			name);
	return 0;
}

/* A function that its object does not have. */
static int
check_function(struct request *r)
{
	const char *mod = r->pd->mod, *func = r->pd->func;

	if (r->d == NULL || r->functions > 0 || r->loads == 0 || *mod == '\0' ||
	    glob_is(mod) || *func == '\0' || glob_is(func) ||
	    option_get(&r->st->opts, OPT_ZDEFS) != 0)
		return 0;
	return diag_error(r->d, D_PROC_FUNC, r->at,
	    "failed to lookup '%s' in module '%s'", func, mod);
}

/* An offset that is in no function of that name. */
static int
check_offset(struct request *r)
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

/* The function around an address of the executable's file, its size in
 * r->size. */
static int
around(struct request *r, uint64_t addr, uint64_t *start)
{
	const struct sym *s = object_func_at(r->load->object, addr);
	uint64_t end;

	if (s != NULL) {
		*start = s->addr;
		r->size = s->size;
		return 0;
	}
	if (object_fde_range(r->load->object, addr, start, &end) != 0)
		return -ENOENT;
	r->size = end - *start;
	return 0;
}

/*
 * Function `-': the name is an address in the executable, as the process or as
 * its file has it.  What function it is in must be known: where instructions
 * begin can only be told from there.
 */
static int
answer_address(struct request *r)
{
	static const struct sym unnamed = { .name = "-" };
	const char *name = r->pd->name;
	uint64_t start, addr;
	char *end;

	r->load = r->proc->space->as != NULL ?
	    addrspace_exec(r->proc->space->as) :
	    NULL;
	if (r->load == NULL || r->d == NULL)
		return 0;
	if (!load_matches(r->load, r->pd->mod))
		return diag_error(r->d, D_PROC_LIB, r->at,
		    "only the executable has probes by address, not '%s'",
		    r->pd->mod);
	errno = 0;
	addr = isxdigit((unsigned char)*name) ? strtoull(name, &end, 16) : 0;
	if (!isxdigit((unsigned char)*name) || *end != '\0' || errno != 0)
		return diag_error(r->d, D_PROC_NAME, r->at,
		    "'%s' is not an address in hexadecimal", name);
	if (addr >= r->load->start && addr < r->load->end)
		addr -= r->load->bias;
	if (around(r, addr, &start) != 0)
		return diag_error(r->d, D_PROC_OFF, r->at,
		    "address 0x%s is in no known function of '%s'", name,
		    r->load->module);
	r->sym = &unnamed;
	r->start = r->load->bias + start;
	r->offset = addr - start;
	if (walk(r) != 0 || !r->found_offset)
		return diag_error(r->d, D_PROC_ALIGN, r->at,
		    "address 0x%s is not that of an instruction", name);
	add_place(r, PID_OFFSET, name, r->insns.at, r->insns.len);
	return 0;
}

static int
answer(struct request *r)
{
	int error;

	if (strcmp(r->pd->func, "-") == 0) {
		error = answer_address(r);
	} else {
		error = parse_name(r);
		if (error != 0)
			return error;
		publish_process(r);
		error = check_function(r);
		if (error == 0)
			error = check_offset(r);
	}
	vec_fini(&r->exits);
	vec_fini(&r->insns);
	return error;
}

/* The same in the processes that descend from it.  What is not there is not
 * there: the description was judged when it was compiled. */
static int
provide_children(struct state *st, pid_t pid, const struct probe_desc *pd)
{
	struct proc *p = NULL;
	int error = 0;

	while (
	    pd->family && error == 0 && (p = super_next(st->super, p)) != NULL)
		if (p->family == pid && p->followed)
			error = answer(
			    &(struct request){ .st = st, .pd = pd, .proc = p });
	return error;
}

static int
provide_number(struct state *st, const struct probe_desc *pd,
    const struct span *at, struct diags *d)
{
	const char *digits = pd->prov + 3;
	char *end;
	struct proc *p;

	long pid = strtol(digits, &end, 10);
	if (*digits == '\0' || *end != '\0')
		return d == NULL || *digits != '\0' ?
		    0 :
		    diag_error(d, D_PROC_BADPROV, at,
			"the pid provider needs the number of a process: "
			"pid123 or pid$target");
	if (pid <= 0 || pid > INT32_MAX)
		return d == NULL ?
		    0 :
		    diag_error(d, D_PROC_BADPID, at,
			"%s is not the number of a process (pid$target needs "
			"-p or -c)",
			pd->prov);
	int error = site_grab(st, (pid_t)pid, at, d, &p);
	if (error == 0 && p != NULL)
		error = answer(&(struct request){
		    .st = st, .pd = pd, .at = at, .d = d, .proc = p });
	return error != 0 ? error : provide_children(st, (pid_t)pid, pd);
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
		snprintf(prov, sizeof(prov), "pid%d", p->family);
		if ((p->target || p->followed) && glob_match(pd->prov, prov))
			error = answer(&(struct request){
			    .st = st, .pd = pd, .at = at, .proc = p });
	}
	return error;
}

/* ---- enabling ---- */

#define REG_ARG(ureg)                                                        \
	{                                                                    \
		.kind = ARGLOC_REG, .size = 8, .is_signed = 1, .reg = (ureg) \
	}
#define STACK_ARG(off)                                                         \
	{                                                                      \
		.kind = ARGLOC_STACK, .size = 8, .is_signed = 1, .disp = (off) \
	}
#define ABI_REGS                                                 \
	REG_ARG(UREG_RDI), REG_ARG(UREG_RSI), REG_ARG(UREG_RDX), \
	    REG_ARG(UREG_RCX), REG_ARG(UREG_R8), REG_ARG(UREG_R9)

/* x86-64 ABI: six in registers, the rest above the return address... */
static const struct argloc entry_args[] = { ABI_REGS, STACK_ARG(8),
	STACK_ARG(16), STACK_ARG(24), STACK_ARG(32) };
/* ... which, inside a function, is not accounted for. */
static const struct argloc offset_args[] = { ABI_REGS, STACK_ARG(0),
	STACK_ARG(8), STACK_ARG(16), STACK_ARG(24) };

static void
enable_site(struct state *st, struct space *sp, struct probe *p,
    const struct place *pl, const struct pid_site *s)
{
	const struct pid_probe *pp = p->data;
	uint64_t addr = pl->start + s->offset;
	const struct argloc return_args[] = {
		{ .kind = ARGLOC_CONST, .size = 8, .disp = s->offset },
		REG_ARG(UREG_RAX),
		REG_ARG(UREG_RBX),
	};

	switch (pp->kind) {
	case PID_ENTRY:
		site_add(
		    st, sp, addr, p, entry_args, ARRAY_SIZE(entry_args), 0, 0);
		break;
	case PID_OFFSET:
		site_add(st, sp, addr, p, offset_args, ARRAY_SIZE(offset_args),
		    0, 0);
		break;
	case PID_RETURN:
		site_add(st, sp, addr, p, return_args, ARRAY_SIZE(return_args),
		    pl->start, s->conditional ? pl->size : 0);
		break;
	}
}

/* Watch the resolver of an IFUNC at its returns. */
static void
enable_pending(struct state *st, struct proc *p, struct place *pl)
{
	struct request r = { .st = st,
		.proc = p,
		.start = pl->start,
		.size = pl->size,
		.offset = UINT64_MAX,
		.ret = true };
	const char *why;

	walk(&r);
	vec_foreach(s, &r.exits) {
		struct tracepoint *tp =
		    site_tracepoint(st, p->space, pl->start + s->offset, &why);
		if (tp != NULL)
			((struct tp_user *)tp->user)->ifunc = true;
	}
	vec_fini(&r.exits);
	vec_fini(&r.insns);
}

static void
enable_in(struct state *st, struct proc *proc, struct probe *p)
{
	struct pid_probe *pp = p->data;
	uint32_t space = addrspace_id(proc->space->as);

	for (struct place *pl = pp->places; pl != NULL; pl = pl->next) {
		if (pl->enabled || pl->space != space)
			continue;
		pl->enabled = true;
		if (pl->pending != NULL)
			enable_pending(st, proc, pl);
		for (uint32_t i = 0; i < pl->nsites; i++)
			enable_site(st, proc->space, p, pl, &pl->sites[i]);
	}
}

static void
enable(struct state *st, struct probe *p)
{
	const struct pid_probe *pp = p->data;
	struct proc *proc = NULL;

	while ((proc = super_next(st->super, proc)) != NULL)
		if (proc->family == pp->pid && proc->space->as != NULL)
			enable_in(st, proc, p);
}

static bool
follows(const struct probe *p)
{
	return true;
}

/* The probe's function turned out to be at impl. */
static void
resolve(struct state *st, struct proc *proc, struct probe *p,
    const struct place *pl, uint64_t impl)
{
	const struct probe_desc pd = {
		.prov = p->prov, .mod = p->mod, .func = p->func, .name = p->name
	};
	struct request r = { .st = st,
		.pd = &pd,
		.proc = proc,
		.load = pl->load,
		.sym = pl->pending,
		.start = impl };

	if (parse_name(&r) == 0 && measure(&r) == 0)
		publish_function(&r);
	vec_fini(&r.exits);
	vec_fini(&r.insns);
}

void
pid_resolved(struct state *st, struct proc *proc, uint64_t pc, uint64_t impl)
{
	uint32_t space = addrspace_id(proc->space->as);

	/* By index: what is resolved may publish. */
	for (size_t i = 0; i < st->probes.list.len; i++) {
		struct probe *p = st->probes.list.at[i];
		struct pid_probe *pp = p->data;
		if (p->provider != &prov_pid)
			continue;
		for (struct place *pl = pp->places; pl != NULL; pl = pl->next) {
			if (pl->pending == NULL || pl->space != space ||
			    pc < pl->start || pc - pl->start >= pl->size)
				continue;
			resolve(st, proc, p, pl, impl);
		}
	}
	sites_commit(st, proc->space);
}

static void
unloaded(struct state *st, struct load *l)
{
	vec_foreach(p, &st->probes.list) {
		struct pid_probe *pp = (*p)->data;
		if ((*p)->provider != &prov_pid)
			continue;
		for (struct place *pl = pp->places; pl != NULL; pl = pl->next)
			if (pl->load == l)
				pl->enabled = false;
	}
}

static void
space_end(struct state *st, const struct addrspace *as)
{
	uint32_t space = addrspace_id(as);

	vec_foreach(p, &st->probes.list) {
		struct pid_probe *pp = (*p)->data;
		if ((*p)->provider != &prov_pid)
			continue;
		for (struct place **at = &pp->places; *at != NULL;) {
			struct place *pl = *at;
			if (pl->space != space) {
				at = &pl->next;
				continue;
			}
			*at = pl->next;
			mem_free(pl);
		}
	}
}

static bool
module_matches(const struct probe *p, const char *module)
{
	const struct pid_probe *pp = p->data;

	for (const struct place *pl = pp->places; pl != NULL; pl = pl->next)
		if (load_matches(pl->load, module))
			return true;
	return false;
}

static void
destroy(struct probe *p)
{
	struct pid_probe *pp = p->data;

	vec_foreach(alias, &pp->aliases)
		mem_free(*alias);
	vec_fini(&pp->aliases);
	for (struct place *pl = pp->places, *next; pl != NULL; pl = next) {
		next = pl->next;
		mem_free(pl);
	}
	mem_free(pp);
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
	.enable = enable,
	.follows = follows,
	.per_process = true,
	.module_matches = module_matches,
	.function_matches = function_matches,
	.unloaded = unloaded,
	.space_end = space_end,
	.destroy = destroy,
};
