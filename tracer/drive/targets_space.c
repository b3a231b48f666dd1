/*
 * The tracer's data in an address space: tracepoints, objects, and the marker
 * at the run-time linker's notification function; and removing all that.
 *
 * Objects that a target maps later are noticed at that marker: the run-time
 * linker calls an empty function before and after each change of its list
 * (struct r_debug in <link.h>), and dtrap keeps a tracepoint on it.
 */

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "inject/tracepoint.h"
#include "inject/trapset.h"
#include "symbols/linkmap.h"
#include "tracer/base/state.h"
#include "tracer/drive/filter.h"
#include "tracer/drive/awaited.h"
#include "tracer/drive/past.h"
#include "tracer/drive/targets.h"
#include "tracer/drive/targets_impl.h"
#include "tracer/fast/fast.h"
#include "tracer/fire/stack.h"
#include "tracer/fire/syscalls.h"
#include "tracer/program/enable.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/setid.h"
#include "tracer/sites/jumps.h"
#include "tracer/sites/places.h"
#include "tracer/sites/protect.h"
#include "tracer/sites/sigwatch.h"
#include "tracer/sites/site.h"
#include "tracer/survive/guardian.h"
#include "tracer/survive/leftover.h"
#include "tracer/survive/semaphore.h"
#include "tracer/survive/trapguard.h"

static const struct arrival at_linkmap, at_mark;

void
targets_mark(struct state *st, struct space *sp, uint64_t addr, bool linkmap)
{
	const char *why = NULL;
	struct tracepoint *tp = site_tracepoint(st, sp, addr, &why);

	if (tp == NULL) {
		LOG("targets", "no marker at %#lx: %s", addr, why);
		return;
	}
	site_tell(tp, linkmap ? &at_linkmap : &at_mark);
	/* New objects may contain calls that sigwatch.c must watch. */
	tp->late |= linkmap;
}

void
targets_space_begin(struct state *st, struct proc *p)
{
	struct space *sp = p->space;
	struct space_info *info = mem_zalloc(sizeof(*info));

	info->st = st;
	sp->info = info;
	if (sp->tab == NULL) /* leftover.c needs it earlier */
		sp->tab = tptable_create(&sp->target);
	sp->as = addrspace_create(p->pid, &sp->mem);
	addrspace_refresh(sp->as, NULL, NULL);
	info->have_lm = linkmap_find(sp->as, &sp->mem, &info->lm) == 0 &&
	    info->lm.brk_addr != 0;
	if (info->have_lm)
		targets_mark(st, sp, info->lm.brk_addr, true);
}

void
targets_fork_table(struct state *st, struct space *from, struct space *sp)
{
	struct space_info *info = mem_zalloc(sizeof(*info));

	*info = *from->info;
	sp->info = info;
	sp->tab = tptable_fork(from->tab, &sp->target);
	vec_foreach(p, &sp->procs)
		vec_foreach(th, &(*p)->threads)
			sigtrap_list(*th);
	semaphores_fork(from, sp);
	uint64_t area = trapset_area(tptable_traps(sp->tab));
	if (area != 0)
		protect_fork(st, sp, area);
}

void
targets_fork_objects(const struct space *from, struct proc *child)
{
	struct space *sp = child->space;

	sp->as = addrspace_fork(from->as, child->pid, &sp->mem);
}

/* The space ends, by exec, exit or detach. */
static void
space_end(void *ctx, struct space *sp)
{
	struct space_info *info = sp->info;

	leftover_drop(sp);
	guardian_drop(sp);
	if (info == NULL) {
		tptable_destroy(sp->tab);
		sp->tab = NULL;
		return;
	}
	jumps_account(ctx, sp);
	fast_space_ends(ctx, sp);
	sigwatch_end(sp);
	semaphores_drop(sp);
	sites_drop(ctx, sp);
	tptable_destroy(sp->tab);
	sp->tab = NULL;
	if (sp->as != NULL) {
		places_space_end(ctx, sp->as);
		/* Keep it, to name addresses in records. */
		addrspace_detach(sp->as);
		past_add(ctx, sp->as);
		sp->as = NULL;
	}
	mem_free(info);
	sp->info = NULL;
}

void
targets_init(struct state *st)
{
	static const struct super_hooks hooks = {
		.space_end = space_end,
		.trap_lost = trapguard_lost,
		.trap_check = sigwatch_check,
		.trap_delivers = trapguard_delivers,
		.call_made = syscalls_made,
	};

	super_set_hooks(st->super, &hooks, st);
}

/* One object was mapped or unmapped. */
static void
object_changed(void *ctx, struct load *l)
{
	struct space *sp = ctx;
	struct space_info *info = sp->info;

	if (l->seen)
		return;
	sites_unmap(info->st, sp, l->start, l->end);
	semaphores_forget(sp, l->start, l->end);
	load_forget_match(l);
	places_unloaded(info->st, l);
}

/* The objects of a space have changed: read them again, and arm the probes that
 * match. */
static void
objects_changed(struct state *st, struct space *sp)
{
	int n = addrspace_refresh(sp->as, object_changed, sp);

	LOG("targets", "objects of %d changed: %d", addrspace_pid(sp->as), n);
	if (n <= 0)
		return;
	stack_flush(sp);
	if (sp->watch != NULL)
		sigwatch_loads(st, sp);
	if (st->matching)
		enable_again(st);
	else
		sites_commit(st, sp);
}

void
targets_set_up(struct state *st, struct proc *p)
{
	targets_space_begin(st, p);
	if (st->matching)
		enable_again(st);
	sites_commit(st, p->space);
}

/* ---- at a marker ---- */

/* Has a launched process reached the point where it is awaited?  Then it is not
 * awaited any more. */
static bool
has_come(struct state *st, const struct proc *p, bool mark)
{
	struct awaited a = awaited_now(st);

	if (a.proc != p || (a.state == AWAITED_AT_MARK) != mark)
		return false;
	awaited_came(st);
	return true;
}

static bool
come_to_mark(struct state *st, struct thread *th, struct tracepoint *tp)
{
	return has_come(st, th->proc, true);
}

static bool
come_to_linkmap(struct state *st, struct thread *th, struct tracepoint *tp)
{
	struct proc *p = th->proc;
	struct space_info *info = p->space->info;
	enum linkmap_state state;

	if (info != NULL) {
		/* If the linker's struct could not be found before the linker
		 * ran (musl has only a pointer to it), it can be found now. */
		if (info->lm.r_debug == 0)
			linkmap_find(p->space->as, &p->space->mem, &info->lm);
		if (linkmap_state(&info->lm, &p->space->mem, &state) == 0 &&
		    state != LINKMAP_CONSISTENT)
			return false;
		objects_changed(st, p->space);
	}
	return has_come(st, p, false);
}

static const struct arrival at_linkmap = { .keeps = come_to_linkmap };
static const struct arrival at_mark = { .keeps = come_to_mark };

/* ---- out of it ---- */

/* Does a thread still execute something in this memory? */
static bool
lives_in(const struct proc *p)
{
	vec_foreach(th, &p->threads)
		if (!thread_gone(*th) && !thread_ends(*th) &&
		    (*th)->stop.kind != EV_EXEC)
			return true;
	return false;
}

/* Unmap the area, if no process has its SIGTRAP handler there. */
static void
release_area(struct space *sp)
{
	struct trapset *ts = tptable_traps(sp->tab);

	vec_foreach(p, &sp->procs)
		if (proc_guarded(*p) && lives_in(*p))
			return;
	if (sp->procs.len > 0 &&
	    leftover_leads_to(sp, sp->procs.at[0]->pid, trapset_nested(ts)))
		LOG("targets", "the area stays: a frame leads to it");
	else
		trapset_release(ts);
}

void
targets_release_leftover(struct proc *p)
{
	struct space *sp = p->space;

	if (sp->leftover != NULL && !sp->parted && sp->procs.len == 1)
		leftover_release(sp->leftover, p);
}

/* Has a thread that is not traced executed an int3?  The handler in the area
 * cannot know better than after dtrap's death. */
void
targets_exits(struct state *st, struct proc *p)
{
	struct space *sp = p->space;

	if (sp->tab == NULL || sp->info == NULL || sp->info->healed_said ||
	    !trapset_healed(tptable_traps(sp->tab)))
		return;
	sp->info->healed_said = true;
	state_message(st,
	    "pid %d: a thread that dtrap cannot trace (CLONE_UNTRACED) has "
	    "reached a breakpoint: all of them were removed, and probes there "
	    "stopped firing",
	    (int)p->pid);
}

static void
targets_clean(void *ctx, struct proc *p)
{
	struct space *sp = p->space;

	if (sp->tab == NULL)
		return;
	proc_leave_code(p);
	jumps_account(ctx, sp);
	targets_exits(ctx, p);
	fault_kill("clean-begin");
	/* Also while other processes share the memory: they are detached one
	 * after another (before the end of the run only a process that shares
	 * its memory with none is detached), and a detached process must not
	 * execute an int3. */
	unsigned left = tracepoint_restore_all(sp->tab);
	if (left != 0)
		LOG("targets", "%d: %u places were changed by somebody else",
		    p->pid, left);
	fault_kill("clean-restored");
	/* A thread that is not traced may be at one. */
	if (!sp->parted)
		tracepoint_restore_boards(sp->tab);
	fault_kill("clean-boards");
	semaphores_lower(sp);
	if (left == 0)
		trapset_mended(tptable_traps(sp->tab));
	guardian_drop(sp);
	/* Masks while the list still says whose are not what they were. */
	vec_foreach(th, &p->threads) {
		thread_settle(*th);
		sigtrap_end(*th);
	}
	trapguard_end(p);
	fault_kill("clean-handler");
	if (fast_release(ctx, p))
		tptable_release_slots(sp->tab);
	else if (sp->procs.len == 1)
		stubs_silence(sp->tab);
	release_area(sp);
	targets_release_leftover(p);
	fault_kill("clean-end");
}

void
targets_let_go(struct state *st, struct proc *p)
{
	struct thread *th = p->threads.len == 1 ? p->threads.at[0] : NULL;

	LOG("targets", "letting %d go", p->pid);
	if (th != NULL && thread_stopped(th) && th->stop.kind == EV_EXEC &&
	    setid_withheld(p))
		setid_again(th);
	proc_detach(p, p->filtered ? filter_release : targets_clean, st);
}
