/*
 * inject/stubs.c in a target of byte arrays: tracepoints, and code for them.
 */
#ifndef T_UNIT_STUBS_FIXTURE_H
#define T_UNIT_STUBS_FIXTURE_H

#include <check.h>
#include <errno.h>
#include <string.h>

#include "dlang/base/base.h"
#include "inject/resume.h"
#include "inject/slot.h"
#include "inject/tracepoint_impl.h"
#include "inject/trapset.h"
#include "t/fake/target.h"
#include "t/unit/suite.h"

#define TEXT      UINT64_C(0x7f0000000000)
#define TEXT_SIZE (4 * 4096)

static struct fake_target ft;
static struct tptable *tab;

/* Of the sites that follow; NULL: they have none. */
static const struct stub_body *body;
static const uint8_t some_code[] = { 0x90, 0x90, 0xc3, 0x90, 0xc3 };
static const struct stub_body some_body = { .row = TEXT + 0x40,
	.number = 1,
	.code = some_code,
	.size = sizeof(some_code),
	.exits = { 2, 4 },
	.saves = 1U << UREG_RBX | 1U << UREG_RDX };
static bool goroutine;

static void
setup(void)
{
	fake_target_init(&ft);
	body = NULL;
	goroutine = false;
	struct fake_region *r = fake_target_map(&ft, TEXT, TEXT_SIZE);
	memset(r->bytes, 0x55, TEXT_SIZE); /* push rbp, over and over */
	tab = tptable_create(&ft.target);
	ck_assert_int_eq(trapset_map(tptable_traps(tab), TEXT), 0);
}

static void
teardown(void)
{
	tptable_destroy(tab);
	fake_target_fini(&ft);
}

static const struct stub_world world = { .hit = TEXT,
	.lanes = TEXT,
	.span = 4096,
	.alive = TEXT,
	.mine = TEXT,
	.owner = 1 };

/* A tracepoint at addr, and its code; its window has the `before' instructions
 * before it. */
static int
try_site(
    uint64_t addr, unsigned before, struct tracepoint **out, const char **why)
{
	uint64_t start = addr - before;
	struct window w = { .n = 5,
		.next = start + 5,
		.site = before,
		.goroutine = goroutine };

	ck_assert_int_eq(tracepoint_get(tab, addr, 7, out, why), 0);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	for (unsigned i = 0; i < w.n; i++)
		ck_assert_int_eq(insn_decode((const uint8_t *)"\x55", 1,
				     start + i, &w.insn[i]),
		    0);
	return tracepoint_stub(tab, *out, &world, body, &w, why);
}

static struct tracepoint *
site_behind(uint64_t addr, unsigned before)
{
	struct tracepoint *tp;
	const char *why = "";

	ck_assert_msg(try_site(addr, before, &tp, &why) == 0, "%s", why);
	ck_assert_int_eq(stubs_flush(tab), 0);
	return tp;
}

static struct tracepoint *
site(uint64_t addr)
{
	return site_behind(addr, 0);
}

#endif
