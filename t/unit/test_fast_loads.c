/*
 * tracer/fast/ loads and code: memory that clauses in a target read, by
 * themselves or by the tracer, and the machine code of clauses.  The memory of
 * the target is an array of bytes.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disasm/text.h"
#include "dlang/base/fault.h"
#include "dlang/base/clock.h"
#include "symbols/maps.h"
#include "t/fake/env.h"
#include "t/fake/target.h"
#include "t/unit/suite.h"
#include "tracer/base/state.h"
#include "tracer/fast/fast_impl.h"
#include "tracer/ptrace/proc.h"

#define ADDR   UINT64_C(0x7f0000400000) /* of dtrap's memory */
#define SIZE   0x8000U
#define DATA   UINT64_C(0x600000) /* of the program */
#define DATA_N 0x3000U
#define FIXUPS (ADDR + 0x3000)

static struct fake_target target;
static struct space space;
static struct proc proc;
static struct thread thread;
static struct uregs its_regs;
static struct fast_space mem;
static struct fast_space *there;
static struct agent its_agent;
static uint8_t table_bytes[2][RANGES_SIZE / 2] __attribute__((aligned(8)));
static struct lane lane;
static struct lane_view view;
static bool fires;
static bool dead;
static unsigned dirty;
static siginfo_t info;
static int info_error;
static const char *maps_text; /* NULL: the process is gone */
static uint64_t the_time;     /* ns */
static uint64_t takes;        /* how long it takes to read the maps */

static int
double_maps(pid_t pid, struct maps *out)
{
	ck_assert_int_eq(pid, proc.pid);
	if (maps_text == NULL)
		return -ESRCH;
	the_time += takes;
	return maps_parse(maps_text, strlen(maps_text), out);
}

static int
read_text(void *ctx, uint64_t addr, void *buf, size_t len)
{
	return target.target.ops->read(&target.target, addr, buf, len);
}

static int
write_there(struct target *t, uint64_t addr, const void *buf, size_t len)
{
	ck_assert_ptr_eq(t, &space.target);
	return target.target.ops->write(&target.target, addr, buf, len);
}

static const struct lane_view *
double_firing(void)
{
	return fires ? &view : NULL;
}

#define maps_read(pid, maps)   double_maps(pid, maps)
#define clock_ns(clock)        the_time
#define thread_regs(th)        (dead ? NULL : &its_regs)
#define thread_regs_dirty(th)  dirty++
#define thread_siginfo(th, si) (*(si) = info, info_error)
#define fast_there(th)         there
#define fast_firing(th)        double_firing()
#define fast_fires(th)         fires
#include "tracer/fast/loads.c"

static void
setup(void)
{
	static const struct target_ops ops = { .write = write_there };

	fake_target_init(&target);
	space.target.ops = &ops;
	space.text = (struct reader){ read_text, NULL };
	fake_target_map(&target, ADDR, SIZE + 0x1000); /* and somebody's */
	fake_target_map(&target, DATA, DATA_N);
	proc.pid = 70;
	proc.space = &space;
	thread.proc = &proc;
	thread.stop.state = TH_STOPPED;
	thread.stop.kind = EV_SIGNAL;
	mem = (struct fast_space){ .id = 1,
		.addr = ADDR,
		.size = SIZE,
		.base = table_bytes[0],
		.agent = &its_agent,
		.tables = { (void *)table_bytes[0], (void *)table_bytes[1] } };
	there = &mem;
	view.lane = &lane;
	the_time = 1000;
	maps_text = "";
}

static void
teardown(void)
{
	fake_target_fini(&target);
}

/* ---- tables of memory that can be read ---- */

static const struct agent_ranges *
table(void)
{
	uint64_t offset = its_agent.ranges - fast_addr(&mem, mem.base);

	ck_assert(offset == 0 || offset == RANGES_SIZE / 2);
	return (const void *)(table_bytes[0] + offset);
}

/* Is a page of that line readable by a plain load? */
static bool
is_read(const char *line)
{
	maps_text = line;
	mem.next_refresh = 0;
	ck_assert(loads_refresh(&mem, 70));
	ck_assert_uint_le(table()->n, 1);
	return table()->n == 1;
}

START_TEST(which_memory_a_plain_load_may_read)
{
	ck_assert(is_read("1000-2000 rw-p 00000000 00:00 0 \n"));
	ck_assert(is_read("1000-2000 r--p 00000000 08:01 5 /bin/true\n"));
	ck_assert(is_read("1000-2000 rw-p 00000000 00:00 0 [heap]\n"));
	ck_assert(is_read("1000-2000 rw-s 00000000 00:01 5 /dev/zero\n"));
	ck_assert(is_read("1000-2000 rw-s 00000000 00:01 5 /SYSV00000000\n"));
	/* It may become shorter. */
	ck_assert(!is_read("1000-2000 rw-s 00000000 08:01 5 /tmp/file\n"));
	ck_assert(!is_read("1000-2000 rw-s 00000000 08:01 5 /SYSTEM\n"));
	ck_assert(!is_read("1000-2000 -w-p 00000000 00:00 0 \n"));
	/* Breakpoints are in it. */
	ck_assert(!is_read("1000-2000 r-xp 00000000 08:01 5 /bin/true\n"));
	ck_assert(!is_read("1000-2000 r--p 00000000 00:00 0 [vvar]\n"));
	ck_assert(!is_read("1000-2000 rw-p 00000000 00:05 5 /dev/mem\n"));
}
END_TEST

START_TEST(neighbours_are_one_range)
{
	maps_text = "1000-2000 rw-p 00000000 00:00 0 \n"
		    "2000-3000 r--p 00000000 00:00 0 \n"
		    "3000-4000 r-xp 00000000 00:00 0 \n"
		    "5000-6000 rw-p 00000000 00:00 0 \n"
		    "7000-8000 rw-p 00000000 00:00 0 \n";
	ck_assert(loads_refresh(&mem, 70));
	ck_assert_uint_eq(table()->n, 3);
	ck_assert_uint_eq(table()->at[0].start, 0x1000);
	ck_assert_uint_eq(table()->at[0].end, 0x3000);
	ck_assert_uint_eq(table()->at[1].start, 0x5000);
	ck_assert_uint_eq(table()->at[2].end, 0x8000);
}
END_TEST

START_TEST(the_tables_take_turns)
{
	const struct agent_ranges *first;

	maps_text = "1000-2000 rw-p 00000000 00:00 0 \n";
	ck_assert(loads_refresh(&mem, 70));
	first = table();
	maps_text = "3000-4000 rw-p 00000000 00:00 0 \n";
	ck_assert(loads_refresh(&mem, 70));
	/* A thread may still be in the old one. */
	ck_assert_ptr_ne(table(), first);
	ck_assert_uint_eq(first->at[0].start, 0x1000);
	ck_assert_uint_eq(table()->at[0].start, 0x3000);
	ck_assert(loads_refresh(&mem, 70));
	ck_assert_ptr_eq(table(), first);
	maps_text = NULL;
	ck_assert(!loads_refresh(&mem, 70));
	ck_assert_ptr_eq(table(), first);
}
END_TEST

START_TEST(maps_are_not_read_all_the_time)
{
	takes = 100;
	ck_assert(loads_refresh(&mem, 70));
	ck_assert(!loads_refresh(&mem, 70));
	the_time += 1900;
	ck_assert(!loads_refresh(&mem, 70));
	the_time += 100;
	ck_assert(loads_refresh(&mem, 70));
}
END_TEST

START_TEST(a_table_has_no_more_entries_than_room)
{
	char *text = malloc(2000 * 64);
	size_t n = 0;

	for (unsigned i = 0; i < 2000; i++)
		n += (size_t)sprintf(text + n, "%x-%x rw-p 00000000 00:00 0 \n",
		    0x10000 + 0x2000 * i, 0x11000 + 0x2000 * i);
	maps_text = text;
	ck_assert(loads_refresh(&mem, 70));
	size_t most = (RANGES_SIZE / 2 - sizeof(struct agent_ranges)) /
	    sizeof(struct agent_range);
	ck_assert_uint_eq(table()->n, most);
	ck_assert_uint_eq(
	    table()->at[most - 1].start, 0x10000 + 0x2000 * (most - 1));
	free(text);
}
END_TEST

/* ---- reads by the tracer ---- */

static bool
ask(uint64_t what, uint64_t addr, uint64_t to, uint64_t size)
{
	its_regs.r[ureg_arg(0)] = what;
	its_regs.r[ureg_arg(1)] = addr;
	its_regs.r[ureg_arg(2)] = to;
	its_regs.r[ureg_arg(3)] = size;
	its_regs.r[UREG_RESULT] = 99;
	dirty = 0;
	return fast_answer(&thread);
}

static int64_t
result(void)
{
	ck_assert_uint_eq(dirty, 1);
	return (int64_t)its_regs.r[UREG_RESULT];
}

/* The program's data can be read by a load from now on. */
static void
in_table(void)
{
	maps_text = "600000-603000 rw-p 00000000 00:00 0 \n";
}

static void
fill(void)
{
	uint8_t *p = fake_target_at(&target, DATA);

	for (unsigned i = 0; i < DATA_N; i++)
		p[i] = (uint8_t)(1 + i % 251);
}

START_TEST(bytes_are_copied)
{
	fill();
	in_table();
	ck_assert(ask(AGENT_BYTES, DATA + 3, ADDR + 0x100, 0x2801));
	ck_assert_int_eq(result(), 0);
	ck_assert_mem_eq(fake_target_at(&target, ADDR + 0x100),
	    fake_target_at(&target, DATA + 3), 0x2801);
	ck_assert_int_eq(*fake_target_at(&target, ADDR + 0x2901), 0);
	ck_assert_int_eq(*fake_target_at(&target, ADDR + 0xff), 0);
	ck_assert(ask(AGENT_BYTES, DATA, ADDR, 0));
	ck_assert_int_eq(result(), 0);
	/* The end of the program's data. */
	ck_assert(!ask(AGENT_BYTES, DATA + DATA_N - 4, ADDR, 5));
	ck_assert_int_eq(result(), -1);
}
END_TEST

START_TEST(strings_are_copied_up_to_their_end)
{
	fill();
	in_table();
	strcpy((char *)fake_target_at(&target, DATA + 8), "word");
	ck_assert(ask(AGENT_STRING, DATA + 8, ADDR, 100));
	ck_assert_int_eq(result(), 5);
	ck_assert_str_eq((char *)fake_target_at(&target, ADDR), "word");
	ck_assert(ask(AGENT_STRING, DATA + 8, ADDR + 16, 2));
	ck_assert_int_eq(result(), 2);
	ck_assert_str_eq((char *)fake_target_at(&target, ADDR + 16), "wo");
	/* A long one. */
	*fake_target_at(&target, DATA + 16 + 9000) = 0;
	ck_assert(ask(AGENT_STRING, DATA + 16, ADDR, SIZE));
	ck_assert_int_eq(result(), 9001);
	ck_assert_mem_eq(fake_target_at(&target, ADDR),
	    fake_target_at(&target, DATA + 16), 9001);
	/* One that does not fit. */
	ck_assert(ask(AGENT_STRING, DATA + 16, ADDR, 5000));
	ck_assert_int_eq(result(), 5000);
	ck_assert(!ask(AGENT_STRING, 0x1234, ADDR, 100));
	ck_assert_int_eq(result(), -1);
}
END_TEST

/* The arguments are the program's: they may be anything. */
START_TEST(nothing_is_written_outside_of_dtraps_memory)
{
	fill();
	in_table();
	ck_assert(ask(AGENT_BYTES, DATA, ADDR + SIZE - 4, 4));
	ck_assert(!ask(AGENT_BYTES, DATA, ADDR + SIZE - 4, 5));
	ck_assert(!ask(AGENT_BYTES, DATA, ADDR - 1, 4));
	ck_assert(!ask(AGENT_BYTES, DATA, ADDR, (uint64_t)SIZE + 1));
	ck_assert(!ask(AGENT_BYTES, DATA, ADDR, UINT64_MAX));
	ck_assert(!ask(AGENT_BYTES, DATA, DATA + 100, 4));
	ck_assert(!ask(AGENT_STRING, DATA, DATA + 100, 4));
	ck_assert_int_eq(result(), -1);
	ck_assert(!ask(77, DATA, ADDR, 4)); /* no such question */
	ck_assert_int_eq(result(), -1);
	target.fail_write = 1;
	ck_assert(!ask(AGENT_BYTES, DATA, ADDR, 4));
	target.fail_write = 1;
	ck_assert(!ask(AGENT_STRING, DATA, ADDR, 4));
}
END_TEST

/* False means that the thread will ask again for this address. */
START_TEST(memory_that_no_load_may_read_is_asked_for_again)
{
	fill();
	maps_text = "600000-603000 r-xp 00000000 00:00 0 \n";
	ck_assert(!ask(AGENT_BYTES, DATA, ADDR, 4));
	ck_assert_int_eq(result(), 0); /* it was read all the same */
	in_table();
	mem.next_refresh = 0;
	ck_assert(ask(AGENT_BYTES, DATA, ADDR, 4));
	/* The maps are not read: what is not in an old table may be in the
	 * next one. */
	mem.next_refresh = the_time + 1;
	ck_assert(ask(AGENT_BYTES, DATA, ADDR, 4));
	/* The program can write into the table: its length is not trusted. */
	mem.next_refresh = 0;
	maps_text = "900000-903000 rw-p 00000000 00:00 0 \n";
	ck_assert(!ask(AGENT_BYTES, DATA, ADDR, 4));
}
END_TEST

START_TEST(a_thread_that_cannot_be_answered)
{
	there = NULL;
	ck_assert(ask(AGENT_BYTES, DATA, ADDR, 4));
	ck_assert_uint_eq(dirty, 0);
	there = &mem;
	dead = true;
	ck_assert(ask(AGENT_BYTES, DATA, ADDR, 4));
	ck_assert_uint_eq(dirty, 0);
}
END_TEST

/* ---- actions ---- */

START_TEST(actions_are_asked_for)
{
	struct fast_rest asked;

	fires = true;
	lane.regs.r[UREG_PC] = 0x4000;
	lane.regs.r[ureg_arg(0)] = 42;
	its_regs.r[UREG_THREAD] = 0x8800;
	its_regs.r[ureg_arg(0)] = AGENT_REST;
	its_regs.r[ureg_arg(1)] = agent_rest(7, 9);
	its_regs.r[ureg_arg(3)] = 12345;
	its_regs.r[UREG_RESULT] = 99;
	ck_assert(fast_asks_rest(&thread, &asked));
	ck_assert_uint_eq(asked.site_ref, 7);
	ck_assert_uint_eq(asked.ecb_ref, 9);
	ck_assert_uint_eq(asked.timestamp, 12345);
	/* The program's registers are in the lane; the others are not. */
	ck_assert_uint_eq(asked.regs.r[UREG_PC], 0x4000);
	ck_assert_uint_eq(asked.regs.r[ureg_arg(0)], 42);
	ck_assert_uint_eq(asked.regs.r[UREG_THREAD], 0x8800);
	/* The thread goes on as if they had been carried out. */
	ck_assert_int_eq(result(), 0);
	its_regs.r[ureg_arg(0)] = AGENT_BYTES;
	ck_assert(!fast_asks_rest(&thread, &asked));
	its_regs.r[ureg_arg(0)] = AGENT_REST;
	fires = false;
	ck_assert(!fast_asks_rest(&thread, &asked));
	fires = true;
	dead = true;
	ck_assert(!fast_asks_rest(&thread, &asked));
}
END_TEST

/* ---- loads that fault ---- */

static const struct agent_fixup fixups[] = { { -0x100, 0x40 },
	{ -0x200, -0x80 } };

/* A load of the second kind has faulted. */
static bool
faults(int sig)
{
	mem.fixups = fixups;
	mem.nfixups = ARRAY_SIZE(fixups);
	mem.fixups_at = FIXUPS;
	its_regs.r[UREG_PC] = FIXUPS + sizeof(fixups[0]) - 0x200;
	its_regs.r[UREG_RESULT] = 5;
	info = (siginfo_t){ .si_signo = sig, .si_code = SEGV_MAPERR };
	stop_signal(&thread, sig);
	dirty = 0;
	return fast_mends(&thread);
}

START_TEST(a_load_that_faults_is_mended)
{
	ck_assert(faults(SIGSEGV));
	ck_assert_uint_eq(its_regs.r[UREG_PC],
	    FIXUPS + sizeof(fixups[0]) + offsetof(struct agent_fixup, on) -
		0x80);
	ck_assert_int_eq(result(), -1);
	ck_assert_int_eq(thread.stop.sig, 0);
	ck_assert(faults(SIGBUS));
}
END_TEST

/* The thread may not read the processor's clock. */
START_TEST(a_clock_that_faults_is_read)
{
	static const uint8_t rdtsc[] = { 0x0f, 0x31, 0x90 };

	mem.nfixups = 0;
	memcpy(fake_target_at(&target, DATA), rdtsc, sizeof(rdtsc));
	its_regs.r[UREG_PC] = DATA;
	lane.tick_most = 7;
	fires = true;
	info = (siginfo_t){ .si_signo = SIGSEGV, .si_code = SI_KERNEL };
	stop_signal(&thread, SIGSEGV);
	ck_assert(fast_mends(&thread));
	ck_assert_uint_eq(its_regs.r[UREG_PC], DATA + 2);
	/* It is not to try again. */
	ck_assert_uint_eq(lane.tick_most, 0);
}
END_TEST

START_TEST(other_signals_are_the_programs)
{
	ck_assert(!faults(SIGILL));
	ck_assert_int_eq(thread.stop.sig, SIGILL);
	there = NULL;
	ck_assert(!faults(SIGSEGV));
	there = &mem;
	dead = true;
	ck_assert(!faults(SIGSEGV));
	dead = false;
	info_error = -ESRCH;
	ck_assert(!faults(SIGSEGV));
	info_error = 0;
	/* Somewhere else. */
	faults(SIGSEGV);
	its_regs.r[UREG_PC] = FIXUPS;
	stop_signal(&thread, SIGSEGV);
	ck_assert(!fast_mends(&thread));
	ck_assert_int_eq(thread.stop.sig, SIGSEGV);
	/* Sent by kill(2), just there. */
	faults(SIGILL);
	info = (siginfo_t){ .si_signo = SIGSEGV, .si_code = SI_USER };
	stop_signal(&thread, SIGSEGV);
	ck_assert(!fast_mends(&thread));
	ck_assert_int_eq(thread.stop.sig, SIGSEGV);
	ck_assert_uint_eq(dirty, 0);
}
END_TEST

/* ---- machine code ---- */

static struct kit kit;

/* The fast of a program with two DIFOs. */
static struct fast
programmed(void)
{
	kit_init(&kit);
	kit_clause(&kit, kit_const(&kit, 3), 24);
	kit_clause(&kit, kit_const(&kit, 4), 24);
	kit_publish(&kit);
	return (struct fast){ .image = kit.image };
}

static struct img_difo *
difo(uint32_t *ref)
{
	struct img_difo *d = (void *)(kit.image.base + *ref);

	*ref = d->next_ref;
	return d;
}

/* Where the first call of a listing leads, counted from its begin. */
static uint64_t
call_in(const char *listing)
{
	const char *call = strstr(listing, ": call 0x");

	ck_assert_ptr_nonnull(call);
	return strtoull(call + strlen(": call "), NULL, 16);
}

static unsigned
lines_in(const char *text)
{
	unsigned n = 0;

	for (; (text = strchr(text, '\n')) != NULL; text++)
		n++;
	return n;
}

START_TEST(each_clause_has_machine_code)
{
	struct fast f = programmed();
	uint32_t ref =
	    ((const struct img_hdr *)(void *)kit.image.base)->difos_ref;
	struct blob blob;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	code_make(&f, out);
	fclose(out);
	ck_assert(blob_measure(&blob));
	/* It is behind the blob, and each begins at a multiple of 16. */
	ck_assert_uint_eq(f.code_at, blob.size);
	const struct img_difo *one = difo(&ref), *two = difo(&ref);
	ck_assert_uint_eq(ref, 0);
	ck_assert_uint_eq(one->code, f.code_at);
	ck_assert_uint_gt(two->code, one->code);
	ck_assert_uint_lt(two->code, f.code_at + f.code_size);
	ck_assert_uint_eq(two->code % 16, 0);
	/* The listing has the DIF, and each instruction that it became. */
	const char *at = strstr(strstr(text, "DIFO in") + 1, "DIFO in machine");
	ck_assert_ptr_nonnull(at);
	ck_assert_ptr_nonnull(strstr(at, "setx"));
	ck_assert_ptr_nonnull(strstr(at, "! 0x3"));
	const uint8_t *code = f.code + (two->code - f.code_at);
	size_t size = f.code + f.code_size - code;
	unsigned lines = 0;
	for (size_t from = 0, n; from < size; from += n, lines++) {
		char insn[128], line[160];

		n = insn_text(
		    code + from, size - from, from, insn, sizeof(insn));
		ck_assert_uint_gt(n, 0);
		snprintf(line, sizeof(line), " %zx: %s\n", from, insn);
		at = strstr(at, line);
		ck_assert_msg(at != NULL, "%s", line);
	}
	/* And nothing more. */
	ck_assert_str_eq(strchr(at, '\n'), "\n");
	ck_assert_uint_eq(
	    lines_in(strstr(strstr(text, "DIFO in") + 1, "DIFO in")),
	    lines + 1 + two->len);
	/* Both call the same helper, which is in the blob's text. */
	uint64_t helper = one->code + call_in(text);
	ck_assert_uint_eq(
	    two->code + call_in(strstr(text + 9, "DIFO in")), helper);
	ck_assert_uint_gt(helper, 0);
	ck_assert_uint_lt(helper, blob.text);
	ck_assert_ptr_nonnull(blob_at(helper));
	free(text);
	mem_free(f.code);
	kit_fini(&kit);
}
END_TEST

START_TEST(what_cannot_be_compiled_is_run_by_the_vm)
{
	struct fast f = programmed();
	uint32_t ref =
	    ((const struct img_hdr *)(void *)kit.image.base)->difos_ref;

	fault_set(FAULT_JIT, 2);
	code_make(&f, NULL);
	ck_assert_uint_ne(difo(&ref)->code, 0);
	ck_assert_uint_eq(difo(&ref)->code, 0);
	ck_assert_uint_gt(f.code_size, 0);
	mem_free(f.code);
	kit_fini(&kit);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		which_memory_a_plain_load_may_read,
		neighbours_are_one_range,
		the_tables_take_turns,
		maps_are_not_read_all_the_time,
		a_table_has_no_more_entries_than_room,
		bytes_are_copied,
		strings_are_copied_up_to_their_end,
		nothing_is_written_outside_of_dtraps_memory,
		memory_that_no_load_may_read_is_asked_for_again,
		a_thread_that_cannot_be_answered,
		actions_are_asked_for,
		a_load_that_faults_is_mended,
		a_clock_that_faults_is_read,
		other_signals_are_the_programs,
		each_clause_has_machine_code,
		what_cannot_be_compiled_is_run_by_the_vm,
	};

	return suite_run(
	    "fast loads", setup, teardown, tests, ARRAY_SIZE(tests));
}
