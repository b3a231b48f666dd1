/*
 * The watch provider: who writes this variable, or reads it.
 *
 *	watch$target:a.out:counter:write	a variable, by its symbol
 *	watch$target:a.out:counter:access	it is written or read
 *	watch$target:a.out:next`last:write	what the function next() calls last:
 *						its static variable, one in its
 *						frame, or that of its file
 *	watch$target::0x7ffc01234568:write	8 bytes at an address, or as many
 *						as the address allows
 *	watch$target::0x7ffc01234568+4:write	4 bytes there
 *
 * arg0 is the value before, arg1 the one after, as unsigned numbers, and arg2 the
 * address.  The thread has just executed the instruction.
 *
 * Each thread of the process has a watch of its own (tracer/ptrace/datawatch.h): a
 * new one before its first instruction, a child of a fork that is followed as
 * well.  A processor watches four addresses in a thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/diag.h"
#include "dlang/base/glob.h"
#include "symbols/addrspace.h"
#include "symbols/dwarf_source.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/hit.h"
#include "tracer/fire/moments.h"
#include "tracer/prov/watch.h"
#include "tracer/ptrace/proc.h"
#include "tracer/sites/protect.h"
#include "tracer/sites/site.h"

/* In probe->data: the module fields by which the probe was found, as "a.out". */
struct found {
	struct found *next;
	char mod[];
};

static void
watching_end(void *part)
{
	vec_fini(&((struct watching *)part)->list);
}

static const struct part watching_part = { .size = sizeof(struct watching),
	.end = watching_end };

struct watching *
watching_of(struct state *st)
{
	return part_of(&st->parts, &watching_part);
}

/* ---- threads ---- */

static const char *
why_not(int error)
{
	switch (error) {
	case -ENOSPC:
		return "no debug register is left; a processor has four for a "
		       "thread";
	case -EACCES:
	case -EPERM:
		return "perf events are forbidden here (sysctl "
		       "kernel.perf_event_paranoid)";
	case -EMFILE: return "too many open files";
	case -EINVAL:
	case -ENOENT:
	case -EOPNOTSUPP:
		return "kernel or machine have no watches (Linux 5.13)";
	default: return strerror(-error);
	}
}

uint64_t
watch_value(const struct thread *th, const struct watched *w, uint64_t addr)
{
	uint64_t value = 0; /* little-endian, as this machine is */

	reader_read(&th->proc->space->mem, addr, &value, w->len);
	return value;
}

bool
watch_is_in(const struct watched *w, const struct thread *th)
{
	const struct addrspace *as = th->proc->space->as;

	return as != NULL && addrspace_id(as) == w->space;
}

/* If the tracer died in the middle of a stop for a watch, the thread would die of
 * that SIGTRAP without dtrap's handler.  A space with probes gets it at a
 * commit. */
static bool
is_protected(struct state *st, struct space *sp)
{
	if (!sp->probed && sp->tab != NULL) {
		sp->probed = true;
		sites_commit(st, sp);
	}
	if (!protect_allows(st, sp))
		protect_say(st, sp);
	return protect_allows(st, sp);
}

/* The thread has executed another program: the kernel has ended its watches, but
 * their debug registers are free only without the descriptors. */
static void
drop_old(struct state *st, struct thread *th)
{
	struct watching *ws = watching_of(st);

	for (uint32_t i = 0; i < ws->list.len; i++)
		if (!watch_is_in(&ws->list.at[i], th))
			datawatch_drop(th, i);
}

void
watch_arm(struct state *st, struct watched *w, uint32_t id, struct thread *th,
    uint64_t addr)
{
	if (thread_gone(th) || !is_protected(st, th->proc->space))
		return;
	drop_old(st, th);
	int error = datawatch_add(th, id, addr, w->len, w->how);
	if (error == 0 || error == -ESRCH || w->refused)
		return;
	w->refused = true;
	state_message(st, "%s:%s:%s:%s does not watch thread %d: %s",
	    w->probe->prov, w->probe->mod, w->probe->func, w->probe->name,
	    (int)th->tid, why_not(error));
}

static void
arm_all(struct state *st, struct watched *w, uint32_t id)
{
	struct proc *p = NULL;
	bool first = true;

	while ((p = super_next(st->super, p)) != NULL)
		vec_foreach(th, &p->threads) {
			if (!watch_is_in(w, *th))
				continue;
			if (first && w->kept.in_frame)
				watch_frame_begin(st, p->space, w);
			else if (first)
				w->value = watch_value(*th, w, w->addr);
			first = false;
			if (!w->kept.in_frame)
				watch_arm(st, w, id, *th, w->addr);
		}
}

bool
watch_is_enabled(const struct watched *w)
{
	return w->probe->image_ref != 0 && !w->probe->off;
}

/* Part of a process that a fork has created: the space that its memory is a copy
 * of. */
struct origin {
	uint32_t space;
};

static const struct part origin_part = { .size = sizeof(struct origin) };

static void
on_fork(struct state *st, const struct event *ev, void *arg)
{
	const struct addrspace *as = ev->thread->proc->space->as;
	struct proc *child = ev->child != NULL ? ev->child->proc : NULL;

	if (child == NULL || as == NULL || child->space->as == as)
		return;
	struct origin *o = part_of(&child->parts, &origin_part);
	o->space = addrspace_id(as);
}

/* The copy has the variables at the same addresses. */
static void
copy_all(struct watching *ws, const struct proc *p)
{
	const struct origin *o = part_had(&p->parts, &origin_part);
	const size_t n = ws->list.len;

	for (size_t i = 0; o != NULL && p->space->as != NULL && i < n; i++) {
		struct watched w = ws->list.at[i];
		if (w.space != o->space)
			continue;
		w.space = addrspace_id(p->space->as);
		w.unseen = 0;
		*vec_push(&ws->list) = w;
	}
}

static void
on_begin(struct state *st, const struct event *ev, void *arg)
{
	struct watching *ws = arg;
	struct thread *th = ev->thread;

	if (!ev->first)
		return;
	if (th->tid == th->proc->pid)
		copy_all(ws, th->proc);
	for (uint32_t i = 0; i < ws->list.len; i++) {
		struct watched *w = &ws->list.at[i];
		if (!w->kept.in_frame && watch_is_enabled(w) &&
		    watch_is_in(w, th))
			watch_arm(st, w, i, th, w->addr);
	}
}

static bool
accessed(struct thread *th, struct watched *w, uint32_t id, uint64_t words[3])
{
	if (w->kept.in_frame)
		return watch_frame_accessed(th, w, id, words);
	words[0] = w->value;
	words[1] = w->value = watch_value(th, w, w->addr);
	words[2] = w->addr;
	return true;
}

/* Fire for what the thread has accessed.  Of accesses without a stop only the
 * number is known. */
static void
on_data(struct state *st, struct thread *th)
{
	struct watching *ws = watching_of(st);
	uint32_t id;
	uint64_t n;

	while (datawatch_next(th, &id, &n)) {
		struct watched *w = &ws->list.at[id];
		if (!watch_is_enabled(w))
			continue;
		uint64_t words[3];
		w->unseen += n - 1;
		if (!accessed(th, w, id, words))
			continue;
		fire_event(st, w->probe, th, words, 3, (struct occasion){ 0 });
	}
}

static void
begin(struct state *st, struct watching *ws)
{
	if (ws->begun)
		return;
	ws->begun = true;
	hit_tell_data(st, on_data);
	moments_subscribe(st, EV_STOP, on_begin, ws);
	moments_subscribe(st, EV_FORK, on_fork, ws);
}

static void
enable(struct state *st, struct probe *p)
{
	struct watching *ws = watching_of(st);

	begin(st, ws);
	for (uint32_t i = 0; i < ws->list.len; i++)
		if (ws->list.at[i].probe == p)
			arm_all(st, &ws->list.at[i], i);
}

static void
disarm(struct state *st, struct watched *w, uint32_t id)
{
	struct proc *p = NULL;
	uint32_t other;
	uint64_t n;

	while ((p = super_next(st->super, p)) != NULL)
		vec_foreach(th, &p->threads) {
			while (datawatch_next(*th, &other, &n))
				watching_of(st)->list.at[other].unseen += n;
			datawatch_drop(*th, id);
		}
	if (w->unseen > 0)
		state_notice(st,
		    "%llu accesses of %s were not reported: a thread blocked "
		    "SIGTRAP",
		    (unsigned long long)w->unseen, w->probe->func);
}

static void
disable(struct state *st, struct probe *p)
{
	struct watching *ws = watching_of(st);

	for (uint32_t i = 0; i < ws->list.len; i++)
		if (ws->list.at[i].probe == p)
			disarm(st, &ws->list.at[i], i);
}

/* ---- names ---- */

struct request {
	struct state *st;
	const struct probe_desc *pd;
	const struct span *at;
	struct diags *d; /* NULL: errors are not reported */
	struct proc *proc;
};

static const struct {
	const char *name;
	enum datawatch_how how;
} names[] = {
	{ "write", DATAWATCH_WRITE },
	{ "access", DATAWATCH_ACCESS },
};

static void
add(struct request *r, struct probe *p, const struct watched *new)
{
	struct watching *ws = watching_of(r->st);

	vec_foreach(w, &ws->list)
		if (w->probe == p && w->space == new->space &&
		    w->addr == new->addr && w->kept.entry == new->kept.entry)
			return;
	*vec_push(&ws->list) = *new;
	if (p->image_ref != 0)
		arm_all(r->st, &ws->list.at[ws->list.len - 1],
		    (uint32_t)ws->list.len - 1);
}

static bool
module_matches(const struct probe *p, const char *module)
{
	for (const struct found *f = p->data; f != NULL; f = f->next)
		if (strcmp(f->mod, module) == 0)
			return true;
	return false;
}

static void
note_module(struct probe *p, const char *module)
{
	if (module_matches(p, module))
		return;
	size_t size = strlen(module) + 1;
	struct found *f = mem_alloc(sizeof(*f) + size);
	f->next = p->data;
	memcpy(f->mod, module, size);
	p->data = f;
}

static void
destroy(struct probe *p)
{
	struct found *f = p->data, *next;

	for (; f != NULL; f = next) {
		next = f->next;
		mem_free(f);
	}
}

/* kept: NULL, or in which frames. */
static void
publish(struct request *r, const char *mod, uint64_t addr, unsigned len,
    const struct dwarf_kept *kept)
{
	char *prov = mem_printf("watch%d", (int)r->proc->role.family);
	bool fresh;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!glob_field(r->pd->name, names[i].name))
			continue;
		struct probe *p = probe_add(&r->st->probes, &prov_watch, prov,
		    mod, r->pd->func, names[i].name, &fresh);
		note_module(p, r->pd->mod);
		add(r, p,
		    &(struct watched){ .probe = p,
			.space = addrspace_id(r->proc->space->as),
			.addr = addr,
			.len = len,
			.how = names[i].how,
			.kept =
			    kept != NULL ? *kept : (struct dwarf_kept){ 0 } });
	}
	mem_free(prov);
}

/* The longest length that can be watched there. */
static unsigned
longest(uint64_t addr)
{
	unsigned len = 8;

	while (!datawatch_fits(addr, len))
		len /= 2;
	return len;
}

/* On later calls errors are not reported. */
#define error_at(r, tag, ...) \
	((r)->d == NULL ? 0 : diag_error((r)->d, tag, (r)->at, __VA_ARGS__))

/* A variable in one object.  1: it is there; 0: it is not; or a negative errno. */
static int
variable(struct request *r, struct load *l)
{
	const struct sym *s = object_sym(l->object, r->pd->func);

	if (s != NULL && s->kind == SYM_TLS)
		return error_at(r, D_PROC_FUNC,
		    "'%s' is thread-local: watch its address in a thread",
		    r->pd->func);
	if (s == NULL || s->kind != SYM_OBJECT)
		return 0;
	if (!datawatch_fits(l->bias + s->addr, s->size))
		return error_at(r, D_PROC_ALIGN,
		    "'%s' cannot be watched as a whole: that takes 1, 2, 4 or 8 "
		    "aligned bytes; watch an address in it",
		    r->pd->func);
	publish(r, l->module, l->bias + s->addr, (unsigned)s->size, NULL);
	return 1;
}

/* What a function calls NAME. */
struct scoped {
	struct request *r;
	struct load *load;
	unsigned found;
};

static void
on_frame(struct scoped *s, const struct dwarf_kept *kept)
{
	struct dwarf_kept k = *kept;
	uint64_t bias = s->load->bias;

	k.entry += bias;
	for (unsigned i = 0; i < k.nranges; i++) {
		k.ranges[i].start += bias;
		k.ranges[i].end += bias;
	}
	s->found++;
	publish(s->r, s->load->module, 0, (unsigned)k.size, &k);
}

static void
on_kept(void *ctx, const struct dwarf_kept *k)
{
	struct scoped *s = ctx;

	/* Frames are aligned more than any number. */
	if (!datawatch_fits(
		k->in_frame ? (uint64_t)k->offset : s->load->bias + k->addr,
		k->size))
		return;
	if (k->in_frame) {
		on_frame(s, k);
		return;
	}
	s->found++;
	publish(s->r, s->load->module, s->load->bias + k->addr,
	    (unsigned)k->size, NULL);
}

/* FUNCTION`NAME in one object, as variable(). */
static int
scoped(struct request *r, struct load *l, const char *tick)
{
	char *func = mem_strndup(r->pd->func, (size_t)(tick - r->pd->func));
	struct scoped s = { .r = r, .load = l };
	enum dwarf_have have =
	    dwarf_kept(l->object, func, tick + 1, on_kept, &s);

	mem_free(func);
	if (s.found != 0)
		return 1;
	if (have == DWARF_HAVE)
		return error_at(r, D_PROC_ALIGN,
		    "'%s' cannot be watched as a whole: that takes 1, 2, 4 or 8 "
		    "aligned bytes; watch an address in it",
		    r->pd->func);
	if (have == DWARF_NO_SCOPE)
		return 0; /* another object may have the function */
	return error_at(r, D_PROC_FUNC, "'%s' cannot be watched: %s",
	    r->pd->func,
	    have == DWARF_OF_CALL ?
		"each call of the function has its own, and it is not in the "
		"same place of the frame throughout" :
		dwarf_have_text(have));
}

static int
find_in(struct request *r, struct load *l)
{
	const char *tick = strrchr(r->pd->func, '`');

	return tick != NULL ? scoped(r, l, tick) : variable(r, l);
}

static int
variables(struct request *r)
{
	struct load *const *loads;
	size_t n = addrspace_loads(r->proc->space->as, &loads);
	int found = 0;

	for (int exec = 1; exec >= 0; exec--)
		for (size_t i = 0; found == 0 && i < n; i++)
			if (loads[i]->seen && loads[i]->is_exec == exec &&
			    load_matches(loads[i], r->pd->mod))
				found = find_in(r, loads[i]);
	if (found != 0)
		return found < 0 ? found : 0;
	if (r->d == NULL || option_get(&r->st->opts, OPT_ZDEFS) != 0)
		return 0;
	return diag_error(r->d, D_PROC_FUNC, r->at, "no variable '%s'%s%s",
	    r->pd->func, r->pd->mod[0] != '\0' ? " in module " : "",
	    r->pd->mod);
}

static int
answer(struct request *r)
{
	const char *func = r->pd->func;
	char *end;

	if (r->proc == NULL || r->proc->space->as == NULL)
		return 0;
	if (*func == '\0' || glob_is(func))
		return error_at(r, D_PROC_FUNC,
		    "a watch is of one variable or address, not of '%s'", func);
	if (!glob_field(r->pd->name, "write") &&
	    !glob_field(r->pd->name, "access"))
		return error_at(r, D_PROC_NAME,
		    "a watch has the probes write and access, not '%s'",
		    r->pd->name);
	if (strncmp(func, "0x", 2) != 0)
		return variables(r);
	uint64_t addr = strtoull(func, &end, 16);
	uint64_t len = addr != 0 ? longest(addr) : 0;
	if (*end == '+')
		len = strtoul(end + 1, &end, 10);
	if (*end != '\0' || addr == 0)
		return error_at(
		    r, D_PROC_FUNC, "'%s' is no address in hexadecimal", func);
	if (!datawatch_fits(addr, len))
		return error_at(r, D_PROC_ALIGN,
		    "'%s' cannot be watched: that takes 1, 2, 4 or 8 aligned "
		    "bytes",
		    func);
	publish(r, "", addr, (unsigned)len, NULL);
	return 0;
}

static int
provide_number(struct state *st, const struct probe_desc *pd,
    const struct span *at, struct diags *d)
{
	struct request r = { .st = st, .pd = pd, .at = at, .d = d };
	pid_t pid;
	int error = site_number(pd, "watch", at, d, &pid);

	if (error <= 0)
		return error;
	error = site_grab(st, pid, at, d, &r.proc);
	if (error == 0)
		error = answer(&r);
	/* Descendants that have executed another program. */
	r.d = NULL;
	for (r.proc = NULL; pd->family && error == 0 &&
	     (r.proc = super_next(st->super, r.proc)) != NULL;)
		if (r.proc->role.family == pid && r.proc->role.followed)
			answer(&r);
	return error;
}

static int
provide(struct state *st, const struct probe_desc *pd, const struct span *at,
    struct diags *d)
{
	if (pd->id != 0 || glob_is(pd->prov) ||
	    strncmp(pd->prov, "watch", 5) != 0)
		return 0;
	return provide_number(st, pd, at, d);
}

static bool
arg(const struct probe *p, unsigned n, struct probe_arg *out)
{
	*out = (struct probe_arg){ .type = "uint64_t", .source = n };
	return n < 3;
}

const struct provider prov_watch = {
	.name = "watch",
	.stability = STABILITY("Evolving", "ISA"),
	.provide = provide,
	.enable = enable,
	.disable = disable,
	.follows = true,
	.per_process = true,
	.module_matches = module_matches,
	.arg = arg,
	.destroy = destroy,
};
