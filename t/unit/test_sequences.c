/*
 * The restartable sequences of an object, as its section in memory has them.
 */
#include <check.h>
#include <errno.h>
#include <linux/rseq.h>
#include <string.h>

#include "symbols/addrspace.h"
#include "t/unit/suite.h"
#include "tracer/ptrace/super.h"

#define BIAS UINT64_C(0x500000000000)
#define AT   UINT64_C(0x4000) /* of the section, in the file */

static struct rseq_cs rows[3];
static uint64_t size = sizeof(rows);
static unsigned asked;
static int read_error;

static bool
double_section(const char *name, uint64_t *start, uint64_t *end)
{
	ck_assert_str_eq(name, "__rseq_cs");
	asked++;
	*start = AT;
	*end = AT + size;
	return size > 0;
}

static int
read_rows(void *ctx, uint64_t addr, void *buf, size_t len)
{
	uint64_t at = addr - BIAS - AT;

	ck_assert_uint_le(at + len, sizeof(rows));
	memcpy(buf, (char *)rows + at, len);
	return at == 0 ? read_error : 0;
}

#define object_section(o, name, start, end) double_section(name, start, end)
#include "tracer/sites/sequences.c"

static struct space space = { .mem = { .read = read_rows } };
static struct load loads[2] = { { .bias = BIAS }, { .bias = BIAS } };

static void
setup(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		rows[i] = (struct rseq_cs){
			.start_ip = BIAS + 0x1000 * (i + 1),
			.post_commit_offset = 0x10,
			.abort_ip = BIAS + 0x9000,
		};
}

START_TEST(their_bytes_are_known)
{
	static const struct {
		uint64_t start, end;
		bool within;
	} of[] = {
		{ 0xffb, 0x1000, false },  /* just before */
		{ 0xffc, 0x1001, true },   /* one byte of it */
		{ 0x1004, 0x1009, true },  /* within */
		{ 0x100f, 0x1014, true },  /* its last byte */
		{ 0x1010, 0x1015, false }, /* just behind */
		{ 0xff0, 0x1020, true },   /* all of it */
		{ 0x3008, 0x300d, true },  /* the last row's */
		{ 0x9000, 0x9005, false }, /* the abort handler is not in it */
	};
	struct sequences q = { 0 };

	for (unsigned i = 0; i < ARRAY_SIZE(of); i++)
		ck_assert_msg(
		    sequences_contain(&q, &space, &loads[0], BIAS + of[i].start,
			BIAS + of[i].end) == of[i].within,
		    "%u", i);
	ck_assert_uint_eq(asked, 1);
	sequences_end(&q);
}
END_TEST

START_TEST(each_object_has_its_own)
{
	struct sequences q = { 0 };

	ck_assert(sequences_contain(
	    &q, &space, &loads[0], BIAS + 0x1000, BIAS + 0x1005));
	size = 0;
	ck_assert(!sequences_contain(
	    &q, &space, &loads[1], BIAS + 0x1000, BIAS + 0x1005));
	/* Half a row at the end is none; one that cannot be read, neither. */
	size = sizeof(rows) - 8;
	read_error = -EFAULT;
	for (unsigned i = 1; i <= 3; i++)
		ck_assert(
		    sequences_contain(&q, &space, &loads[0], BIAS + 0x1000 * i,
			BIAS + 0x1000 * i + 5) == (i == 2));
	ck_assert_uint_eq(asked, 3);
	sequences_end(&q);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { their_bytes_are_known,
		each_object_has_its_own };

	return suite_run(
	    "restartable sequences", setup, NULL, tests, ARRAY_SIZE(tests));
}
