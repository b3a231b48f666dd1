/*
 * tracer/survive/leftover: which mappings a killed tracer has left, and which of
 * them must stay as long as a thread needs one.  Private functions are tested, so
 * the file itself is included below.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/clock.h"
#include "inject/tracepoint.h"
#include "inject/trapmend.h"
#include "t/unit/suite.h"
#include "tracer/ptrace/super.h"
#include "tracer/survive/guardian.h"

#define FRAME 0x5151 /* stands behind the pc of a signal frame */

static char said[200];

static void
say(const char *text)
{
	ck_assert_uint_lt(strlen(said) + strlen(text) + 1, sizeof(said));
	strcat(strcat(said, text), " ");
}

static void
check_said(const char *want)
{
	ck_assert_str_eq(said, want);
	said[0] = '\0';
}

static struct trap_area left_area; /* the head of each */
static unsigned text_left[2];      /* what two passes leave of the text */
static unsigned jumps_left;
static unsigned naps, naps_until; /* the guardian ends after as many */
static uint64_t clock_ms;

static unsigned
double_text(void)
{
	unsigned n = text_left[0];

	say("text");
	text_left[0] = text_left[1];
	return n;
}

static int
double_status(pid_t pid, struct proc_status *st)
{
	memset(st, 0, sizeof(*st));
	st->state = pid == 43 ? 'Z' : pid == 44 ? 'X' : 'S';
	strcpy(st->comm, pid == 45 ? "sh" : GUARDIAN_NAME);
	return pid == 46 || naps == naps_until ? -ESRCH : 0;
}

static int
double_kill(pid_t pid, int sig)
{
	ck_assert_int_eq(pid, 42);
	say(sig == SIGTERM ? "term" : sig == SIGCONT ? "cont" : "?");
	return 0;
}

#define trapmend_head(fd, at, out)      (*(out) = left_area, true)
#define trapmend_jumps(fd, at, is, ctx) (say("jumps"), jumps_left)
#define trapmend_text(fd, at)           double_text()
#define trapmend_semaphores(fd, at)     say("semaphores")
#define trapmend_done(fd, at)           say("done")
static struct trap_entry listed_board; /* addr 0: there is none */
static bool board_stays;

static void
double_each(enum trap_kind kind,
    bool (*fn)(void *ctx, const struct trap_entry *e), void *ctx)
{
	if (kind != TRAP_BOARD) {
		say("each");
		fn(ctx, &(struct trap_entry){ .addr = 0x77 });
	} else if (listed_board.addr != 0) {
		fn(ctx, &listed_board);
	}
}

static bool
double_board(const struct trap_entry *e)
{
	ck_assert_uint_eq(e->addr, listed_board.addr);
	say("board");
	return !board_stays;
}

#define trapmend_each(fd, at, k, f, ctx) double_each(k, f, ctx)
#define trapmend_board(fd, e, is, ctx)   double_board(e)
#define tptable_create(t)                (say("table"), (struct tptable *)(t))
#define tracepoint_inherit(tab, addr)    say((addr) == 0x77 ? "inherit" : "?")
#define procfs_status(pid, st)           double_status(pid, st)
#define procfs_stat(pid, what, out)      (*(out) = 900, 0)
#define kill(pid, sig)                   double_kill(pid, sig)
#define nanosleep(nap, rest)             ((void)(nap), naps++)
#define clock_coarse_ms()                (clock_ms += 1000)
#define regs_in_frame(word)              ((word)[1] == FRAME)
#define slot_memory_is_marked(mark)      ((mark)[0] == 's')
#include "tracer/survive/leftover.c"

#define LANES "/memfd:" STUB_MEMORY

static struct leftover l;
static struct maps maps;
static struct search s;

static void
setup(void)
{
	memset(&s, 0, sizeof(s));
	l = (struct leftover){ 0 };
	maps = (struct maps){ 0 };
	s.l = &l;
}

static void
teardown(void)
{
	vec_fini(&l.found);
	vec_fini(&l.boards);
	hash_fini(&l.by_board);
	vec_fini(&maps.list);
	listed_board = (struct trap_entry){ 0 };
	board_stays = false;
}

static struct map *
map(uint64_t start, uint64_t pages, bool shared, const char *path)
{
	struct map *m = vec_push(&maps.list);

	*m = (struct map){ .start = start,
		.end = start + pages * PAGE,
		.read = true,
		.write = true,
		.shared = shared,
		.path = (char *)(uintptr_t)path };
	return m;
}

static void
piece(enum piece_kind kind, bool needed)
{
	uint64_t start = 0x1000 * (l.found.len + 1);

	*vec_push(&l.found) = (struct piece){ start, 0x1000, kind, needed };
}

/* Which are needed, a letter for each. */
static const char *
needed(void)
{
	static char text[16];
	size_t n = 0;

	vec_foreach(p, &l.found)
		text[n++] = p->needed ? 'x' : '-';
	text[n] = '\0';
	return text;
}

static void
expect_piece(size_t i, uint64_t start, uint64_t pages)
{
	ck_assert_uint_gt(l.found.len, i);
	ck_assert_uint_eq(l.found.at[i].start, start);
	ck_assert_uint_eq(l.found.at[i].size, pages * PAGE);
	ck_assert_int_eq(l.found.at[i].kind, PIECE_LANES);
	ck_assert(!l.found.at[i].needed);
}

START_TEST(lanes_are_found_with_the_page_before)
{
	map(0x10000, 1, false, "");
	map(0x11000, 2, true, LANES);
	map(0x13000, 3, true, LANES); /* the same memory goes on */
	map(0x20000, 2, false, "");   /* not one page */
	map(0x22000, 1, true, LANES);
	map(0x30000, 1, false, ""); /* not next to it */
	map(0x32000, 1, true, LANES);
	map(0x40000, 1, false, "/a")->inode = 5; /* a file's */
	map(0x41000, 1, true, LANES);
	map(0x50000, 1, false, "");
	map(0x51000, 1, false, LANES); /* not shared */
	map(0x60000, 1, true, "/memfd:other");
	find_lanes(&l, &maps);
	expect_piece(0, 0x10000, 6);
	expect_piece(1, 0x22000, 1);
	expect_piece(2, 0x32000, 1);
	expect_piece(3, 0x41000, 1);
	ck_assert_uint_eq(l.found.len, 4);
}
END_TEST

START_TEST(an_address_needs_the_piece_that_it_is_in)
{
	piece(PIECE_SLOTS, false); /* 0x1000 */
	piece(PIECE_AREA, false);  /* 0x2000 */
	points_to(&s, 0xfff);
	ck_assert_str_eq(needed(), "--");
	points_to(&s, 0x2000);
	ck_assert_str_eq(needed(), "-x");
	points_to(&s, 0x3000);
	ck_assert_str_eq(needed(), "-x");
	points_to(&s, 0x1fff);
	ck_assert_str_eq(needed(), "xx");
}
END_TEST

START_TEST(only_slots_are_where_jumps_lead)
{
	piece(PIECE_SLOTS, false);
	piece(PIECE_AREA, false);
	ck_assert(is_found(&l, 0x1000));
	ck_assert(is_found(&l, 0x1fff));
	ck_assert(!is_found(&l, 0xfff));
	ck_assert(!is_found(&l, 0x2000));
}
END_TEST

START_TEST(a_thread_that_listens_is_not_in_the_handler)
{
	struct thread th = { 0 };

	piece(PIECE_SLOTS, false);
	piece(PIECE_AREA, false);
	piece(PIECE_LANES, false);
	ck_assert(is_in_area(&s, &th, 0x2000));
	ck_assert(!is_in_area(&s, &th, 0x1000));
	ck_assert(!is_in_area(&s, &th, 0x3000));
	ck_assert(is_in_lanes(&s, &th, 0x3fff));
	ck_assert(!is_in_lanes(&s, &th, 0x4000));
	ck_assert(!is_in_lanes(&s, &th, 0x2000));
	th.stop.state = TH_LISTENING;
	ck_assert(!is_in_area(&s, &th, 0x2000));
	ck_assert(!is_in_lanes(&s, &th, 0x3000));
	th.stop.state = 0;
	th.stop.kind = EV_GROUP_STOP;
	ck_assert(!is_in_area(&s, &th, 0x2000));
	ck_assert(!is_in_lanes(&s, &th, 0x3000));
}
END_TEST

START_TEST(a_stack_has_a_guard_page)
{
	map(0x10000, 1, false, "[stack]");
	map(0x20000, 1, false, "");
	map(0x30000, 1, false, ""); /* a guard page */
	maps.list.at[2].read = maps.list.at[2].write = false;
	map(0x31000, 4, false, "");
	map(0x50000, 1, false, ""); /* one that is not next to it */
	maps.list.at[4].read = maps.list.at[4].write = false;
	map(0x60000, 1, false, "");
	ck_assert(is_stack(&maps, 0));
	ck_assert(!is_stack(&maps, 1));
	ck_assert(!is_stack(&maps, 2));
	ck_assert(is_stack(&maps, 3));
	ck_assert(!is_stack(&maps, 5));
	/* What can be read, written or run guards nothing. */
	maps.list.at[2].read = true;
	ck_assert(!is_stack(&maps, 3));
	maps.list.at[2].read = false;
	maps.list.at[2].write = true;
	ck_assert(!is_stack(&maps, 3));
	maps.list.at[2].write = false;
	maps.list.at[2].exec = true;
	ck_assert(!is_stack(&maps, 3));
	maps.list.at[2].exec = false;
	/* Nor is there a stack that cannot be written. */
	maps.list.at[3].write = false;
	ck_assert(!is_stack(&maps, 3));
}
END_TEST

START_TEST(chunks_of_areas_stay_together)
{
	piece(PIECE_AREA, false);
	piece(PIECE_SLOTS, true);
	piece(PIECE_AREA, false);
	keep_chunks(&l);
	ck_assert_str_eq(needed(), "-x-");
	ck_assert(!l.in_use);
	l.found.at[2].needed = true;
	keep_chunks(&l);
	ck_assert_str_eq(needed(), "xxx");
	ck_assert(l.in_use);
	/* A thread in the handler needs all of them, and no slot. */
	l.found.at[0].needed = l.found.at[1].needed = false;
	l.found.at[2].needed = false;
	l.runs = true;
	keep_chunks(&l);
	ck_assert_str_eq(needed(), "x-x");
	ck_assert(l.in_use);
}
END_TEST

START_TEST(lanes_stay_with_slots)
{
	piece(PIECE_AREA, false);
	piece(PIECE_SLOTS, true);
	piece(PIECE_SLOTS, false);
	/* Without lanes each slot is by itself. */
	keep_lanes(&l);
	ck_assert_str_eq(needed(), "-x-");
	ck_assert(!l.in_use);
	piece(PIECE_LANES, false);
	keep_lanes(&l);
	ck_assert_str_eq(needed(), "-xxx");
	ck_assert(l.in_use);
	/* A needed lane keeps slots; an area does not. */
	for (size_t i = 0; i < 4; i++)
		l.found.at[i].needed = i == 3;
	keep_lanes(&l);
	ck_assert_str_eq(needed(), "-xxx");
	for (size_t i = 0; i < 4; i++)
		l.found.at[i].needed = i == 0;
	l.in_use = true; /* keep_chunks() has said so: it stays */
	keep_lanes(&l);
	ck_assert_str_eq(needed(), "x---");
	ck_assert(l.in_use);
}
END_TEST

START_TEST(a_board_stays_while_a_thread_returns_to_it)
{
	static struct space of;

	s.sp = &of;
	piece(PIECE_SLOTS, false);
	piece(PIECE_AREA, false);
	piece(PIECE_LANES, false);
	listed_board = (struct trap_entry){ .addr = 0x77700, .way = 22 };
	add_board(&l, &listed_board);
	points_to(&s, 0x77701);
	keep_boards(&l);
	ck_assert_str_eq(needed(), "---");
	points_to(&s, 0x77700);
	keep_boards(&l);
	ck_assert_str_eq(needed(), "xx-");
	restore_boards(&s);
	check_said("");
	ck_assert_uint_eq(l.boards.len, 1);
	/* It is asked again. */
	board_stays = true;
	restore_boards(&s);
	check_said("board ");
	ck_assert_ptr_nonnull(board_at(&l, 0x77700));
	board_stays = false;
	s.failed = true;
	restore_boards(&s);
	check_said("");
	s.failed = false;
	restore_boards(&s);
	check_said("board ");
	ck_assert_uint_eq(l.boards.len, 0);
	ck_assert_ptr_null(board_at(&l, 0x77700));
}
END_TEST

START_TEST(nothing_left_is_not_in_use)
{
	ck_assert(!leftover_in_use(NULL));
	ck_assert(!leftover_runs(NULL));
	ck_assert(!leftover_in_use(&l));
	l.in_use = true;
	ck_assert(leftover_in_use(&l));
	ck_assert(!leftover_runs(&l));
	l.runs = true;
	ck_assert(leftover_runs(&l));
}
END_TEST

/* ---- restoring ---- */

static struct space space;

static int
mend(unsigned first, unsigned second)
{
	text_left[0] = first;
	text_left[1] = second;
	return leftover_mend(&l, &space);
}

START_TEST(the_code_of_a_killed_tracer_is_restored)
{
	piece(PIECE_SLOTS, false);
	piece(PIECE_AREA, false);
	piece(PIECE_LANES, false);
	space.mem_fd = -1;
	ck_assert_int_eq(mend(0, 0), -EMFILE);
	check_said("");
	space.mem_fd = 0;
	ck_assert_int_eq(mend(0, 0), 0);
	check_said("jumps text semaphores text done table each inherit ");
	ck_assert(space.inherited);
	/* What one of two passes could not restore is still there. */
	ck_assert_int_eq(mend(1, 0), -EFAULT);
	check_said("jumps text semaphores text each inherit ");
	ck_assert_int_eq(mend(0, 1), -EFAULT);
	check_said("jumps text semaphores text each inherit ");
	/* A guardian has done it, but for the jumps. */
	left_area.mended = 1;
	ck_assert_int_eq(mend(1, 1), 0);
	check_said("jumps each inherit ");
	jumps_left = 1;
	ck_assert_int_eq(mend(0, 0), -EFAULT);
	left_area.mended = 0;
	ck_assert_int_eq(mend(1, 1), -EFAULT);
}
END_TEST

/* ---- stacks ---- */

static const uint64_t on_stacks[][2] = { { 0x10100, 0x1010 },
	{ 0x10108, FRAME }, { 0x10200, 0x2010 }, { 0x11008, 0x20100 },
	{ 0x20080, 0x4010 }, { 0x20088, FRAME }, { 0x20200, 0x3010 },
	{ 0x20208, FRAME } };
static int stack_error;

static int
read_words(void *ctx, uint64_t addr, void *buf, size_t len)
{
	memset(buf, 0, len);
	for (size_t i = 0; i < ARRAY_SIZE(on_stacks); i++)
		if (on_stacks[i][0] >= addr && on_stacks[i][0] < addr + len)
			memcpy((char *)buf + (on_stacks[i][0] - addr),
			    &on_stacks[i][1], 8);
	ck_assert_uint_le(len, 0x2000);
	return stack_error;
}

/* Read the stack from there on, and those to which it leads. */
static const char *
read_from(uint64_t addr, uint64_t depth)
{
	s.sp = &space;
	s.maps = maps;
	s.depth = depth;
	space.mem = (struct reader){ .read = read_words };
	vec_foreach(p, &l.found)
		p->needed = false;
	read_stack(&s, addr);
	while (s.todo.len > 0)
		read_stack(&s, vec_pop(&s.todo));
	hash_fini(&s.from);
	hash_fini(&s.taken);
	vec_fini(&s.todo);
	return needed();
}

START_TEST(signal_frames_need_memory)
{
	for (int i = 0; i < 4; i++)
		piece(PIECE_SLOTS, false);
	map(0x10000, 2, false, "[stack]");
	map(0x1f000, 1, false, "");
	maps.list.at[1].read = maps.list.at[1].write = false;
	map(0x20000, 1, false, "");
	/* What is below the pointer to the other stack is stale. */
	ck_assert_str_eq(read_from(0x10104, 0x10000), "x-x-");
	ck_assert_uint_eq(s.read, 0x1f00 + 0xf00);
	ck_assert_str_eq(read_from(0x10108, 0x10000), "--x-");
	ck_assert_str_eq(read_from(0x10104, 0x200), "x---");
	ck_assert_str_eq(read_from(0x20080, 0x1000), "--xx");
	ck_assert(!s.failed);
	stack_error = -EFAULT;
	ck_assert_str_eq(read_from(0x10104, 0x10000), "----");
	ck_assert(s.failed);
	stack_error = 0;
	s.failed = false;
	s.read = STACKS_MAX;
	ck_assert_str_eq(read_from(0x10104, 0x10000), "----");
	ck_assert(s.failed);
}
END_TEST

START_TEST(a_stack_is_queued_once)
{
	map(0x10000, 2, false, "[stack]");
	map(0x20000, 1, false, "");
	s.maps = maps;
	follow(&s, 0x30000, true);  /* no memory */
	follow(&s, 0x20100, false); /* no stack */
	ck_assert_uint_eq(s.todo.len, 0);
	follow(&s, 0x10100, false);
	follow(&s, 0x10100, false);
	follow(&s, 0x10200, false);
	ck_assert_uint_eq(s.todo.len, 1);
	follow(&s, 0x10080, false);
	ck_assert_uint_eq(s.todo.len, 2);
	follow(&s, 0x20100, true);
	ck_assert_uint_eq(s.todo.len, 3);
	/* A thread's own stack is not followed for a word. */
	follow(&s, 0x10010, true);
	ck_assert_uint_eq(s.todo.len, 4);
	follow(&s, 0x10008, false);
	ck_assert_uint_eq(s.todo.len, 4);
	hash_fini(&s.from);
	hash_fini(&s.taken);
	vec_fini(&s.todo);
}
END_TEST

/* ---- what is found in memory ---- */

static struct look look;

static int
empty_file(void)
{
	FILE *f = tmpfile();

	ck_assert_ptr_nonnull(f);
	int fd = dup(fileno(f));
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, INT64_C(1) << 30), 0);
	fclose(f);
	return fd;
}

static void
put_area(uint64_t addr, uint32_t size)
{
	struct trap_area head = { .magic = TRAP_MAGIC };

	head.size = size;
	ck_assert_int_eq(
	    pwrite(look.mem, &head, sizeof(head), (off_t)addr), sizeof(head));
}

static void
put_slots(uint64_t addr)
{
	ck_assert_int_eq(pwrite(look.mem, "s", 1, (off_t)addr), 1);
}

static void
present(uint64_t page, uint64_t word)
{
	ck_assert_int_eq(pwrite(look.pagemap, &word, 8, (off_t)(page * 8)), 8);
}

static void
check_piece(size_t i, uint64_t start, uint64_t size, enum piece_kind kind)
{
	ck_assert_uint_gt(l.found.len, i);
	ck_assert_uint_eq(l.found.at[i].start, start);
	ck_assert_uint_eq(l.found.at[i].size, size);
	ck_assert_int_eq(l.found.at[i].kind, kind);
}

START_TEST(areas_and_slots_are_found_in_pages)
{
	const uint64_t end = 0x19000 + SLOT_MEMORY;

	look = (struct look){ empty_file(), empty_file(), &l, 0 };
	for (uint64_t page = 0x10; page < end / PAGE; page++)
		present(page, UINT64_C(1) << (page % 2 != 0 ? 62 : 63));
	put_area(0x10000, 0x2000);
	put_slots(0x11000);        /* in it */
	put_area(0x13000, 0x1800); /* not whole pages */
	put_area(0x14000, 0x1000);
	present(0x14, 1); /* not in memory */
	put_area(0x15000, 0x1000);
	put_slots(0x19000); /* up to the end */
	look_from_ends(&look, 0x10000, end);
	check_piece(0, 0x10000, 0x2000, PIECE_AREA);
	check_piece(1, 0x15000, 0x1000, PIECE_AREA);
	check_piece(2, 0x19000, SLOT_MEMORY, PIECE_SLOTS);
	ck_assert_uint_eq(l.found.len, 3);
	/* One that would end behind the mapping is none. */
	l.found.len = 0;
	look_from_ends(&look, 0x10000, end - 1);
	ck_assert_uint_eq(l.found.len, 2);
	/* Without /proc/PID/pagemap each page is looked at. */
	l.found.len = 0;
	close(look.pagemap);
	look.pagemap = -1;
	look_from_ends(&look, 0x10000, end);
	ck_assert_uint_eq(l.found.len, 4);
	check_piece(1, 0x14000, 0x1000, PIECE_AREA);
	close(look.mem);
}
END_TEST

START_TEST(large_mappings_are_searched_from_both_ends)
{
	const uint64_t start = 0x10000000, end = start + 20000 * PAGE;

	look = (struct look){ empty_file(), -1, &l, 0 };
	put_area(start + (PAGES_MAX - 1) * PAGE, PAGE);
	put_area(start + PAGES_MAX * PAGE, PAGE);
	put_area(end - (PAGES_MAX + 1) * PAGE, PAGE);
	put_area(end - PAGES_MAX * PAGE, PAGE);
	put_area(end - PAGE, PAGE);
	look_from_ends(&look, start, end);
	check_piece(0, start + (PAGES_MAX - 1) * PAGE, PAGE, PIECE_AREA);
	check_piece(1, end - PAGE, PAGE, PIECE_AREA);
	check_piece(2, end - PAGES_MAX * PAGE, PAGE, PIECE_AREA);
	ck_assert_uint_eq(l.found.len, 3);
	close(look.mem);
}
END_TEST

/* ---- the guardian ---- */

static bool stop_now;

static bool
is_stopping(void)
{
	return stop_now;
}

static int
await(pid_t keeper, unsigned n, char *why)
{
	left_area.keeper = (uint32_t)keeper;
	naps = 0;
	naps_until = n;
	return await_keeper(7, 0, &l, is_stopping, why, 200);
}

START_TEST(a_guardian_is_waited_for)
{
	char why[200] = "";

	left_area.keeper_since = 900;
	ck_assert_int_eq(await(42, 9, why), 0); /* no area */
	check_said("");
	piece(PIECE_SLOTS, false);
	piece(PIECE_AREA, false);
	ck_assert_int_eq(await(42, 3, why), 0);
	check_said("term cont ");
	ck_assert_uint_eq(naps, 3);
	stop_now = true;
	ck_assert_int_eq(await(42, 3, why), -EBUSY);
	check_said("term cont ");
	ck_assert_str_eq(why,
	    "the code of process 7 is still being restored by the guardian of "
	    "a killed dtrap (process 42)");
	stop_now = false;
	ck_assert_int_eq(await(42, 1000, why), -EBUSY);
	ck_assert_uint_ge(naps, KEEPER_S - 1);
	ck_assert_uint_le(naps, KEEPER_S + 1);
	said[0] = '\0';
	/* No signal is sent to another process. */
	for (pid_t pid = 43; pid <= 46; pid++)
		ck_assert_int_eq(await(pid, 9, why), 0);
	ck_assert_int_eq(await(1, 9, why), 0);
	ck_assert_int_eq(await(0, 9, why), 0);
	left_area.keeper_since = 901;
	ck_assert_int_eq(await(42, 9, why), 0);
	left_area.keeper_since = 900;
	left_area.mended = 1;
	ck_assert_int_eq(await(42, 9, why), 0);
	ck_assert_uint_eq(naps, 0);
	check_said("");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		lanes_are_found_with_the_page_before,
		an_address_needs_the_piece_that_it_is_in,
		only_slots_are_where_jumps_lead,
		a_thread_that_listens_is_not_in_the_handler,
		a_stack_has_a_guard_page,
		chunks_of_areas_stay_together,
		lanes_stay_with_slots,
		a_board_stays_while_a_thread_returns_to_it,
		nothing_left_is_not_in_use,
		the_code_of_a_killed_tracer_is_restored,
		signal_frames_need_memory,
		a_stack_is_queued_once,
		areas_and_slots_are_found_in_pages,
		large_mappings_are_searched_from_both_ends,
		a_guardian_is_waited_for,
	};

	return suite_run("leftover", setup, teardown, tests, ARRAY_SIZE(tests));
}
