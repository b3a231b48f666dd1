/*
 * inject/stubs.c: code of sites in two pieces, and what sites share.
 */
#include "t/unit/stubs_fixture.h"

#define STACK (TEXT + 0x4000000)

/* What threads execute all the time lies together, in as few cache lines as its size
 * allows, and what they share is there once. */
START_TEST(pieces_lie_apart)
{
	struct tracepoint *tp[40];
	uint64_t lo = UINT64_MAX, hi = 0, room = 0;

	body = &some_body;
	for (unsigned i = 0; i < 40; i++) {
		tp[i] = site_behind(TEXT + 0x10 + 0x30 * i, i % 5);
		const struct stub *s = &entry_of(tp[i])->stub;
		uint64_t last = s->addr + s->first_size - 1U;
		ck_assert_uint_eq(
		    last / 64 - s->addr / 64, (s->first_size - 1U) / 64);
		lo = MIN(lo, s->addr);
		hi = MAX(hi, last);
		room += ROUND_UP(s->first_size, 64U);
	}
	ck_assert_uint_eq(tab->runs.len, 1);
	/* Some places are such that a jump there would have an int3. */
	ck_assert_uint_le(hi - lo, room + 256);
	for (unsigned i = 0; i < 40; i++) {
		uint64_t addr[2];
		size_t size[2];
		ck_assert_uint_eq(tracepoint_stub_pieces(tp[i], addr, size), 2);
		ck_assert_uint_eq(addr[0], tracepoint_stub_at(tp[i]));
		ck_assert(addr[1] + size[1] < lo || addr[1] > hi);
		ck_assert_uint_eq(
		    size[0] + size[1], entry_of(tp[i])->stub.size);
	}
	/* Another body, and one that does not fit. */
	struct stub_body other = some_body;
	body = &other;
	other.number = 2;
	site(TEXT + 0x1800);
	ck_assert_uint_eq(tab->runs.len, 2);
	static const uint8_t large[SLOT_MEMORY / 4];
	other.code = large;
	other.size = sizeof(large);
	other.number = 3;
	struct tracepoint *without = site(TEXT + 0x1900);
	ck_assert_uint_eq(entry_of(without)->stub.rare, 0);
	ck_assert_uint_eq(tab->runs.len, 2);
	body = &some_body;
	/* A goroutine has another way to find its lane. */
	goroutine = true;
	site(TEXT + 0x2000);
	ck_assert_uint_eq(tab->runs.len, 3);
	ck_assert(tab->runs.at[0].goroutine != tab->runs.at[2].goroutine);
	/* A site without a body has one piece, elsewhere. */
	body = NULL;
	uint64_t alone = tracepoint_stub_at(site(TEXT + 0x2100));
	ck_assert(alone < lo || alone > hi);
}
END_TEST

/* The word at the stack pointer says whose site it is. */
START_TEST(a_thread_in_shared_code_is_at_its_site)
{
	struct fake_region *r = fake_target_map(&ft, STACK, 4096);
	struct tracepoint *tp[2], *found = NULL;

	body = &some_body;
	for (unsigned i = 0; i < 2; i++)
		tp[i] = site(TEXT + 0x10 + 0x30 * i);
	const struct stub_run run = tab->runs.at[0];
	/* rdx, rbx, rcx, the flags and rax are pushed. */
	const uint64_t saved[] = { 3, 4, 2, 0xff << 8 | 1, 1 };
	memcpy(r->bytes + 0x108, saved, sizeof(saved));
	for (unsigned at = 0; at < run.size; at++)
		for (unsigned i = 0; i < 2; i++) {
			const struct stub *s = &entry_of(tp[i])->stub;
			uint64_t back = stub_address(s, s->back);
			struct uregs regs = { .r = { [UREG_PC] = run.addr + at,
						  [UREG_SP] = STACK + 0x100,
						  [UREG_RAX] = 77 } };
			const struct uregs was = regs;
			memcpy(r->bytes + 0x100, &back, sizeof(back));
			ck_assert(resume_stub_shared(tab, run.addr + at));
			ck_assert_uint_eq(
			    resume_stub_pc(tab, run.addr + at, STACK + 0x100),
			    back);
			ck_assert_ptr_eq(resume_stub_at(tab, back), tp[i]);
			found = NULL;
			bool fires = at >= run.busy && at != run.busy + 2U &&
			    at != run.busy + 4U;
			ck_assert_int_eq(resume_leave_stub(tab, &regs, &found),
			    fires ? SLOT_FIRING : SLOT_ENTERED);
			ck_assert(fires || found == tp[i]);
			ck_assert_int_eq(resume_stub_faults(tab, run.addr + at),
			    at == run.finds[0] || at == run.finds[1]);
			if (fires) {
				ck_assert_mem_eq(&regs, &was, sizeof(regs));
				continue;
			}
			ck_assert_uint_eq(regs.r[UREG_PC], tp[i]->addr);
			ck_assert_uint_eq(
			    regs.r[UREG_SP], STACK + 0x108 + 40 + 128);
			ck_assert_uint_eq(regs.r[UREG_RAX], 1);
			ck_assert_uint_eq(regs.r[UREG_RCX], 2);
			ck_assert_uint_eq(regs.r[UREG_RDX], 4);
			ck_assert_uint_eq(regs.r[UREG_RBX], 3);
			ck_assert_uint_eq(regs.r[UREG_RFLAGS] & 0x8d5, 0x8d5);
		}
	ck_assert(!resume_stub_shared(tab, run.addr + run.size));
	/* A word that leads elsewhere in the code is no return address. */
	uint64_t word = tracepoint_stub_at(tp[0]);
	memcpy(r->bytes + 0x108, &word, sizeof(word));
	/* Nobody's, and none that can be read. */
	struct uregs regs = {
		.r = { [UREG_PC] = run.addr, [UREG_SP] = STACK + 0x108 }
	};
	ck_assert_int_eq(resume_leave_stub(tab, &regs, &found), SLOT_OUTSIDE);
	regs.r[UREG_SP] = 0;
	ck_assert_int_eq(resume_leave_stub(tab, &regs, &found), SLOT_OUTSIDE);
	ck_assert_int_eq(resume_leave_slot(tab, &regs, &found), SLOT_OUTSIDE);
	ck_assert_uint_eq(resume_text_pc(tab, run.addr), run.addr);
	ck_assert_ptr_null(resume_stub_at(tab, run.addr));
	ck_assert(!stubs_trap(tab, run.addr));
	ck_assert_uint_eq(resume_stub_pc(tab, TEXT, STACK + 0x100), TEXT);
}
END_TEST

/* Both pieces, and what is shared, are on the list of memory; nothing is kept if one
 * of them has no room; and what is released is forgotten. */
START_TEST(both_pieces_come_and_go)
{
	struct trap_area *area;
	const struct trap_entry *e;
	struct tracepoint *tp;
	const char *why = "";
	unsigned found = 0;

	body = &some_body;
	tp = site(TEXT + 0x10);
	const struct stub s = entry_of(tp)->stub;
	const uint64_t at[] = { s.addr, s.rare, tab->runs.at[0].addr };
	area = (void *)fake_target_at(&ft, trapset_area(tptable_traps(tab)));
	e = (const void *)((const uint8_t *)area + area->first);
	for (unsigned i = 0; i < area->count; i++)
		for (unsigned k = 0; k < ARRAY_SIZE(at); k++)
			found += e[i].kind == TRAP_SLOTS &&
			    at[k] - e[i].addr < e[i].size;
	ck_assert_uint_eq(found, ARRAY_SIZE(at));
	/* A copy of the memory has no code of ours; it may get some. */
	struct tptable *copy = tptable_fork(tab, &ft.target);
	ck_assert_ptr_null(resume_stub_at(copy, s.addr));
	ck_assert_uint_eq(copy->runs.len, 0);
	tptable_destroy(copy);
	/* There is no memory for more than one piece. */
	unsigned n = 0;
	ft.map_error = -ENOMEM;
	for (uint64_t to = TEXT + 0x40; n < 2; to += 8) {
		int r = try_site(to, 0, &tp, &why);
		ck_assert(r == 0 || r == -ENOMEM);
		n += r != 0;
		if (r == 0)
			continue;
		ck_assert_str_eq(why, "no room within reach");
		ck_assert_uint_eq(tracepoint_stub_at(tp), 0);
		body = NULL; /* next, no room for one of one piece */
		ck_assert_uint_lt(to, TEXT + TEXT_SIZE);
	}
	ft.map_error = 0;
	tracepoint_restore_all(tab);
	for (tp = NULL; (tp = tracepoint_next(tab, tp)) != NULL;)
		entry_of(tp)->tp.slot = 0;
	ft.threads = 0;
	tptable_release_slots(tab);
	ck_assert_uint_eq(tab->runs.len, 0);
	ck_assert_ptr_null(resume_stub_at(tab, s.addr));
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { pieces_lie_apart,
		a_thread_in_shared_code_is_at_its_site,
		both_pieces_come_and_go };

	return suite_run(
	    "stubs_pieces", setup, teardown, tests, ARRAY_SIZE(tests));
}
