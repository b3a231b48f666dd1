/*
 * tracer/drive/follow: which children keep their probes, which are let go, and in
 * which state.  What is done to them is a double that is noted, so the file itself
 * is read in below.
 */
#include <check.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/fault.h"
#include "dlang/base/str.h"
#include "inject/tracepoint.h"
#include "symbols/addrspace.h"
#include "t/unit/suite.h"
#include "tracer/base/state.h"
#include "tracer/drive/targets.h"
#include "tracer/prov/plock/plock.h"
#include "tracer/ptrace/setid.h"
#include "tracer/ptrace/super.h"
#include "tracer/sites/sigwatch.h"
#include "tracer/sites/site.h"
#include "tracer/survive/leftover.h"

static struct str done; /* what was done to the child, word by word */
static struct str said;
static bool withheld, elf32, found, queued;
static struct addrspace *const copied = (struct addrspace *)&done;

static void
note(const char *word)
{
	if (done.len > 0)
		str_addc(&done, ' ');
	str_add(&done, word);
}

static void PRINTF_LIKE(2, 3) say(struct state *st, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_vprintf(&said, fmt, ap);
	va_end(ap);
}

static int
double_find(pid_t pid, bool (*stop)(void), struct leftover **left, char *why,
    size_t size)
{
	*left = found ? (struct leftover *)&done : NULL;
	return 0;
}

static int
double_mend(struct leftover *left, struct space *sp)
{
	note("mend");
	return 0;
}

static void
double_fork_table(struct state *st, struct space *from, struct space *sp)
{
	note("table");
	sp->tab = from->tab;
}

static void
double_fork_objects(const struct space *from, struct proc *child)
{
	note("objects");
	child->space->as = copied;
}

#define state_notice              say
#define space_stop(sp)            ((void)(sp), note("stop"))
#define space_resume(sp)          note("resume")
#define proc_refresh(p)           ((void)0)
#define sigtrap_save(th)          note("save")
#define leftover_find             double_find
#define leftover_mend             double_mend
#define leftover_release(left, p) note("release")
#define targets_fork_table        double_fork_table
#define targets_set_up(st, p)     note("setup")
#define targets_let_go(st, p)     note("go")
#define sites_fork(from, sp)      note("sites")
#define plock_fork(from, sp)      note("locks")
#define targets_fork_objects      double_fork_objects
#define loads_matched_in(as)      note("matched")
#define sigwatch_fork(from, sp)   note("watch")
#define sites_commit(st, sp)      note("commit")
#define tptable_queued(tab)       queued
#define setid_withheld(p)         withheld
#define procfs_wrong_elf(pid)     elf32
#include "tracer/drive/follow.c"

static struct state st;
static struct space from, to;
static struct proc parent, child;
static struct thread maker, made;

static void
setup(void)
{
	st = (struct state){ .follow = true };
	from = (struct space){ .tab = (struct tptable *)&from,
		.info = (struct space_info *)&from,
		.mem_fd = 5 };
	to = (struct space){ .mem_fd = 6 };
	parent = (struct proc){ .pid = 10, .role.family = 10, .space = &from };
	parent.role.followed = parent.role.named = true;
	child = (struct proc){ .pid = 11, .space = &to };
	maker = (struct thread){ .proc = &parent };
	made = (struct thread){ .proc = &child };
	withheld = elf32 = found = queued = false;
	str_clear(&done);
	str_clear(&said);
}

static void
teardown(void)
{
	str_fini(&done);
	str_fini(&said);
}

static void
born(const char *want)
{
	follow_born(&st, &maker, &made);
	ck_assert_str_eq(str_c(&done), want);
	str_clear(&done);
}

START_TEST(a_fork_has_all_that_its_parent_has)
{
	born("table sites locks objects matched watch");
	ck_assert(child.role.followed);
	ck_assert_int_eq(child.role.family, 10);
	ck_assert_ptr_eq(to.as, copied);
	/* What was queued in the copy is carried out. */
	queued = true;
	born("table sites locks objects matched watch commit");
}
END_TEST

START_TEST(a_parent_without_tracepoints_leaves_none)
{
	from.tab = NULL;
	born("");
	ck_assert(child.role.followed);
}
END_TEST

/* It was made before the last change of its parent's text. */
START_TEST(an_old_copy_begins_anew)
{
	from.changes = 2;
	child.maker_changes = 1;
	child.handler.state = HANDLER_IN;
	born("stop resume setup");
	ck_assert(!proc_guarded(&child));
	found = true;
	born("stop mend release resume setup");
	child.maker_changes = 2;
	born("table sites locks objects matched watch");
	/* Its parent is not set up itself. */
	from.info = NULL;
	born("stop mend release resume setup");
}
END_TEST

START_TEST(who_is_not_wanted_goes)
{
	st.follow = false;
	born("table go");
	ck_assert_int_eq(child.role.family, 10);
	/* With a table of its own already; with nothing to be undone. */
	born("go");
	to.tab = NULL;
	from.tab = NULL;
	born("go");
	/* An old copy is cleaned by the list in it. */
	from.tab = (struct tptable *)&from;
	from.changes = 1;
	found = true;
	born("stop mend release resume go");
	/* At the end, and those of nobody's family. */
	from.changes = 0;
	st.follow = st.draining = true;
	born("table go");
	st.draining = false;
	to.tab = NULL;
	parent.role.family = 0;
	born("table go");
}
END_TEST

START_TEST(threads_and_shared_memory_are_left_alone)
{
	made.proc = &parent;
	born("");
	made.proc = &child;
	child.space = &from;
	child.role.followed = false;
	born("");
	ck_assert_int_eq(child.role.family, 10);
	ck_assert(child.role.followed);
}
END_TEST

START_TEST(an_exec_is_followed)
{
	child.role.family = 10;
	ck_assert(follow_executed(&st, &child));
	ck_assert(child.role.followed);
	/* The target itself is no child. */
	ck_assert(follow_executed(&st, &parent));
	ck_assert(!parent.role.followed);
	/* It is wanted whether children are or not. */
	st.follow = false;
	ck_assert(follow_executed(&st, &parent));
	ck_assert(!follow_executed(&st, &child));
	ck_assert_str_eq(str_c(&said), "");
}
END_TEST

START_TEST(what_cannot_be_looked_at_is_told)
{
	child.role.family = 10;
	to.mem_fd = -1;
	ck_assert(!follow_executed(&st, &child));
	ck_assert_str_eq(
	    str_c(&said), "pid 11 exec'd a set-id or unobservable program");
	str_clear(&said);
	to.mem_fd = 0;
	withheld = true;
	ck_assert(!follow_executed(&st, &child));
	ck_assert_str_eq(
	    str_c(&said), "pid 11 exec'd a set-id or unobservable program");
	str_clear(&said);
	withheld = false;
	elf32 = true;
	ck_assert(!follow_executed(&st, &child));
	ck_assert_str_eq(str_c(&said),
	    "pid 11 executed a 32-bit program, which cannot be traced: "
	    "detached from it");
	str_clear(&said);
	/* Of one that nobody wants nothing is said. */
	child.role.family = 0;
	ck_assert(!follow_executed(&st, &child));
	ck_assert_str_eq(str_c(&said), "");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_fork_has_all_that_its_parent_has,
		a_parent_without_tracepoints_leaves_none,
		an_old_copy_begins_anew,
		who_is_not_wanted_goes,
		threads_and_shared_memory_are_left_alone,
		an_exec_is_followed,
		what_cannot_be_looked_at_is_told,
	};

	return suite_run("follow", setup, teardown, tests, ARRAY_SIZE(tests));
}
