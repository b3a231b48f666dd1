/*
 * Who returns?  Told without knowing how a function can be left.
 *
 *	returns [-o FILE] [-m MODULE] [-f GLOB] COMMAND ...
 *
 * At the begin of each function that is meant the return address lies where
 * the stack pointer points.  A breakpoint goes there; a thread that comes to it
 * with that stack pointer has returned from the call.  So neither `ret' nor
 * jumps of the function are looked at, and what dtrap says of its probes can be
 * compared with this.
 *
 * A line for each function that was entered, behind the module's name:
 *
 *	MODULE FUNCTION entries again returns gone alive left
 *
 *	again	entries that found their own return address in the very same
 *		place, from a call that has not returned: a jump to the begin,
 *		which is a loop or a tail call
 *	gone	calls whose frame was given up: longjmp, an exception
 *	alive	calls that are still there at the end
 *	left	those of `gone' and `alive' that had been left by a jump to
 *		another function's begin, which found the same return address
 *		in the same place: it has not returned, and for it neither
 *
 * entries = returns + gone + alive.
 *
 * Frames of one stack are those of one thread, or in Go of one goroutine, whose
 * stack moves: there places are counted from its upper end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlang/base/glob.h"
#include "dlang/base/hash.h"
#include "dlang/base/vec.h"
#include "inject/resume.h"
#include "inject/tracepoint.h"
#include "symbols/addrspace.h"
#include "symbols/linkmap.h"
#include "tracer/ptrace/event.h"
#include "tracer/ptrace/proc.h"

/* A stack that is left for a lower one than this is another stack. */
#define STACK_MOST (1ULL << 20)

struct func {
	const struct load *load;
	const struct sym *sym;
	bool meant;   /* else it only tells of others */
	bool unwinds; /* it goes on in a frame further out */
	bool leaps;   /* ... in that which its jmp_buf tells */
	uint64_t entries, again, returns, gone, left;
};

/* What hangs on a tracepoint. */
struct spot {
	struct func *func; /* a begin, or NULL */
	bool back;         /* somebody's return address */
	bool linkmap;
};

/* A call that has not returned. */
struct call {
	struct func *func;
	uint64_t place; /* of its return address; rises towards the caller */
	uint64_t ret;
	bool left; /* by a jump to another function's begin */
};

/* The instruction at pc has been seen and is run anew, when whoever handles a
 * signal there, on the same stack, has returned. */
struct skip {
	uint64_t pc, place;
};

struct stack {
	VEC(struct call) calls; /* the outermost first */
	VEC(struct skip) skips; /* the same */
};

static const char *module = "a.out", *glob = "*";
static struct super *su;
static struct proc *target;
static struct linkmap lm;
static VEC(struct func *) funcs;
static struct hash stacks; /* thread or goroutine -> struct stack */
static struct hash seen;   /* loads that are armed */
static uint32_t next_id = 1;

/* ---- breakpoints ---- */

static struct spot *
spot_at(struct space *sp, uint64_t addr)
{
	struct tracepoint *tp = tracepoint_lookup(sp->tab, addr);
	const char *why;

	if (tp == NULL &&
	    tracepoint_get(sp->tab, addr, next_id, &tp, &why) != 0)
		return NULL;
	if (tp->id == next_id)
		next_id++;
	if (tp->user == NULL)
		tp->user = mem_zalloc(sizeof(struct spot));
	return tp->user;
}

static void
commit_failed(void *ctx, struct tracepoint *tp, const char *why)
{
	fprintf(stderr, "returns: nothing at %#lx: %s\n", tp->addr, why);
}

static void
commit(struct space *sp)
{
	if (!tptable_queued(sp->tab))
		return;
	space_stop(sp);
	tracepoint_commit(sp->tab, commit_failed, NULL);
	space_resume(sp);
}

/* Names that dtrap's globs do not mean. */
static bool
is_meant(const struct load *l, const struct sym *s)
{
	return s->kind == SYM_FUNC && s->size > 0 &&
	    object_is_text(l->object, s->addr) && !sym_is_piece(s->name) &&
	    glob_match(glob, s->name) &&
	    (!glob_is(glob) ||
		(strchr(s->name, '@') == NULL &&
		    (object_is_go(l->object) || strchr(s->name, '.') == NULL) &&
		    strcmp(s->name, "_init") != 0 &&
		    strcmp(s->name, "_fini") != 0));
}

/*
 * What unwinds, and where whatever caught an exception begins: by the time they
 * are called, frames below have been given up, and code goes on behind a call
 * that never returned.
 */
static bool
tells(struct func *f)
{
	const char *name = f->sym->name;
	size_t len = strlen(name);

	f->unwinds = strncmp(name, "_Unwind_R", 9) == 0 ||
	    strncmp(name, "_Unwind_Forced", 14) == 0;
	f->leaps = (len >= 7 && strcmp(name + len - 7, "longjmp") == 0 &&
		       strcmp(name, "__longjmp") != 0) ||
	    strcmp(name, "__longjmp_chk") == 0;
	return f->unwinds || f->leaps || strcmp(name, "__cxa_begin_catch") == 0;
}

static void
arm_func(
    struct space *sp, const struct load *l, const struct sym *s, bool meant)
{
	struct func f = { .load = l, .sym = s, .meant = meant };
	struct spot *at;

	if (!tells(&f) && !meant)
		return;
	at = spot_at(sp, l->bias + s->addr);
	if (at == NULL || at->func != NULL)
		return; /* the second name of one */
	at->func = mem_zalloc(sizeof(*at->func));
	*at->func = f;
	*vec_push(&funcs) = at->func;
}

static void
arm_load(struct space *sp, const struct load *l)
{
	bool meant = load_matches(l, module);
	const struct sym *syms;
	size_t n = object_funcs(l->object, &syms);

	for (size_t i = 0; i < n; i++)
		arm_func(sp, l, &syms[i], meant && is_meant(l, &syms[i]));
	/* As dtrap: functions without a name have to be asked for. */
	if (strncmp(glob, "sub_", 4) != 0)
		return;
	n = object_unnamed(l->object, &syms);
	for (size_t i = 0; i < n; i++)
		arm_func(sp, l, &syms[i], meant && is_meant(l, &syms[i]));
}

static void
arm(struct space *sp)
{
	struct load *const *loads;

	addrspace_refresh(sp->as, NULL, NULL);
	size_t n = addrspace_loads(sp->as, &loads);
	for (size_t i = 0; i < n; i++) {
		if (!loads[i]->seen ||
		    hash_set(&seen, (uintptr_t)loads[i], loads[i]) != NULL)
			continue;
		arm_load(sp, loads[i]);
	}
	commit(sp);
}

/* ---- calls ---- */

/* The stack that the thread is on, and where on it. */
static struct stack *
stack_of(struct thread *th, const struct uregs *regs, uint64_t *place)
{
	const struct load *exec = addrspace_exec(th->proc->space->as);
	uint64_t key = (uint64_t)th->tid, g, bounds[2];
	const struct reader *mem = &th->proc->space->mem;

	/* A thread that is about to leave the stack of the system, or a
	 * signal's, has the goroutine already and not yet its stack. */
	if (exec != NULL && object_is_go(exec->object) &&
	    reader_read(mem, regs->r[UREG_FS_BASE] - 8, &g, sizeof(g)) == 0 &&
	    reader_read(mem, g, bounds, sizeof(bounds)) == 0 &&
	    regs->r[UREG_RSP] - bounds[0] <= bounds[1] - bounds[0]) {
		key = g;
		*place -= bounds[1];
	}
	struct stack *s = hash_get(&stacks, key);
	if (s == NULL) {
		s = mem_zalloc(sizeof(*s));
		hash_set(&stacks, key, s);
	}
	return s;
}

/* The last call will not be returned from. */
static void
drop_last(struct stack *s)
{
	struct call *c = &s->calls.at[--s->calls.len];

	c->func->gone++;
	c->func->left += c->left;
}

/* Frames below the place are no more: nobody will return to them. */
static void
give_up(struct stack *s, uint64_t place)
{
	while (s->calls.len > 0) {
		struct call *c = &s->calls.at[s->calls.len - 1];
		if ((int64_t)(c->place - place) >= 0 ||
		    place - c->place > STACK_MOST)
			return;
		drop_last(s);
	}
}

/*
 * The stack pointer that longjmp() is about to put back: the seventh word of
 * its buffer, which glibc has turned by 17 bits and mixed with a word of the
 * thread's.
 */
static uint64_t
leap_to(struct thread *th, const struct uregs *regs)
{
	const struct reader *mem = &th->proc->space->mem;
	uint64_t word, key = 0, sp = regs->r[UREG_RSP];

	if (reader_read(mem, regs->r[UREG_RDI] + 48, &word, 8) != 0)
		return sp;
	reader_read(mem, regs->r[UREG_FS_BASE] + 0x30, &key, 8);
	key ^= word >> 17 | word << 47;
	return key - sp < STACK_MOST ? key : word - sp < STACK_MOST ? word : sp;
}

static void
entered(struct thread *th, const struct uregs *regs, struct func *f)
{
	struct space *sp = th->proc->space;
	uint64_t place = regs->r[UREG_RSP], ret;

	f->entries++;
	if (reader_read(&sp->mem, place, &ret, sizeof(ret)) != 0) {
		f->gone++;
		return;
	}
	struct stack *s = stack_of(th, regs, &place);
	give_up(s, place);
	/* What was called from elsewhere at this place has been given up. */
	while (s->calls.len > 0) {
		struct call *c = &s->calls.at[s->calls.len - 1];
		if (c->place != place || c->ret == ret)
			break;
		drop_last(s);
	}
	for (size_t i = s->calls.len; i-- > 0;) {
		struct call *c = &s->calls.at[i];
		if (c->place != place)
			break;
		if (c->func == f) {
			f->again++;
			break;
		}
		c->left = true;
	}
	*vec_push(&s->calls) = (struct call){ f, place, ret, false };
	if (f->leaps)
		give_up(s, place + (leap_to(th, regs) - regs->r[UREG_RSP]));
	struct spot *back = spot_at(sp, ret);
	if (back != NULL)
		back->back = true;
	else
		fprintf(stderr, "returns: no breakpoint at %#lx\n", ret);
	commit(sp);
}

static void
is_pad(void *ctx, uint64_t pad)
{
	uint64_t *addr = ctx;

	if (*addr == pad)
		*addr = 0;
}

/* Does the unwinder let functions go on at pc? */
static bool
is_landing(struct thread *th, uint64_t pc)
{
	const struct load *l = addrspace_load_at(th->proc->space->as, pc);
	const struct fde *fdes;
	uint64_t addr;

	if (l == NULL)
		return false;
	size_t n = object_fdes(l->object, &fdes);
	addr = pc - l->bias;
	for (size_t i = 0; i < n && addr != 0; i++)
		if (fdes[i].lsda != 0)
			object_landing_pads(l->object, &fdes[i], is_pad, &addr);
	return addr == 0;
}

/* Is somebody at work who unwinds, above the place? */
static bool
is_unwound(const struct stack *s, uint64_t place)
{
	for (size_t i = s->calls.len; i-- > 0;) {
		const struct call *c = &s->calls.at[i];
		if ((int64_t)(c->place - place) > 0)
			break;
		if (c->func->unwinds)
			return true;
	}
	return false;
}

static void
came_back(struct thread *th, const struct uregs *regs, uint64_t pc)
{
	uint64_t place = regs->r[UREG_RSP] - 8;
	struct stack *s = stack_of(th, regs, &place);

	if (is_unwound(s, place) && is_landing(th, pc))
		place += 8;
	give_up(s, place);
	while (s->calls.len > 0) {
		struct call *c = &s->calls.at[s->calls.len - 1];
		if (c->place != place || c->ret != pc)
			return;
		c->func->returns++;
		s->calls.len--;
	}
}

/* ---- events ---- */

/* Was it seen here before a signal came?  A goroutine may go on in another
 * thread. */
static bool
is_seen(struct thread *th, const struct uregs *regs, uint64_t pc)
{
	uint64_t place = regs->r[UREG_RSP];
	struct stack *s = stack_of(th, regs, &place);
	const struct skip *last;
	bool found = false;

	while (s->skips.len > 0 && !found) {
		last = &s->skips.at[s->skips.len - 1];
		if ((int64_t)(last->place - place) > 0)
			break;
		found = last->place == place && last->pc == pc;
		s->skips.len--;
	}
	return found;
}

static void
saw(struct thread *th, const struct uregs *regs, uint64_t pc)
{
	uint64_t place = regs->r[UREG_RSP];
	struct stack *s = stack_of(th, regs, &place);

	*vec_push(&s->skips) = (struct skip){ pc, place };
}

static void
on_trap(struct thread *th)
{
	struct space *sp = th->proc->space;
	struct uregs *regs = thread_regs(th);
	uint64_t fault;

	if (regs == NULL)
		return;
	uint64_t pc = regs->r[UREG_RIP] - 1;
	struct tracepoint *tp =
	    sp->tab != NULL ? tracepoint_lookup(sp->tab, pc) : NULL;
	if (tp == NULL || tp->was_trap) {
		stop_signal(th, SIGTRAP);
		return;
	}
	regs->r[UREG_RIP] = pc;
	struct spot at = *(struct spot *)tp->user;
	bool again = is_seen(th, regs, pc);
	/* Whoever handled the signal may have come back just now. */
	if (at.back)
		came_back(th, regs, pc);
	if (at.func != NULL && !again)
		entered(th, regs, at.func);
	if (at.linkmap && !again)
		arm(sp);
	thread_mend_sigtrap(th);
	bool fails = resume_from(sp->tab, tp, regs, &fault) != 0;
	thread_regs_dirty(th);
	if (fails)
		thread_fault(th, SIGSEGV, 1, fault);
}

static void
on_signal(struct thread *th)
{
	struct space *sp = th->proc->space;
	struct uregs *regs;
	struct tracepoint *tp;

	if (sp->tab == NULL || (regs = thread_regs(th)) == NULL)
		return;
	switch (resume_leave_slot(sp->tab, regs, &tp)) {
	case SLOT_ENTERED: /* of code that jumps lead to: none here */
	case SLOT_FIRING:
	case SLOT_OUTSIDE: return;
	case SLOT_BEFORE: saw(th, regs, tp->addr); break;
	case SLOT_AFTER: break;
	}
	thread_regs_dirty(th);
}

static void
restore(void *ctx, struct proc *p)
{
	struct space *sp = p->space;

	if (sp->tab == NULL)
		return;
	tracepoint_restore_all(sp->tab);
	vec_foreach(th, &p->threads) {
		struct uregs *regs = thread_regs(*th);
		if (regs != NULL &&
		    resume_leave_slot(sp->tab, regs, NULL) != SLOT_OUTSIDE)
			thread_regs_dirty(*th);
	}
}

/* Children are let go: with other memory at once, else when they execute. */
static void
on_fork(const struct event *ev)
{
	struct proc *child = ev->child != NULL ? ev->child->proc : NULL;

	if (child == NULL || child->space == ev->thread->proc->space)
		return;
	child->space->tab =
	    tptable_fork(ev->thread->proc->space->tab, &child->space->target);
	proc_detach(child, restore, NULL);
}

static void
on_event(struct event *ev)
{
	struct thread *th = ev->thread;

	switch (ev->kind) {
	case EV_TRAP: on_trap(th); break;
	case EV_SIGNAL: on_signal(th); break;
	case EV_FORK:
	case EV_VFORK:
	case EV_CLONE: on_fork(ev); break;
	case EV_EXEC: proc_detach(th->proc, restore, NULL); return;
	case EV_GONE: return;
	default: break;
	}
	thread_resume(th);
}

/* ---- the report ---- */

static void
report(FILE *out)
{
	hash_foreach(e, &stacks) {
		const struct stack *s = e->value;
		vec_foreach(c, &s->calls)
			c->func->left += c->left;
	}
	vec_foreach(at, &funcs) {
		const struct func *f = *at;
		if (!f->meant || f->entries == 0)
			continue;
		fprintf(out, "%s %s %lu %lu %lu %lu %lu %lu\n", f->load->module,
		    f->sym->name, f->entries, f->again, f->returns, f->gone,
		    f->entries - f->returns - f->gone, f->left);
	}
}

static void
launch(char **argv)
{
	struct proc_error err;

	if (proc_launch_file(su, NULL, argv, NULL, &target, &err) != 0) {
		fprintf(stderr, "returns: %s\n", err.text);
		exit(1);
	}
	struct space *sp = target->space;
	sp->tab = tptable_create(&sp->target);
	tracepoint_unlisted(sp->tab);
	sp->as = addrspace_create(target->pid, &sp->mem);
	addrspace_refresh(sp->as, NULL, NULL);
	/* As dtrap: nothing counts before the libraries are there. */
	if (linkmap_find(sp->as, &sp->mem, &lm) == 0 && lm.brk_addr != 0 &&
	    spot_at(sp, lm.brk_addr) != NULL) {
		spot_at(sp, lm.brk_addr)->linkmap = true;
		commit(sp);
	} else {
		arm(sp);
	}
	thread_resume(target->threads.at[0]);
}

int
main(int argc, char **argv)
{
	const char *path = NULL;
	struct event ev;
	int opt;

	while ((opt = getopt(argc, argv, "+f:m:o:")) != -1)
		switch (opt) {
		case 'f': glob = optarg; break;
		case 'm': module = optarg; break;
		case 'o': path = optarg; break;
		default: return 2;
		}
	if (optind == argc)
		return 2;
	su = super_create();
	launch(argv + optind);
	while (event_poll(su, &ev, true) != -ECHILD)
		on_event(&ev);
	FILE *out = path != NULL ? fopen(path, "w") : stdout;
	if (out == NULL) {
		fprintf(stderr, "returns: %s: %s\n", path, strerror(errno));
		return 1;
	}
	report(out);
	return fclose(out) != 0;
}
