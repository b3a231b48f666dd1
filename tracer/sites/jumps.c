/*
 * Jumps; see jumps.h.
 */
#include "tracer/sites/jumps.h"

#include <errno.h>

#include "disasm/window.h"
#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "dlang/base/str.h"
#include "dlang/image/inside.h"
#include "inject/resume.h"
#include "inject/stub.h"
#include "inject/tracepoint.h"
#include "inject/trapset.h"
#include "symbols/addrspace.h"
#include "symbols/golang.h"
#include "tracer/base/state.h"
#include "tracer/fast/fast.h"
#include "tracer/names/bodies.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/super.h"
#include "tracer/sites/boards.h"
#include "tracer/sites/function.h"
#include "tracer/sites/perfmap.h"
#include "tracer/sites/raising.h"
#include "tracer/sites/sequences.h"
#include "tracer/sites/site.h"
#include "tracer/sites/windows.h"

/* A tracepoint's. */
struct fast_jump {
	struct window window; /* unless `alone' */
	const char *alone; /* why it has no window of its own; NULL: it has */
	char *never;       /* why there can be no jump; NULL: there can */
	char *why;    /* why there is no jump now; NULL: there is one, or it was
		    * not tried */
	bool may;     /* its clauses can run in the target (jumps_prepare()) */
	bool grouped; /* and its code, alone or with others (collect()) */
	unsigned asked; /* calls of jumps_asked(), up to ASKED_MOST */
};

#define ASKED_MOST 32U

/* Part of a space: further attempts. */
struct tries {
	unsigned hits;    /* by trap, up to least_hits() */
	bool wanted;      /* a jump could not be written: try again */
	bool soon;        /* the timer is set for that */
	unsigned in;      /* periods of the timer until then */
	unsigned waiting; /* the number of periods after the next failure */
};

static const struct part tries_part = { .size = sizeof(struct tries) };

#define AGAIN_NS   UINT64_C(50000000)
#define SOON_NS    UINT64_C(10000000)
#define AGAIN_MOST 256U

/* After this many hits by trap, a child of a target gets jumps.  Most children
 * execute a program or end before. */
#define CHILD_HITS 100U

/* The same of each process, with option auto.  So many hits take as long as it takes
 * to read the code of a large library for where its jumps lead. */
#define AUTO_HITS 2000U

/* Part of the run: is the timer there?  It wakes the tracer, so it is not before a
 * space is tried at all. */
struct again {
	bool begun;
};

static const struct part again_part = { .size = sizeof(struct again) };

static void on_again(struct state *st, void *arg, uint64_t late);

static void
begin_again(struct state *st)
{
	struct again *a = part_of(&st->parts, &again_part);

	if (!a->begun)
		timer_add(&st->timers, AGAIN_NS, on_again, NULL);
	a->begun = true;
}

static struct tries *
tries_of(struct space *sp)
{
	return part_of(&sp->parts, &tries_part);
}

static unsigned
least_hits(const struct state *st, const struct space *sp)
{
	if (fast_is_auto(st))
		return AUTO_HITS;
	return fast_world(sp) == NULL && sp->procs.len > 0 &&
		sp->procs.at[0]->role.followed ?
	    CHILD_HITS :
	    0;
}

/* Has the space had too few hits for jumps? */
static bool
is_early(const struct state *st, struct space *sp)
{
	return tries_of(sp)->hits < least_hits(st, sp);
}

void
jumps_trapped(struct state *st, struct space *sp)
{
	struct tries *t = fast_is_on(st) ? tries_of(sp) : NULL;
	unsigned least = t != NULL ? least_hits(st, sp) : 0;

	if (t == NULL || t->hits >= least || ++t->hits < least)
		return;
	begin_again(st);
	t->wanted = true;
	t->in = 0;
}

void
jump_free(struct fast_jump *j)
{
	if (j == NULL)
		return;
	mem_free(j->never);
	mem_free(j->why);
	mem_free(j);
}

static void
set_why(char **to, const char *why)
{
	mem_free(*to);
	*to = why != NULL ? mem_printf("%s", why) : NULL;
}

void
jumps_lower(struct space *sp, struct tracepoint *tp)
{
	if (!tp->jumps)
		return;
	space_stop(sp);
	tracepoint_lower(sp->tab, tp);
	space_resume(sp);
	tries_of(sp)->wanted = true;
}

void
jumps_let(
    struct state *st, struct space *sp, struct tracepoint *tp, uint64_t pc)
{
	const struct tp_user *u = tp->user;
	bool goroutine =
	    u != NULL && u->jump != NULL && u->jump->window.goroutine;

	if (!goroutine && !tp->rides && pc == tracepoint_start(tp))
		return;
	jumps_lower(sp, tp);
	/* Go's run time interrupts goroutines by signals all the time. */
	struct tries *t = tries_of(sp);
	if (goroutine && !t->soon) {
		t->soon = true;
		t->in = 0;
		timer_set_next(
		    &st->timers, on_again, NULL, timer_now() + SOON_NS);
	}
}

void
jumps_asked(struct space *sp, struct tracepoint *tp)
{
	struct tp_user *u = tp->user;

	if (u == NULL || u->jump == NULL || ++u->jump->asked < ASKED_MOST)
		return;
	set_why(&u->jump->never, "it reads memory that only the tracer reads");
	set_why(&u->jump->why, u->jump->never);
	jumps_lower(sp, tp);
}

/* ---- the code ---- */

/* The function that was looked at last: most have several sites. */
struct looked {
	const struct load *load;
	struct body_range range;
	struct body body;
	int error;
	struct sequences sequences;
	bool asked, checks; /* does the process have a shadow stack? */
};

/* Then a return needs the call that has put its address there. */
static bool
returns_are_checked(struct looked *k, const struct space *sp)
{
	struct proc_status ps;

	if (!k->asked)
		k->checks = procfs_status(sp->procs.at[0]->pid, &ps) < 0 ||
		    ps.shadow_stack;
	k->asked = true;
	return k->checks;
}

static void
looked_end(struct looked *k)
{
	body_fini(&k->body);
	sequences_end(&k->sequences);
}

static int
look_at(struct looked *k, struct state *st, struct space *sp,
    const struct load *l, const struct body_range *f)
{
	if (k->load == l && k->range.start == f->start)
		return k->error;
	body_fini(&k->body);
	k->load = l;
	k->range = *f;
	k->error = bodies_find(st, &sp->text, l, l->bias + f->start,
	    l->bias + f->end, false, &k->body);
	return k->error;
}

/* A window of `bytes' in the body that was looked at.  NULL, or why there is none. */
static const char *
try_window(struct looked *k, struct state *st, struct space *sp,
    const struct load *l, uint64_t addr, unsigned bytes, struct window *w)
{
	const char *why;

	if (window_find(w, &k->body, &sp->text, l->end, addr, bytes, &why) != 0)
		return why;
	const uint64_t start = w->insn[0].addr;
	if (bodies_lead_between(st, l->object, start - l->bias,
		MAX(w->next, start + bytes) - l->bias))
		return "a jump leads into the bytes to be replaced";
	if (sequences_contain(&k->sequences, sp, l, start, w->next))
		return "it is in a restartable sequence";
	if (bytes == TRAP_JUMP_LEN)
		return NULL;
	w->board = boards_find(st, sp, l, start, &k->sequences, &k->body);
	return w->board == 0 ? "there is no padding near by" : NULL;
}

static const char *
look_for_window(struct looked *k, struct state *st, struct space *sp,
    const struct load *l, uint64_t addr, struct window *w)
{
	struct body_range f;

	const char *why = function_range(st, l->object, addr - l->bias, &f);
	if (why != NULL)
		return why;
	if (look_at(k, st, sp, l, &f) != 0)
		return "its code is not known";
	why = try_window(k, st, sp, l, addr, TRAP_JUMP_LEN, w);
	if (why != NULL && TRAP_SHORT_LEN != 0 &&
	    try_window(k, st, sp, l, addr, TRAP_SHORT_LEN, w) == NULL)
		why = NULL;
	return why;
}

static const char *
find_window(struct looked *k, struct state *st, struct space *sp, uint64_t addr,
    struct window *w)
{
	const struct load *l = addrspace_load_at(sp->as, addr);
	const char *why;

	if (l == NULL || l->writable_text || l->is_vdso)
		return "its code is not read-only code of a file";
	if (!windows_known(st, sp, l, addr, w, &why)) {
		why = look_for_window(k, st, sp, l, addr, w);
		windows_keep(st, l, addr, w, why);
	}
	/* Of the process, not of its code. */
	if (why == NULL && window_calls(w) && returns_are_checked(k, sp))
		why = "a shadow stack checks the return";
	return why;
}

/* Does the instruction leave the function s? */
static bool
leaves(const struct space *sp, const struct load *l, uint64_t addr,
    const struct sym *s)
{
	uint8_t code[INSN_MAX_LEN];
	size_t len = MIN(sizeof(code), l->end - addr);
	struct insn in;

	return reader_read(&sp->text, addr, code, len) == 0 &&
	    insn_decode(code, len, addr, &in) == 0 &&
	    (in.kind == INSN_RET ||
		(in.kind == INSN_JMP &&
		    in.target - l->bias - s->addr >= s->size));
}

/* Go's stacks are small.  Where its compiler's functions begin and return, the code of
 * a site can see whether there is room (inject/stub.h); elsewhere it cannot.  NULL,
 * or why there is no jump. */
static const char *
look_at_go(const struct space *sp, uint64_t addr, bool *goroutine)
{
	const struct load *l = addrspace_load_at(sp->as, addr);
	const struct sym *s;

	*goroutine = false;
	if (l == NULL || !object_is_go(l->object))
		return NULL;
	s = object_code_at(l->object, addr - l->bias);
	if (s == NULL)
		return "its code is not known";
	struct go_func go = go_func(l->object, s->addr, s->name);
	if (go.calls == GO_NOT)
		return NULL;
	if (!go.alike)
		return "assembly of Go's may be on a stack without room";
	if (!stub_on_goroutines())
		return "the processor does not let code on the stack of a "
		       "goroutine know its thread";
	if (!go_parked_known(l->object))
		return "it is not known where goroutines are";
	*goroutine = true;
	return addr - l->bias == s->addr || leaves(sp, l, addr, s) ?
	    NULL :
	    "the stack of a goroutine may have no room there";
}

/* The window of a jump that the site has alone: NULL, or why it has none.  *never:
 * why it can have no jump, shared or not, or NULL. */
static const char *
find_jump(struct looked *k, struct state *st, struct space *sp, uint64_t addr,
    struct window *w, const char **never)
{
	bool goroutine;

	*never = look_at_go(sp, addr, &goroutine);
	const char *why =
	    *never != NULL ? *never : find_window(k, st, sp, addr, w);
	w->goroutine = goroutine;
	return why;
}

void
jumps_why_not(struct state *st, struct space *sp, const uint64_t *addr,
    size_t n, const char **why)
{
	struct looked looked = { 0 };
	struct window w;
	const char *never;

	for (size_t i = 0; i < n; i++)
		why[i] = find_jump(&looked, st, sp, addr[i], &w, &never);
	looked_end(&looked);
}

static bool
has_sites(const struct tracepoint *tp)
{
	const struct tp_user *u = tp->user;

	return u != NULL && u->sites != NULL && tp->state != TP_GONE;
}

/* ---- what the tracepoint is for ---- */

/* Do all sites fire at each pass, or all at those that take the branch?  A thread
 * that has come in by a door, so that some do not, hits by trap (fast_by_trap()).  One
 * that jumps back to an entry does so by trap, too, and is led past the site there, if
 * nothing but entry probes is at that (tracer/fire/hit.c). */
static bool
fire_alike(const struct tp_user *u)
{
	enum site_when when = u->sites->when;
	const struct site *s = u->sites;

	while (s != NULL && s->when == when)
		s = s->next;
	return s == NULL &&
	    (when == SITE_ALWAYS || when == SITE_TAKEN || when == SITE_ENTRY);
}

static bool
may_jump(const struct inside *in, struct tracepoint *tp)
{
	const struct tp_user *u = tp->user;
	struct fast_jump *j = u->jump;
	struct str why = { 0 };

	if (tp->was_trap)
		str_add(&why, "the program has its own breakpoint there");
	else if (u->arrivals[0] != NULL)
		str_add(&why, "the tracer itself needs the stop");
	else if (u->choosy && !fire_alike(u))
		str_add(&why, "the probe does not fire at each pass");
	else if (j->never != NULL)
		str_add(&why, j->never);
	else if (inside_tracepoint(in, tp->id, &why))
		str_fini(&why);
	bool may = why.len == 0;
	/* Without a window the clauses are the lesser reason. */
	set_why(&j->why,
	    may                  ? NULL :
		j->alone != NULL ? j->alone :
				   str_c(&why));
	str_fini(&why);
	return may;
}

/* Is the branch there to be taken?  The code of a site is not written again. */
static void
look_at_branch(struct tracepoint *tp)
{
	const struct tp_user *u = tp->user;
	bool taken = u->sites->when == SITE_TAKEN;

	if (tracepoint_stub_at(tp) != 0 && taken != u->jump->window.taken)
		set_why(&u->jump->never, "its code is for other probes");
	u->jump->window.taken = taken;
}

/* The window of each tracepoint, and whether its clauses allow a jump. */
static void
decide(struct state *st, struct space *sp)
{
	const struct inside in = { .image = fast_image(st),
		.clock = fast_has_clock(sp) };
	struct tracepoint *tp = NULL;
	struct looked looked = { 0 };
	const char *never;

	while ((tp = tracepoint_next(sp->tab, tp)) != NULL) {
		struct tp_user *u = tp->user;
		if (!has_sites(tp))
			continue;
		if (u->jump == NULL) {
			u->jump = mem_zalloc(sizeof(*u->jump));
			u->jump->alone = find_jump(&looked, st, sp, tp->addr,
			    &u->jump->window, &never);
			set_why(&u->jump->never, never);
		}
		look_at_branch(tp);
		u->jump->may = may_jump(&in, tp);
	}
	looked_end(&looked);
}

/* ---- raising ---- */

/* A group that may have a jump and has none. */
static void
add_group(void *ctx, const struct group *g)
{
	struct raising *r = ctx;
	bool all = true;

	for (size_t i = 0; i < g->n; i++) {
		struct tracepoint *tp = g->at[i].of;
		const struct tp_user *u = tp->user;
		all &= tp->jumps;
		u->jump->grouped = true;
	}
	if (!all)
		*vec_push(&r->list) = (struct covered){ .group = *g };
}

/* Add the tracepoint.  Returns whether it wants a jump. */
static bool
add_place(struct raising *r, struct tracepoint *tp)
{
	const struct tp_user *u = tp->user;
	struct fast_jump *j = has_sites(tp) ? u->jump : NULL;
	bool may = j != NULL && j->may;

	*vec_push(&r->places) = (struct place){ .addr = tp->addr,
		.window = may && j->alone == NULL ? &j->window : NULL,
		.of = tp,
		.may = may };
	if (may)
		j->grouped = false;
	return may && !tp->jumps;
}

/* Say why the place has no jump: because of others, or for want of a window. */
static void
say_if_left(const struct place *p)
{
	const struct tracepoint *tp = p->of;
	const struct tp_user *u = tp->user;

	if (p->may && !tp->jumps && !u->jump->grouped)
		set_why(&u->jump->why,
		    u->jump->alone != NULL ? u->jump->alone :
					     "another probe is too close");
}

/* List the groups that may have a jump and have none.  Tracepoints that have one
 * and may not are lowered, with `stopped'; else those without an int3 yet are
 * taken for having one. */
static void
collect(struct space *sp, struct raising *r, bool stopped)
{
	struct tracepoint *tp = NULL;
	bool wanted = false;

	while ((tp = tracepoint_next(sp->tab, tp)) != NULL) {
		const struct tp_user *u = tp->user;
		if (tp->state == TP_GONE || (stopped && tp->state != TP_TRAP) ||
		    (tp->state != TP_TRAP && tp->refs == 0))
			continue;
		if (stopped && has_sites(tp) && u->jump != NULL &&
		    !u->jump->may)
			tracepoint_lower(sp->tab, tp);
		wanted |= add_place(r, tp);
	}
	if (!wanted)
		return;
	groups_each(r->places.at, r->places.len, add_group, r);
	vec_foreach(p, &r->places)
		say_if_left(p);
}

/* Reserve memory for stubs, for each group of tracepoints that are near each
 * other.  All threads are stopped. */
static void
reserve(struct space *sp, const struct raising *r)
{
	uint64_t last = 0;
	size_t n = 0;

	for (size_t i = 0; i <= r->list.len; i++) {
		const struct group *g =
		    i < r->list.len ? &r->list.at[i].group : NULL;
		if (g != NULL && tracepoint_stub_at(g->at[0].of) != 0)
			continue;
		if (g == NULL || g->start - last >= 1U << 28) {
			if (n > 1)
				stubs_reserve(sp->tab, last, n);
			n = 0;
		}
		n += g != NULL ? g->n : 0;
		last = g != NULL ? g->start : last;
	}
}

static void
say_why(const struct group *g, const char *why)
{
	for (size_t i = 0; i < g->n; i++) {
		const struct tracepoint *tp = g->at[i].of;
		struct tp_user *u = tp->user;
		if (!tp->jumps)
			set_why(&u->jump->why, why);
	}
}

/* The code of the i'th of a group, which leads to that of the next one.  0, or a
 * negative errno with *why. */
static int
make_stub(const struct state *st, struct space *sp, const struct group *g,
    size_t i, const char **why)
{
	struct tracepoint *tp = g->at[i].of;
	const struct tp_user *u = tp->user;
	struct stub_body body = { 0 };
	struct window w;

	*why = "its code is not known";
	if (!group_window(g, i, &w))
		return -ENOENT;
	w.taken = u->jump->window.taken;
	w.goroutine = u->jump->window.goroutine;
	w.onto = i + 1 < g->n ? tracepoint_stub_at(g->at[i + 1].of) : 0;
	if (tracepoint_stub_at(tp) == 0)
		fast_body(st, sp, tp->id, &body);
	return tracepoint_stub(sp->tab, tp, fast_world(sp), &body, &w, why);
}

/* All of a group, beginning with the last one. */
static int
make_group(const struct state *st, struct space *sp, struct raising *r,
    const struct group *g)
{
	const char *why = NULL;
	int err = 0;

	for (size_t i = g->n; err == 0 && i-- > 0;)
		err = make_stub(st, sp, g, i, &why);
	say_why(g, err != 0 ? why : NULL);
	if (err == 0)
		*vec_push(&r->ready) = g->at[0].of;
	return err;
}

/* One of them has code already, which leads elsewhere, because the others have come
 * later.  With it, it may still have a jump. */
static void
make_alone(const struct state *st, struct space *sp, struct raising *r,
    const struct group *g)
{
	for (size_t i = 0; i < g->n; i++) {
		const struct group one = group_alone(g, i);
		if (g->at[i].window != NULL)
			make_group(st, sp, r, &one);
	}
}

static void
make_stubs(
    const struct state *st, struct space *sp, struct raising *r, bool stopped)
{
	vec_foreach(c, &r->list) {
		if (c->busy) {
			say_why(&c->group,
			    "a thread was within the bytes to be replaced");
			continue;
		}
		if (make_group(st, sp, r, &c->group) == -EINVAL && stopped &&
		    !c->own && c->group.n > 1)
			make_alone(st, sp, r, &c->group);
	}
}

/* Write the jumps.  Returns how many could not be written because of a
 * thread. */
static size_t
raise_all(const struct state *st, struct space *sp, struct raising *r)
{
	size_t busy = 0;

	fault_kill("jumps-begin");
	reserve(sp, r);
	vec_foreach(c, &r->list)
		busy += c->busy;
	make_stubs(st, sp, r, true);
	if (stubs_flush(sp->tab) != 0)
		return 0;
	tracepoints_jump(sp->tab, r->ready.at, r->ready.len);
	vec_foreach(tp, &r->ready) {
		struct tp_user *u = (*tp)->user;
		if (!(*tp)->jumps)
			set_why(&u->jump->why, "another probe is too close");
	}
	return busy;
}

/* For fewer stubs than this an additional stop takes longer than it saves. */
#define MANY 64

void
jumps_prepare(struct state *st, struct space *sp)
{
	struct raising r = { 0 };

	if (!fast_is_on(st) || is_early(st, sp) || !fast_map(st, sp))
		return;
	decide(st, sp);
	collect(sp, &r, false);
	/* Without the area the stubs cannot be listed yet. */
	if (r.list.len >= MANY && trapset_area(tptable_traps(sp->tab)) != 0) {
		space_stop(sp);
		reserve(sp, &r);
		space_resume(sp);
		make_stubs(st, sp, &r, false);
		stubs_flush(sp->tab);
	}
	raising_end(&r);
}

void
jumps_commit(struct state *st, struct space *sp)
{
	struct raising r = { 0 };

	if (fast_is_on(st) && is_early(st, sp))
		return;
	if (!fast_space(st, sp)) {
		if (fast_is_on(st))
			tracepoint_lower_all(sp->tab, 0, UINT64_MAX);
		return;
	}
	collect(sp, &r, true);
	if (r.list.len > 0)
		raising_look(&r, sp);
	struct tries *t = tries_of(sp);
	bool was = t->wanted;
	t->wanted = r.failed;
	if (r.list.len > 0 && !r.failed)
		t->wanted = raise_all(st, sp, &r) > 0;
	t->waiting = was && t->wanted && r.ready.len == 0 ?
	    MIN(2 * t->waiting, AGAIN_MOST) :
	    1;
	t->in = t->waiting;
	LOG("jumps", "%d: %zu wanted%s", (int)sp->procs.at[0]->pid, r.list.len,
	    r.failed ? ", not now" : "");
	raising_end(&r);
}

void
jumps_forked(struct state *st, struct space *sp)
{
	if (!fast_is_on(st))
		return;
	space_stop(sp);
	tracepoint_lower_all(sp->tab, 0, UINT64_MAX);
	space_resume(sp);
}

static void
on_again(struct state *st, void *arg, uint64_t late)
{
	struct proc *p = NULL;

	while ((p = super_next(st->super, p)) != NULL) {
		struct space *sp = p->space;
		struct tries *t = part_had(&sp->parts, &tries_part);
		if (t == NULL || !t->wanted || sp->tab == NULL ||
		    (t->in > 0 && --t->in > 0))
			continue;
		t->soon = false;
		jumps_prepare(st, sp);
		space_stop(sp);
		jumps_commit(st, sp);
		space_resume(sp);
		perfmap_write(st, sp);
	}
}

void
jumps_start(struct state *st, const struct region *image,
    const struct store_sizes *whole)
{
	fast_start(st, image, whole);
	if (fast_is_on(st) && !fast_is_auto(st))
		begin_again(st);
}

/* ---- the report ---- */

void
jumps_account(struct state *st, struct space *sp)
{
	struct tracepoint *tp = NULL;

	while (fast_is_on(st) && (tp = tracepoint_next(sp->tab, tp)) != NULL) {
		const struct tp_user *u = tp->user;
		if (!has_sites(tp) || tp->state != TP_TRAP)
			continue;
		if (tp->jumps)
			fast_note(st, NULL, u->trapped);
		else if (is_early(st, sp))
			fast_note(
			    st, "its process has had few hits", u->trapped);
		else if (u->jump == NULL || fast_why(sp) != NULL)
			fast_note(st, fast_why(sp), u->trapped);
		else
			fast_note(st,
			    u->jump->why != NULL ? u->jump->why :
						   "a signal arrived in it",
			    u->trapped);
	}
}
