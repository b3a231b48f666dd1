/*
 * tracer/consume/locks: plockstat's tables, from aggregations that are put
 * together here.  The names of addresses are doubles, so the file itself is read
 * in below.
 */
#include "t/unit/consume_fixture.h"

#include "symbols/addrspace.h"
#include "symbols/maps.h"
#include "tracer/consume/consume_impl.h"
#include "tracer/consume/locks.h"

/*
 * The program's functions are at 0x1100, 0x1200 and so on, called f1, f2; its own
 * wrapper of a lock function is at 0x1900.  The C library lies at 0x20000: a lock
 * function, and one of another kind; another library at 0x30000.
 */
static struct load exec = { .module = "prog", .is_exec = true };
static struct load libc = { .module = "libc.so.6" };
static struct load other = { .module = "libm.so.6" };
static const struct sym lock_sym = { .name = "__pthread_mutex_lock" };
static const struct sym plain_sym = { .name = "work" };

static struct load *
double_load(uint32_t stamp, uint64_t pc)
{
	return pc < 0x1000 ? NULL :
	    pc < 0x20000   ? &exec :
	    pc < 0x30000   ? &libc :
			     &other;
}

static const struct sym *
double_func(struct object *o, uint64_t addr)
{
	return addr >> 8 == 0x19 || (addr >= 0x20000 && addr < 0x20100) ?
	    &lock_sym :
	    addr == 0x1fff ? NULL :
			     &plain_sym;
}

static char *
double_frame(uint32_t stamp, uint64_t pc, uint64_t inner, unsigned flags,
    char *buf, size_t size)
{
	/* The innermost is a pc, the others are what calls return to. */
	snprintf(buf, size, "f%x%s", (unsigned)(pc >> 8 & 0xf),
	    inner == 1 ? "" : "+");
	return buf;
}

static char *
double_data(uint32_t stamp, uint64_t addr, char *buf, size_t size)
{
	snprintf(buf, size, "%s", addr == 0x5000 ? "prog`lock" : "");
	return buf;
}

#define addrspace_load_then double_load
#define object_func_at      double_func
#define symbolise_frame     double_frame
#define symbolise_data      double_data
#include "tracer/consume/locks.c"

#define FRAMES 6

static struct fx *f;
static struct prog_agg *hist, *sum;
static struct maps maps;
static int asked[16];
static unsigned nasked;

static const struct maps *
maps_of(void *ctx, int pid)
{
	asked[nasked++ % 16] = pid;
	return pid == 42 ? &maps : NULL;
}

static struct lock_report report;
static const struct consume_report how = { .print = locks_print,
	.ctx = &report };

static struct prog_agg *
aggregation(const char *name, enum dif_agg func)
{
	struct prog_agg *a = fx_agg(f, name, func, 0);

	fx_key(a, REC_INT, 8, false);
	fx_key(a, REC_STACK, sizeof(struct rec_stack) + 8 * FRAMES, false);
	return a;
}

static void
setup(void)
{
	f = fx_create(1);
	f->env.report = &how;
	report = (struct lock_report){ .depth = 1, .pid = 42 };
	hist = aggregation("mutex_block", AGG_QUANTIZE);
	sum = aggregation("mutex_block_ns", AGG_SUM);
	nasked = 0;
}

static void
teardown(void)
{
	vec_fini(&maps.list);
	fx_destroy(f);
}

/* `count' times of `ns' each; pcs end with 0. */
static void
event(uint32_t pid, uint64_t lock, uint64_t count, uint64_t ns,
    const uint64_t *pcs)
{
	struct {
		uint64_t lock;
		uint32_t pid, stamp;
		uint64_t pcs[FRAMES];
	} key = { lock, pid, 7, { 0 } };
	uint64_t bins[QUANTIZE_BUCKETS] = { 0 }, total = count * ns;
	unsigned bin = QUANTIZE_ZERO + 1;

	for (size_t i = 0; i < FRAMES && pcs[i] != 0; i++)
		key.pcs[i] = pcs[i];
	while (ns >> (bin - QUANTIZE_ZERO) != 0)
		bin++;
	bins[bin] = count;
	fx_put(f, 0, hist, &key, bins);
	fx_put(f, 0, sum, &key, &total);
}

static const char *
printed(void)
{
	ck_assert_int_eq(consume_finish(fx_consume(f)), 0);
	return fx_out(f);
}

#define RULE                                       \
	"----------------------------------------" \
	"---------------------------------------\n"
#define HEAD "  Count       nsec Lock                         Caller\n" RULE

START_TEST(a_line_for_each_lock_and_caller)
{
	event(42, 0x5000, 3, 100, (uint64_t[]){ 0x20010, 0x1110, 0x1220, 0 });
	event(42, 0x5000, 2, 1000, (uint64_t[]){ 0x20010, 0x1310, 0 });
	event(42, 0x6000, 10, 1, (uint64_t[]){ 0x20010, 0x1110, 0 });
	ck_assert_str_eq(printed(),
	    "\nMutex block\n\n" HEAD
	    "      2       1000 prog`lock                    f3\n"
	    "      3        100 prog`lock                    f1\n"
	    "     10          1 0x6000                       f1\n");
}
END_TEST

/* Through whichever part of the library it came, it is one caller. */
START_TEST(the_librarys_frames_are_left_out)
{
	event(42, 0x5000, 1, 100, (uint64_t[]){ 0x20010, 0x1110, 0 });
	event(42, 0x5000, 1, 100, (uint64_t[]){ 0x20010, 0x20800, 0x1110, 0 });
	/* A lock function of the program's own, too. */
	event(42, 0x5000, 1, 100, (uint64_t[]){ 0x20010, 0x1910, 0x1110, 0 });
	/* Other libraries are callers. */
	event(42, 0x5000, 1, 50, (uint64_t[]){ 0x20010, 0x30210, 0 });
	/* So is the library itself where nobody else called. */
	event(42, 0x5000, 1, 40, (uint64_t[]){ 0x20010, 0x20400, 0 });
	/* What belongs to nobody. */
	event(42, 0x5000, 1, 30, (uint64_t[]){ 0x20010, 0x500, 0x1110, 0 });
	ck_assert_str_eq(printed(),
	    "\nMutex block\n\n" HEAD
	    "      3        100 prog`lock                    f1\n"
	    "      1         50 prog`lock                    f2\n"
	    "      1         40 prog`lock                    f4\n"
	    "      1         30 prog`lock                    f5\n");
}
END_TEST

START_TEST(the_most_time_comes_first)
{
	/* Equal times: more events, then the lower address. */
	event(42, 0x6000, 2, 100, (uint64_t[]){ 0x1110, 0 });
	event(42, 0x7000, 4, 50, (uint64_t[]){ 0x1110, 0 });
	event(42, 0x5ff0, 2, 100, (uint64_t[]){ 0x1110, 0 });
	event(42, 0x8000, 1, 201, (uint64_t[]){ 0x1110, 0 });
	event(42, 0x9000, 1, 199, (uint64_t[]){ 0x1110, 0 });
	report.top = 4;
	ck_assert_str_eq(printed(),
	    "\nMutex block\n\n" HEAD
	    "      1        201 0x8000                       f1\n"
	    "      4         50 0x7000                       f1\n"
	    "      2        100 0x5ff0                       f1\n"
	    "      2        100 0x6000                       f1\n");
}
END_TEST

START_TEST(stacks_stand_below)
{
	report.depth = 2;
	event(42, 0x5000, 1, 100,
	    (uint64_t[]){ 0x20010, 0x1110, 0x1220, 0x1330, 0 });
	event(42, 0x5000, 1, 50,
	    (uint64_t[]){ 0x20010, 0x1110, 0x1220, 0x1440, 0 });
	event(42, 0x5000, 1, 10, (uint64_t[]){ 0x20010, 0x1110, 0x1330, 0 });
	ck_assert_str_eq(printed(),
	    "\nMutex block\n\n" HEAD
	    "      2         75 prog`lock                    f1\n"
	    "                                                f1\n"
	    "                                                f2+\n"
	    "      1         10 prog`lock                    f1\n"
	    "                                                f1\n"
	    "                                                f3+\n");
}
END_TEST

START_TEST(distributions)
{
	report.depth = 3;
	report.hist = true;
	event(42, 0x5000, 3, 100, (uint64_t[]){ 0x1110, 0x1220, 0x1330, 0 });
	event(42, 0x5000, 1, 300, (uint64_t[]){ 0x1110, 0x1220, 0x1330, 0 });
	event(42, 0x6000, 1, 0, (uint64_t[]){ 0x1110, 0x1220, 0 });
	ck_assert_str_eq(printed(),
	    "\nMutex block\n\n" HEAD
	    "      4        150 prog`lock                    f1\n"
	    "\n        nsec ---- Time Distribution ---  count Stack\n"
	    "          64 |@@@@@@@@@@@@@@@@@@      |      3 f1\n"
	    "         128 |                        |      0 f2+\n"
	    "         256 |@@@@@@                  |      1 f3+\n"
	    "\n" HEAD "      1          0 0x6000                       f1\n"
	    "\n        nsec ---- Time Distribution ---  count Stack\n"
	    "           1 |@@@@@@@@@@@@@@@@@@@@@@@@|      1 f1\n"
	    "                                               f2+\n"
	    "\n");
}
END_TEST

START_TEST(other_processes_are_named)
{
	*vec_push(&maps.list) = (struct map){ .start = 0x6000,
		.end = 0x7000,
		.path = (char *)(uintptr_t) "[heap]" };
	*vec_push(&maps.list) = (struct map){ .start = 0x7000,
		.end = 0x8000,
		.path = (char *)(uintptr_t) "[stack]" };
	*vec_push(&maps.list) = (struct map){ .start = 0x8000,
		.end = 0x9000,
		.path = (char *)(uintptr_t) "/dev/shm/x",
		.shared = true };
	*vec_push(&maps.list) = (struct map){
		.start = 0x9000, .end = 0xa000, .path = (char *)(uintptr_t) ""
	};
	*vec_push(&maps.list) = (struct map){ .start = 0xa000,
		.end = 0xb000,
		.path = (char *)(uintptr_t) "/bin/x" };
	report.maps = maps_of;
	event(43, 0x5000, 1, 60, (uint64_t[]){ 0x1110, 0 });
	event(42, 0x6000, 1, 50, (uint64_t[]){ 0x1110, 0 });
	event(42, 0x7ff8, 1, 40, (uint64_t[]){ 0x1110, 0 });
	event(42, 0x8000, 1, 30, (uint64_t[]){ 0x1110, 0 });
	event(42, 0x9000, 1, 20, (uint64_t[]){ 0x1110, 0 });
	event(42, 0xa000, 1, 10, (uint64_t[]){ 0x1110, 0 });
	event(42, 0xb000, 1, 5, (uint64_t[]){ 0x1110, 0 });
	ck_assert_str_eq(printed(),
	    "\nMutex block\n\n" HEAD
	    "      1         60 43/prog`lock                 f1\n"
	    "      1         50 heap 0x6000                  f1\n"
	    "      1         40 stack 0x7ff8                 f1\n"
	    "      1         30 shared 0x8000                f1\n"
	    "      1         20 heap 0x9000                  f1\n"
	    "      1         10 0xa000                       f1\n"
	    "      1          5 0xb000                       f1\n");
	/* Of one that has ended, the target's are as good. */
	ck_assert_int_eq(asked[0], 43);
	ck_assert_int_eq(asked[1], 42);
}
END_TEST

START_TEST(json)
{
	report.json = true;
	report.depth = 2;
	report.top = 2;
	event(42, 0x5000, 3, 100, (uint64_t[]){ 0x1110, 0x1220, 0 });
	event(42, 0x5000, 1, 300, (uint64_t[]){ 0x1110, 0x1220, 0 });
	event(43, 0x6000, 1, 1, (uint64_t[]){ 0x1110, 0 });
	event(43, 0x7000, 1, 0, (uint64_t[]){ 0x1110, 0 });
	ck_assert_str_eq(printed(),
	    "{\"pid\": 42, \"locks\": [\n"
	    "  {\"event\": \"mutex_block\", \"pid\": 42, \"count\": 4, "
	    "\"total_ns\": 600, \"average_ns\": 150,\n"
	    "   \"lock\": {\"address\": \"0x5000\", \"name\": "
	    "\"prog`lock\"},\n"
	    "   \"stack\": [\"f1\", \"f2+\"],\n"
	    "   \"histogram\": [{\"ns\": 64, \"count\": 3}, "
	    "{\"ns\": 256, \"count\": 1}]},\n"
	    "  {\"event\": \"mutex_block\", \"pid\": 43, \"count\": 1, "
	    "\"total_ns\": 1, \"average_ns\": 1,\n"
	    "   \"lock\": {\"address\": \"0x6000\", \"name\": \"0x6000\"},\n"
	    "   \"stack\": [\"f1\"],\n"
	    "   \"histogram\": [{\"ns\": 1, \"count\": 1}]}\n"
	    "]}\n");
}
END_TEST

START_TEST(nothing_happened)
{
	ck_assert_str_eq(printed(), "");
}
END_TEST

START_TEST(nothing_happened_in_json)
{
	report.json = true;
	ck_assert_str_eq(printed(), "{\"pid\": 42, \"locks\": [\n]}\n");
}
END_TEST

FX_MAIN("locks", setup, teardown, a_line_for_each_lock_and_caller,
    the_librarys_frames_are_left_out, the_most_time_comes_first,
    stacks_stand_below, distributions, other_processes_are_named, json,
    nothing_happened, nothing_happened_in_json)
