/*
 * tracer/drive/ targets_space and past: what is known of an address space, what is
 * done when its objects change, and in which order everything is undone before a
 * process is detached.  All that they call is a double that notes the call, so the
 * files themselves are included below.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "dlang/base/str.h"
#include "inject/tracepoint.h"
#include "inject/trapset.h"
#include "symbols/linkmap.h"
#include "t/unit/suite.h"
#include "tracer/base/state.h"
#include "tracer/drive/awaited.h"
#include "tracer/drive/filter.h"
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

#define PID 100
#define BRK UINT64_C(0x1000)

static struct str calls; /* their names, a space after each */
static struct state session;
static struct proc procs[2];
static struct thread threads[2]; /* of the first process */
static struct space space;

static void
call(const char *name)
{
	str_add(&calls, name);
	str_addc(&calls, ' ');
}

static void
expect(const char *want)
{
	ck_assert_str_eq(str_c(&calls), want);
	str_clear(&calls);
}

/* ---- the table of tracepoints ---- */

static struct tptable *const table = (struct tptable *)&space;
static struct tptable *const copied = (struct tptable *)&session;
static struct trapset *const traps = (struct trapset *)&procs;
static struct tracepoint tracepoint;
static const struct arrival *told; /* the hooks at the last marker */
static uint64_t marked_at;
static bool no_marker;

static struct tracepoint *
double_mark(uint64_t addr, const char **why)
{
	call("marker");
	marked_at = addr;
	tracepoint = (struct tracepoint){ 0 };
	*why = "no";
	return no_marker ? NULL : &tracepoint;
}

static void
double_tell(const struct tracepoint *tp, const struct arrival *a)
{
	ck_assert_ptr_eq(tp, &tracepoint);
	told = a;
}

static uint64_t area_at;
static bool leads; /* a frame leads to the handler */
static unsigned changed_by_others;
static bool lanes_unused = true;

/* ---- objects ---- */

static unsigned char space_of[1100];
static unsigned puts_, n_spaces;
static int refreshed;
static struct load loads[2];
static void (*load_changed)(void *ctx, struct load *l);

static struct addrspace *
double_create(const struct reader *mem)
{
	ck_assert_ptr_eq(mem, &space.mem);
	return (struct addrspace *)&space_of[n_spaces++];
}

static int
double_refresh(void (*changed)(void *, struct load *), void *ctx)
{
	call("refresh");
	load_changed = changed;
	if (changed != NULL)
		for (int i = 0; i < refreshed; i++)
			changed(ctx, &loads[i]);
	return refreshed;
}

static int link_error;
static uint64_t link_at; /* the struct; 0: not yet */
static unsigned searches;
static int state_error;
static enum linkmap_state link_state;

static int
double_find(struct linkmap *lm)
{
	searches++;
	if (link_error == 0) {
		lm->brk_addr = BRK;
		lm->r_debug = link_at;
	}
	return link_error;
}

static int
double_link_state(enum linkmap_state *state)
{
	*state = link_state;
	return state_error;
}

static const struct super_hooks *hooks_set;
static void (*prepares)(void *, struct proc *);
static bool withheld;

static void
double_detach(struct proc *p, void (*prepare)(void *, struct proc *), void *ctx)
{
	ck_assert_ptr_eq(ctx, &session);
	call("detach");
	prepares = prepare;
}

static void
double_filter_release(void *ctx, struct proc *p)
{
	call("filter");
}

#define site_tracepoint(st, sp, addr, why)  double_mark(addr, why)
#define site_tell(tp, a)                    double_tell(tp, a)
#define tptable_create(target)              (call("table"), table)
#define tptable_fork(tab, target)           (call("copy"), copied)
#define tptable_destroy(tab)                call("no-table")
#define tptable_traps(tab)                  traps
#define tptable_release_slots(tab)          call("no-slots")
#define trapset_area(ts)                    area_at
#define trapset_mended(ts)                  call("mended")
#define trapset_nested(ts)                  area_at
#define trapset_release(ts)                 ((void)(ts), call("no-area"))
#define tracepoint_restore_boards(tab)      call("boards")
#define tracepoint_restore_all(tab)         (call("restore"), changed_by_others)
#define proc_leave_code(p)                  call("leave")
#define stubs_silence(tab)                  call("silence")
#define addrspace_create(pid, mem)          double_create(mem)
#define addrspace_refresh(as, changed, ctx) double_refresh(changed, ctx)
#define addrspace_detach(as)                call("detach-space")
#define addrspace_pid(as)                   ((pid_t)((unsigned char *)(as)-space_of) / 2)
#define addrspace_put(as)                   puts_++
#define load_forget_match(l)                call("forget-match")
#define linkmap_find(as, mem, lm)           double_find(lm)
#define linkmap_state(lm, mem, state)       double_link_state(state)
#define sigtrap_list(th)                    call("list")
#define sigtrap_end(th)                     call("mask")
#define thread_settle(th)                   call("settle")
#define semaphores_fork(from, sp)           call("sems")
#define semaphores_drop(sp)                 call("no-sems")
#define semaphores_forget(sp, start, end)   call("forget-sems")
#define semaphores_lower(sp)                call("lower")
#define protect_fork(st, sp, at)            call("protect")
#define leftover_drop(sp)                   call("no-leftover")
#define leftover_release(l, p)              call("leftover")
#define leftover_leads_to(sp, pid, at)      ((at) != 0 && leads)
#define guardian_drop(sp)                   call("no-guardian")
#define jumps_account(st, sp)               call("account")
#define fast_space_ends(st, sp)             call("no-fast")
#define fast_release(st, p)                 (call("lanes"), lanes_unused)
#define sigwatch_end(sp)                    call("no-watch")
#define sigwatch_loads(st, sp)              call("watch")
#define sites_drop(st, sp)                  call("no-sites")
#define sites_unmap(st, sp, start, end)     ((void)(st), call("unmap"))
#define sites_commit(st, sp)                call("commit")
#define places_space_end(st, as)            call("no-places")
#define places_unloaded(st, l)              call("unloaded")
#define stack_flush(sp)                     call("flush")
#define enable_again(st)                    call("enable")
#define trapguard_end(p)                    call("handler")
#define super_set_hooks(su, hooks, ctx)     (hooks_set = (hooks))
#define setid_withheld(p)                   withheld
#define setid_again(th)                     call("again")
#define proc_detach(p, prepare, ctx)        double_detach(p, prepare, ctx)
#define filter_release                      double_filter_release
#include "tracer/drive/past.c"
#include "tracer/drive/targets_space.c"

static void
setup(void)
{
	for (int i = 0; i < 2; i++) {
		procs[i].pid = PID + i;
		procs[i].space = &space;
		threads[i].proc = &procs[0];
		threads[i].stop.state = TH_STOPPED;
		*vec_push(&procs[0].threads) = &threads[i];
	}
	*vec_push(&space.procs) = &procs[0];
	link_at = 0x2000;
}

static void
teardown(void)
{
	vec_fini(&procs[0].threads);
	vec_fini(&space.procs);
	parts_end(&session.parts);
	mem_free(space.info);
	str_fini(&calls);
}

static void
begins(void)
{
	targets_space_begin(&session, &procs[0]);
	str_clear(&calls);
}

/* ---- beginning ---- */

START_TEST(a_new_space_has_a_marker_at_the_linker)
{
	targets_space_begin(&session, &procs[0]);
	expect("table refresh marker ");
	ck_assert_uint_eq(marked_at, BRK);
	ck_assert_ptr_eq(told, &at_linkmap);
	/* Calls in new objects are watched before it is gone. */
	ck_assert(tracepoint.late);
	ck_assert(space.info->have_lm);
	ck_assert_ptr_eq(space.info->st, &session);
}
END_TEST

START_TEST(the_table_of_a_leftover_is_kept)
{
	space.tab = table;
	targets_space_begin(&session, &procs[0]);
	expect("refresh marker ");
}
END_TEST

START_TEST(a_static_program_has_no_linker)
{
	link_error = -ENOENT;
	targets_space_begin(&session, &procs[0]);
	expect("table refresh ");
	ck_assert(!space.info->have_lm);
}
END_TEST

START_TEST(other_marks_are_not_late)
{
	begins();
	targets_mark(&session, &space, 0x3000, false);
	ck_assert_uint_eq(marked_at, 0x3000);
	ck_assert_ptr_eq(told, &at_mark);
	ck_assert(!tracepoint.late);
	told = NULL;
	no_marker = true;
	targets_mark(&session, &space, 0x3000, false);
	ck_assert_ptr_null(told);
}
END_TEST

START_TEST(a_set_up_space_is_enabled_and_committed)
{
	targets_set_up(&session, &procs[0]);
	expect("table refresh marker commit ");
	mem_free(space.info);
	session.matching = true;
	targets_set_up(&session, &procs[0]);
	expect("refresh marker enable commit ");
}
END_TEST

START_TEST(a_child_gets_copies)
{
	struct space child = { .parted = false };

	begins();
	*vec_push(&child.procs) = &procs[0];
	targets_fork_table(&session, &space, &child);
	expect("copy list list sems ");
	ck_assert_ptr_eq(child.tab, copied);
	ck_assert_ptr_ne(child.info, space.info);
	ck_assert_uint_eq(child.info->lm.brk_addr, BRK);
	mem_free(child.info);
	area_at = 0x7000;
	targets_fork_table(&session, &space, &child);
	expect("copy list list sems protect ");
	mem_free(child.info);
	vec_fini(&child.procs);
}
END_TEST

/* ---- objects that change ---- */

static bool
hits(const struct arrival *a)
{
	return a->keeps(&session, &threads[0], &tracepoint);
}

START_TEST(new_objects_are_matched)
{
	begins();
	refreshed = 1;
	ck_assert(!hits(&at_linkmap));
	expect("refresh unmap forget-sems forget-match unloaded flush commit ");
	session.matching = true;
	space.watch = (struct sigwatch *)&calls;
	loads[0].seen = true; /* it is still there, or is new */
	ck_assert(!hits(&at_linkmap));
	expect("refresh flush watch enable ");
	/* Nothing has changed. */
	refreshed = 0;
	ck_assert(!hits(&at_linkmap));
	expect("refresh ");
}
END_TEST

/* The linker's list is not consistent before. */
START_TEST(while_the_linker_works_nothing_is_read)
{
	begins();
	refreshed = 1;
	link_state = LINKMAP_ADD;
	ck_assert(!hits(&at_linkmap));
	link_state = LINKMAP_DELETE;
	ck_assert(!hits(&at_linkmap));
	expect("");
	/* If it cannot be read, the maps tell. */
	state_error = -EAGAIN;
	ck_assert(!hits(&at_linkmap));
	ck_assert_uint_gt(calls.len, 0);
}
END_TEST

START_TEST(the_linkers_struct_is_searched_until_it_is_found)
{
	link_at = 0;
	begins();
	ck_assert_uint_eq(searches, 1);
	hits(&at_linkmap);
	ck_assert_uint_eq(searches, 2);
	link_at = 0x2000;
	hits(&at_linkmap);
	hits(&at_linkmap);
	ck_assert_uint_eq(searches, 3);
	ck_assert_uint_eq(space.info->lm.r_debug, 0x2000);
}
END_TEST

START_TEST(a_space_without_data_is_left_alone)
{
	ck_assert(!hits(&at_linkmap));
	expect("");
}
END_TEST

START_TEST(the_awaited_process_stays_at_its_marker)
{
	begins();
	awaited_begin(&session, &procs[0], true);
	ck_assert(!hits(&at_linkmap)); /* that is not its marker */
	ck_assert(hits(&at_mark));
	ck_assert(!hits(&at_mark)); /* it has come */
	awaited_begin(&session, &procs[0], false);
	ck_assert(!hits(&at_mark));
	link_state = LINKMAP_ADD;
	ck_assert(!hits(&at_linkmap));
	link_state = LINKMAP_CONSISTENT;
	ck_assert(hits(&at_linkmap));
	awaited_begin(&session, &procs[1], true);
	ck_assert(!hits(&at_mark));
	awaited_came(&session);
}
END_TEST

/* ---- the end of a space ---- */

START_TEST(a_space_ends)
{
	begins();
	targets_init(&session);
	ck_assert_ptr_eq(hooks_set->space_end, space_end);
	ck_assert_ptr_eq(hooks_set->trap_lost, trapguard_lost);
	ck_assert_ptr_eq(hooks_set->trap_check, sigwatch_check);
	ck_assert_ptr_eq(hooks_set->trap_delivers, trapguard_delivers);
	ck_assert_ptr_eq(hooks_set->call_made, syscalls_made);
	hooks_set->space_end(&session, &space);
	/* Sites before the table that they are in; places before the space. */
	expect("no-leftover no-guardian account no-fast no-watch no-sems "
	       "no-sites no-table no-places detach-space ");
	ck_assert_ptr_null(space.tab);
	ck_assert_ptr_null(space.as);
	ck_assert_ptr_null(space.info);
	/* Addresses in records still have names. */
	ck_assert_ptr_eq(past_of(&session, 0), &space_of[0]);
	ck_assert_uint_eq(puts_, 0);
}
END_TEST

START_TEST(a_space_that_was_never_set_up_ends)
{
	space.tab = table;
	space_end(&session, &space);
	expect("no-leftover no-guardian no-table ");
	ck_assert_ptr_null(space.tab);
}
END_TEST

START_TEST(the_last_spaces_are_kept)
{
	/* Two of each process; the later one counts. */
	for (unsigned i = 0; i < 1024; i++)
		past_add(&session, (struct addrspace *)&space_of[i]);
	ck_assert_uint_eq(puts_, 0);
	ck_assert_ptr_eq(past_of(&session, 3), &space_of[7]);
	ck_assert_ptr_eq(past_of(&session, 0), &space_of[1]);
	past_add(&session, (struct addrspace *)&space_of[1024]);
	past_add(&session, (struct addrspace *)&space_of[1025]);
	ck_assert_uint_eq(puts_, 2); /* the first ones */
	ck_assert_ptr_null(past_of(&session, 0));
	ck_assert_ptr_eq(past_of(&session, 1), &space_of[3]);
	ck_assert_ptr_eq(past_of(&session, 512), &space_of[1025]);
	ck_assert_ptr_null(past_of(&session, 600));
	parts_end(&session.parts);
	session.parts = (struct parts){ 0 };
	ck_assert_uint_eq(puts_, 1026);
	ck_assert_ptr_null(past_of(&session, 1));
}
END_TEST

/* ---- letting go ---- */

static void
cleans(void)
{
	str_clear(&calls);
	targets_clean(&session, &procs[0]);
}

/* The guardian watches until the text is restored; the handler goes when no int3
 * is left, and its memory when it is not installed. */
START_TEST(everything_is_undone_in_order)
{
	begins();
	cleans();
	expect(
	    "leave account restore boards lower mended no-guardian settle mask settle mask "
	    "handler lanes no-slots no-area ");
}
END_TEST

/* The next tracer looks at the list then. */
START_TEST(places_that_somebody_else_changed_are_not_mended)
{
	begins();
	changed_by_others = 1;
	cleans();
	ck_assert_ptr_null(strstr(str_c(&calls), "mended"));
	ck_assert_ptr_nonnull(strstr(str_c(&calls), "lower no-guardian"));
}
END_TEST

START_TEST(slots_in_use_stay_mapped)
{
	begins();
	lanes_unused = false;
	cleans();
	ck_assert_ptr_null(strstr(str_c(&calls), "no-slots"));
	/* Nobody answers a trap of that code. */
	ck_assert_ptr_nonnull(strstr(str_c(&calls), "lanes silence no-area "));
	/* Another process is still traced there. */
	*vec_push(&space.procs) = &procs[1];
	cleans();
	ck_assert_ptr_null(strstr(str_c(&calls), "silence"));
	ck_assert_ptr_null(strstr(str_c(&calls), "no-slots"));
}
END_TEST

static bool
unmaps_area(void)
{
	cleans();
	return strstr(str_c(&calls), "no-area ") != NULL;
}

START_TEST(the_area_stays_while_a_handler_is_in_it)
{
	begins();
	procs[0].handler.state = HANDLER_IN;
	ck_assert(!unmaps_area());
	procs[0].handler.state = HANDLER_LOST;
	ck_assert(!unmaps_area());
	/* Nobody runs there any more. */
	threads[0].stop.state = TH_GONE;
	threads[1].stop.life = LIFE_ENDS;
	ck_assert(unmaps_area());
	threads[1].stop.life = LIFE_RUNS;
	threads[1].stop.kind = EV_EXEC; /* it has other memory */
	ck_assert(unmaps_area());
	threads[1].stop.kind = EV_STOP;
	ck_assert(!unmaps_area());
	procs[0].handler.state = HANDLER_ABSENT;
	ck_assert(unmaps_area());
	area_at = 0x7000;
	ck_assert(unmaps_area());
	leads = true;
	ck_assert(!unmaps_area());
	space.procs.len = 0;
	ck_assert(unmaps_area());
}
END_TEST

static bool
releases_leftover(void)
{
	str_clear(&calls);
	targets_release_leftover(&procs[0]);
	return calls.len > 0;
}

START_TEST(a_leftover_is_released_by_its_only_user)
{
	ck_assert(!releases_leftover());
	space.leftover = (struct leftover *)&calls;
	ck_assert(releases_leftover());
	space.parted = true; /* another process uses the memory untraced */
	ck_assert(!releases_leftover());
	space.parted = false;
	*vec_push(&space.procs) = &procs[1];
	ck_assert(!releases_leftover());
	space.procs.len = 1;
	begins();
	cleans();
	ck_assert_ptr_nonnull(strstr(str_c(&calls), "leftover "));
}
END_TEST

START_TEST(without_a_table_nothing_was_changed)
{
	cleans();
	expect("");
}
END_TEST

START_TEST(a_process_is_let_go)
{
	targets_let_go(&session, &procs[0]);
	expect("detach ");
	ck_assert_ptr_eq(prepares, targets_clean);
	procs[0].filtered = true;
	targets_let_go(&session, &procs[0]);
	ck_assert_ptr_eq(prepares, double_filter_release);
}
END_TEST

/* The kernel withheld its rights, because it was traced. */
START_TEST(a_program_with_rights_is_executed_again)
{
	threads[0].stop.kind = EV_EXEC;
	procs[0].threads.len = 1;
	targets_let_go(&session, &procs[0]);
	expect("detach ");
	withheld = true;
	targets_let_go(&session, &procs[0]);
	expect("again detach ");
	threads[0].stop.kind = EV_STOP; /* it has begun to run */
	targets_let_go(&session, &procs[0]);
	threads[0].stop.kind = EV_EXEC;
	threads[0].stop.state = TH_RUNNING;
	targets_let_go(&session, &procs[0]);
	threads[0].stop.state = TH_STOPPED;
	procs[0].threads.len = 2;
	targets_let_go(&session, &procs[0]);
	expect("detach detach detach ");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_new_space_has_a_marker_at_the_linker,
		the_table_of_a_leftover_is_kept,
		a_static_program_has_no_linker,
		other_marks_are_not_late,
		a_set_up_space_is_enabled_and_committed,
		a_child_gets_copies,
		new_objects_are_matched,
		while_the_linker_works_nothing_is_read,
		the_linkers_struct_is_searched_until_it_is_found,
		a_space_without_data_is_left_alone,
		the_awaited_process_stays_at_its_marker,
		a_space_ends,
		a_space_that_was_never_set_up_ends,
		the_last_spaces_are_kept,
		everything_is_undone_in_order,
		places_that_somebody_else_changed_are_not_mended,
		slots_in_use_stay_mapped,
		the_area_stays_while_a_handler_is_in_it,
		a_leftover_is_released_by_its_only_user,
		without_a_table_nothing_was_changed,
		a_process_is_let_go,
		a_program_with_rights_is_executed_again,
	};

	return suite_run(
	    "targets_space", setup, teardown, tests, ARRAY_SIZE(tests));
}
