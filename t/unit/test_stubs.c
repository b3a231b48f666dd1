/*
 * inject/stubs.c: code of sites in a target of byte arrays, where it traps, and
 * that it traps no more when it is silenced.
 */
#include "t/unit/stubs_fixture.h"

static uint8_t
byte(uint64_t at)
{
	return *fake_target_at(&ft, at);
}

static void
traps_at_three_places(struct tracepoint *tp)
{
	const struct stub *s = &entry_of(tp)->stub;
	struct tracepoint *found = NULL;
	unsigned traps = 0;

	for (unsigned at = 0; at < s->size; at++)
		if (stubs_trap(tab, stub_address(s, at))) {
			ck_assert(at == s->trap || at == s->asked ||
			    at == s->called_trap);
			ck_assert_uint_eq(byte(stub_address(s, at)), 0xcc);
			traps++;
		}
	ck_assert_uint_eq(traps, 3);
	ck_assert(!stubs_trap(tab, s->addr + s->first_size));
	ck_assert_ptr_eq(resume_stub_asks(tab, stub_address(s, s->asked)), tp);
	ck_assert_ptr_null(resume_stub_asks(tab, stub_address(s, s->trap)));
	ck_assert(resume_stub_trap(tab, stub_address(s, s->trap), &found));
	ck_assert_ptr_eq(found, tp);
	found = NULL;
	ck_assert(
	    resume_stub_trap(tab, stub_address(s, s->called_trap), &found));
	ck_assert_ptr_eq(found, tp);
	ck_assert(!resume_stub_trap(tab, stub_address(s, s->asked), &found));
	ck_assert_ptr_eq(resume_stub_at(tab, s->addr), tp);
	ck_assert_ptr_eq(
	    resume_stub_at(tab, stub_address(s, s->size - 1U)), tp);
	ck_assert_ptr_null(
	    resume_stub_at(tab, stub_address(s, s->size - 1U) + 1));
	ck_assert(resume_stub_faults(tab, stub_address(s, s->finds[0])));
	ck_assert(resume_stub_faults(tab, stub_address(s, s->finds[1])));
	ck_assert(!resume_stub_faults(tab, stub_address(s, s->trap)));
}

START_TEST(code_of_sites_traps_at_three_places)
{
	struct tracepoint *tp[4];

	for (unsigned i = 0; i < 4; i++) {
		body = i < 2 ? NULL : &some_body;
		tp[i] = site(TEXT + 0x10 + 0x30 * i);
	}
	for (unsigned i = 0; i < 4; i++)
		traps_at_three_places(tp[i]);
	ck_assert(!stubs_trap(tab, TEXT + 0x10));
}
END_TEST

START_TEST(code_that_is_silenced_traps_no_more)
{
	struct tracepoint *tp[2];

	for (unsigned i = 0; i < 2; i++) {
		body = i == 0 ? NULL : &some_body;
		tp[i] = site(TEXT + 0x10 + 0x30 * i);
	}
	stubs_silence(tab);
	for (unsigned i = 0; i < 2; i++) {
		const struct stub *s = &entry_of(tp[i])->stub;
		ck_assert_uint_eq(byte(stub_address(s, s->trap)), 0x90);
		ck_assert_uint_eq(byte(stub_address(s, s->called_trap)), 0x90);
		ck_assert_uint_eq(byte(stub_address(s, s->asked)), 0x90);
		ck_assert_uint_eq(byte(stub_address(s, s->asked + 1U)), 0xc3);
	}
}
END_TEST

/* Sites on three pages, of which one has changed and one has another tracepoint
 * too near: the others get their jumps, by one write of the list and few of
 * text. */
START_TEST(sites_get_their_jumps_together)
{
	struct tracepoint *tp[40];
	unsigned n = 0;

	for (uint64_t at = 0x20; n < 38; at += 0x140)
		tp[n++] = site(TEXT + at);
	tp[n++] = site(TEXT + 0x3000 - 16);
	*fake_target_at(&ft, tp[5]->addr) = 0x90;
	site(tp[7]->addr + 3);
	unsigned long writes = ft.writes;
	tracepoints_jump(tab, tp, n);
	ck_assert_uint_le(ft.writes - writes, 3);
	for (unsigned i = 0; i < n; i++) {
		const struct stub *s = &entry_of(tp[i])->stub;
		uint64_t addr = tp[i]->addr;
		int32_t far;

		ck_assert_int_eq(tp[i]->jumps, i != 5 && i != 7);
		if (!tp[i]->jumps) {
			ck_assert_uint_eq(byte(addr), i == 5 ? 0x90 : 0xcc);
			ck_assert_uint_eq(byte(addr + 1), 0x55);
			continue;
		}
		ck_assert_uint_eq(byte(addr), 0xe9);
		memcpy(&far, fake_target_at(&ft, addr + 1), sizeof(far));
		ck_assert_uint_eq(addr + 5 + (uint64_t)(int64_t)far, s->addr);
		ck_assert_uint_eq(byte(addr + 5), 0x55);
	}
	/* None can be written. */
	tracepoint_lower_all(tab, 0, UINT64_MAX);
	ft.fail_write = 1;
	tracepoints_jump(tab, tp, 1);
	ck_assert(!tp[0]->jumps);
	ck_assert_uint_eq(byte(tp[0]->addr), 0xcc);
	tracepoints_jump(tab, tp, 0);
}
END_TEST

START_TEST(a_jump_may_lead_to_code_that_begins_before_the_site)
{
	struct tracepoint *tp[5];

	for (unsigned i = 0; i < 5; i++) {
		tp[i] = site_behind(TEXT + 0x40 + 0x20 * i, i);
		ck_assert_uint_eq(tp[i]->before, i);
	}
	tracepoints_jump(tab, tp, 5);
	for (unsigned i = 0; i < 5; i++) {
		const struct stub *s = &entry_of(tp[i])->stub;
		uint64_t start = tp[i]->addr - i, fault = 0;
		struct uregs regs = { .r[UREG_PC] = tp[i]->addr };
		const uint64_t *leads;

		ck_assert(tp[i]->jumps);
		ck_assert_uint_eq(byte(start), 0xe9);
		ck_assert_uint_eq(byte(start + 5), 0x55);
		/* From the site on, as from an int3. */
		ck_assert_int_eq(resume_from(tab, tp[i], &regs, &fault), 0);
		ck_assert_uint_eq(
		    regs.r[UREG_PC], s->addr + s->displaced[s->first]);
		ck_assert_uint_eq(
		    resume_text_pc(tab, regs.r[UREG_PC]), tp[i]->addr);
		/* All that a thread in it may come to. */
		ck_assert_uint_eq(
		    resume_stub_leads(tab, s->addr + 1, &leads), 6);
		for (unsigned k = 0; k < 6; k++)
			ck_assert_uint_eq(leads[k], start + k);
		/* Before the site the thread is elsewhere, and the jump has to
		 * go. */
		for (unsigned k = 0; k < i; k++) {
			struct tracepoint *found = NULL;
			regs.r[UREG_PC] = s->addr + k;
			ck_assert_int_eq(
			    resume_leave_stub(tab, &regs, &found), SLOT_AFTER);
			ck_assert_ptr_eq(found, tp[i]);
			ck_assert_uint_eq(regs.r[UREG_PC], start + k);
		}
	}
	ck_assert_uint_eq(
	    resume_stub_leads(tab, TEXT, &(const uint64_t *){ NULL }), 0);
}
END_TEST

/* Once it had a jump, its code begins where that began. */
START_TEST(other_code_is_not_made)
{
	struct tracepoint *tp = site_behind(TEXT + 0x40, 2);
	struct window w = { .n = 5, .next = tp->addr + 3, .site = 2 };
	const char *why = NULL;

	for (unsigned i = 0; i < w.n; i++)
		insn_decode(
		    (const uint8_t *)"\x55", 1, tp->addr - 2 + i, &w.insn[i]);
	ck_assert_int_eq(tracepoint_stub(tab, tp, &world, NULL, &w, &why), 0);
	w.site = 1;
	ck_assert_int_eq(
	    tracepoint_stub(tab, tp, &world, NULL, &w, &why), -EINVAL);
	ck_assert_str_eq(why, "other code was there before");
	tracepoints_jump(tab, &tp, 1);
	ck_assert(tp->jumps);
	/* The memory of its code has gone. */
	entry_of(tp)->stub.addr = 0;
	w.insn[0].addr++;
	ck_assert_int_eq(
	    tracepoint_stub(tab, tp, &world, NULL, &w, &why), -EINVAL);
}
END_TEST

/* Wherever the next code would be such that its jump had the byte of an int3,
 * another place is taken. */
START_TEST(code_is_where_a_jump_without_an_int3_leads)
{
	const struct tracepoint *first = site(TEXT + 0x40);
	uint64_t next = entry_of((struct tracepoint *)first)->stub.addr;
	uint64_t room =
	    slot_room(entry_of((struct tracepoint *)first)->stub.size);
	uint8_t jump[TRAP_JUMP_LEN];

	/* The first place would be next + room. */
	for (uint64_t at = TEXT + 0x100; at < TEXT + 0x200; at++) {
		if (jump_write(at, next + room, jump))
			continue;
		ck_assert_ptr_nonnull(memchr(jump, 0xcc, sizeof(jump)));
		struct tracepoint *tp = site(at);
		tracepoints_jump(tab, &tp, 1);
		ck_assert(tp->jumps);
		ck_assert_ptr_null(
		    memchr(fake_target_at(&ft, at), 0xcc, TRAP_JUMP_LEN));
		return;
	}
	ck_abort_msg("no such place");
}
END_TEST

/* The next tracer would not know that a jump into the tail of a text segment is
 * ours. */
START_TEST(code_is_in_memory_of_our_own)
{
	struct fake_region *r = fake_target_map(&ft, TEXT + 0x100000, 4096);
	struct tracepoint *tp;
	const char *why = "";

	r->cave = true;
	r->cave_at = r->start;
	ft.map_error = -ENOMEM;
	/* The slot may be there. */
	ck_assert_int_eq(try_site(TEXT + 0x40, 0, &tp, &why), -ENOMEM);
	ck_assert_uint_eq(tp->slot - r->start < r->size, 1);
	ck_assert_str_eq(why, "no room within reach");
	ft.map_error = 0;
}
END_TEST

/* ---- boards ---- */

/* A tracepoint with a window of two instructions, the second of which it is if
 * `before' is 1, and a board. */
static int
try_board(uint64_t addr, unsigned before, uint64_t board,
    struct tracepoint **tp, const char **why)
{
	struct window w = { .n = 2,
		.next = addr - before + 2,
		.site = before,
		.board = board };

	if (*tp == NULL)
		ck_assert_int_eq(tracepoint_get(tab, addr, 7, tp, why), 0);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	for (unsigned i = 0; i < w.n; i++)
		ck_assert_int_eq(insn_decode((const uint8_t *)"\x55", 1,
				     addr - before + i, &w.insn[i]),
		    0);
	int r = tracepoint_stub(tab, *tp, &world, NULL, &w, why);
	return r == 0 ? stubs_flush(tab) : r;
}

static struct tracepoint *
boarding(uint64_t addr, unsigned before, uint64_t board)
{
	struct tracepoint *tp = NULL;
	const char *why = "";

	ck_assert_msg(
	    try_board(addr, before, board, &tp, &why) == 0, "%s", why);
	return tp;
}

/* Is `n' bytes of the program at addr, and nothing else around them? */
static void
is_own(uint64_t addr, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(byte(addr + i), 0x55);
}

/* To what does the jump at addr lead? */
static uint64_t
led_to(struct fake_target *t, uint64_t addr)
{
	const uint8_t *at = fake_target_at(t, addr);
	int32_t far;

	if (at[0] == TRAP_SHORT)
		return addr + 2 + (uint64_t)(int64_t)(int8_t)at[1];
	ck_assert_uint_eq(at[0], TRAP_JUMP);
	memcpy(&far, at + 1, sizeof(far));
	return addr + 5 + (uint64_t)(int64_t)far;
}

/* What readers see. */
static void
sees_none(uint64_t addr, size_t len)
{
	uint8_t buf[256];

	ck_assert_uint_le(len, sizeof(buf));
	ck_assert_int_eq(ft.target.ops->read(&ft.target, addr, buf, len), 0);
	tracepoint_overlay(tab, addr, buf, len);
	for (size_t i = 0; i < len; i++)
		ck_assert_uint_eq(buf[i], 0x55);
}

START_TEST(a_short_jump_leads_to_a_board)
{
	for (unsigned before = 0; before < 2; before++)
		for (int way = -1; way <= 1; way += 2) {
			uint64_t at = TEXT + 0x200 + 0x400 * before +
			    (way > 0 ? 0x200 : 0);
			uint64_t board = at + (uint64_t)(int64_t)(way * 0x60);
			struct tracepoint *tp = boarding(at, before, board);
			uint64_t start = at - before;
			is_own(board, 5);
			tracepoints_jump(tab, &tp, 1);
			ck_assert(tp->jumps);
			ck_assert_uint_eq(led_to(&ft, start), board);
			ck_assert_uint_eq(
			    led_to(&ft, board), tracepoint_stub_at(tp));
			is_own(start + 2, 3);
			is_own(board - 5, 5);
			is_own(board + 5, 5);
			sees_none(MIN(board, start) - 8, 0x80);
			sees_none(start, 5);
			sees_none(board + 1, 5);
			/* The board stays. */
			ck_assert_int_eq(tracepoint_lower(tab, tp), 0);
			ck_assert_uint_eq(byte(at), TRAP_INSN);
			is_own(start, before);
			is_own(at + 1, 5);
			ck_assert_uint_eq(byte(board), TRAP_JUMP);
			sees_none(board, 5);
			tracepoints_jump(tab, &tp, 1);
			ck_assert(tp->jumps);
		}
	ck_assert_uint_eq(tracepoint_restore_all(tab), 0);
	ck_assert_uint_eq(led_to(&ft, TEXT + 0x200 - 0x60) != 0, 1);
	tracepoint_restore_boards(tab);
	is_own(TEXT, TEXT_SIZE);
}
END_TEST

START_TEST(a_thread_at_a_board_is_at_the_begin_of_the_window)
{
	for (unsigned before = 0; before < 2; before++) {
		uint64_t at = TEXT + 0x200 + 0x400 * before;
		uint64_t board = at + 0x40;
		struct tracepoint *tp = boarding(at, before, board);
		struct tracepoint *found = NULL;
		struct uregs regs = { .r = { [UREG_PC] = board } };
		const uint64_t *leads;

		ck_assert_ptr_null(resume_stub_at(tab, board));
		tracepoints_jump(tab, &tp, 1);
		ck_assert_ptr_eq(resume_stub_at(tab, board), tp);
		ck_assert_ptr_null(resume_stub_at(tab, board + 1));
		ck_assert_uint_eq(resume_text_pc(tab, board), at - before);
		ck_assert_uint_eq(resume_stub_leads(tab, board, &leads), 3);
		ck_assert(!resume_stub_trap(tab, board, &found));
		ck_assert(!resume_stub_faults(tab, board));
		ck_assert(!stubs_trap(tab, board));
		ck_assert_int_eq(resume_leave_stub(tab, &regs, &found),
		    before == 0 ? SLOT_ENTERED : SLOT_AFTER);
		ck_assert_ptr_eq(found, tp);
		ck_assert_uint_eq(regs.r[UREG_PC], at - before);
		/* Its board is not taken away from it. */
		tracepoint_restore_all(tab);
		ft.threads = 1;
		ft.pc[0] = FAKE_ANYWHERE;
		tracepoint_restore_boards(tab);
		ck_assert_uint_eq(byte(board), TRAP_JUMP);
		ft.pc[0] = board;
		tracepoint_restore_boards(tab);
		ck_assert_uint_eq(byte(board), TRAP_JUMP);
		ft.pc[0] = TEXT;
		tracepoint_restore_boards(tab);
		is_own(board, 5);
	}
}
END_TEST

START_TEST(bytes_of_a_board_are_used_once)
{
	struct tracepoint *tp = boarding(TEXT + 0x100, 0, TEXT + 0x140);
	struct tracepoint *late, *other;
	const char *why = "";

	tracepoints_jump(tab, &tp, 1);
	ck_assert(tp->jumps);
	/* No int3, no jump and no board. */
	for (uint64_t at = 0; at < 5; at++)
		ck_assert_int_eq(
		    tracepoint_get(tab, TEXT + 0x140 + at, 7, &other, &why),
		    -EOPNOTSUPP);
	ck_assert_str_eq(why, "the padding there is in use");
	late = site(TEXT + 0x13c);
	tracepoints_jump(tab, &late, 1);
	ck_assert(!late->jumps);
	late = boarding(TEXT + 0x160, 0, TEXT + 0x144);
	tracepoints_jump(tab, &late, 1);
	ck_assert(!late->jumps);
	/* The other way round: a jump, in the same pass and before; an int3. */
	struct tracepoint *both[2] = { site(TEXT + 0x200),
		boarding(TEXT + 0x230, 0, TEXT + 0x204) };
	tracepoints_jump(tab, both, 2);
	ck_assert(both[0]->jumps && !both[1]->jumps);
	tracepoints_jump(tab, &both[1], 1);
	ck_assert(!both[1]->jumps);
	tracepoint_lower(tab, both[0]);
	tracepoints_jump(tab, &both[1], 1);
	ck_assert(both[1]->jumps);
	tracepoints_jump(tab, &both[0], 1);
	ck_assert(!both[0]->jumps);
	site(TEXT + 0x304);
	late = boarding(TEXT + 0x320, 0, TEXT + 0x300);
	tracepoints_jump(tab, &late, 1);
	ck_assert(!late->jumps);
	/* Two at the same time. */
	both[0] = boarding(TEXT + 0x400, 0, TEXT + 0x440);
	both[1] = boarding(TEXT + 0x420, 0, TEXT + 0x443);
	tracepoints_jump(tab, both, 2);
	ck_assert(both[0]->jumps && !both[1]->jumps);
	/* Not in another page, too far, or with the byte of an int3. */
	late = boarding(TEXT + 0xff0, 0, TEXT + 0x1010);
	tracepoints_jump(tab, &late, 1);
	ck_assert(!late->jumps);
	ck_assert(tracepoint_can_board(TEXT, TEXT + 0x81));
	ck_assert(!tracepoint_can_board(TEXT, TEXT + 0x82));
	ck_assert(tracepoint_can_board(TEXT + 0x7e, TEXT));
	ck_assert(!tracepoint_can_board(TEXT + 0x7f, TEXT));
	ck_assert(!tracepoint_can_board(TEXT + 0x40, TEXT + 0x40 + 2 - 0x34));
}
END_TEST

START_TEST(the_list_has_a_board_before_it_is_written)
{
	struct tracepoint *tp = boarding(TEXT + 0x100, 1, TEXT + 0x140);
	struct tracepoint *late = boarding(TEXT + 0x200, 0, TEXT + 0x240);
	struct trap_area *area;
	const struct trap_entry *e;
	unsigned found = 0;

	tracepoints_jump(tab, &tp, 1);
	area = (void *)fake_target_at(&ft, trapset_area(tptable_traps(tab)));
	e = (const void *)((const uint8_t *)area + area->first);
	for (unsigned i = 0; i < area->count; i++) {
		if (e[i].kind != TRAP_BOARD)
			continue;
		found++;
		ck_assert_uint_eq(e[i].addr, TEXT + 0x140);
		ck_assert_uint_eq(e[i].saved, 0x55);
		ck_assert_uint_eq(e[i].size, 0x55555555);
		ck_assert_uint_eq(trap_board_from(&e[i]), TEXT + 0xff);
	}
	ck_assert_uint_eq(found, 1);
	/* Without the list it is not written. */
	ft.fail_write = 1;
	tracepoints_jump(tab, &late, 1);
	ck_assert(!late->jumps);
	is_own(TEXT + 0x240, 5);
}
END_TEST

START_TEST(a_copy_has_the_board_of_its_memory)
{
	struct tracepoint *tp = boarding(TEXT + 0x100, 0, TEXT + 0x140);
	const char *why = "";

	for (unsigned there = 0; there < 2; there++) {
		struct fake_target child;
		fake_target_init(&child);
		struct fake_region *r =
		    fake_target_map(&child, TEXT, TEXT_SIZE);
		memcpy(r->bytes, fake_target_at(&ft, TEXT), TEXT_SIZE);
		tracepoints_jump(tab, &tp, 1);
		ck_assert(tp->jumps);
		struct tptable *copy = tptable_fork(tab, &child.target);
		struct tracepoint *ctp = tracepoint_lookup(copy, tp->addr);
		ck_assert(ctp->jumps == there);
		ck_assert_ptr_null(resume_stub_at(copy, TEXT + 0x140));
		tracepoint_lower_all(copy, 0, UINT64_MAX);
		ck_assert_uint_eq(tracepoint_restore_all(copy), 0);
		tracepoint_restore_boards(copy);
		for (unsigned i = 0; i < TEXT_SIZE; i++)
			ck_assert_uint_eq(
			    *fake_target_at(&child, TEXT + i), 0x55);
		tptable_destroy(copy);
		fake_target_fini(&child);
	}
	/* Bytes of a copy without a table. */
	uint8_t copy[TRACEPOINT_SPAN];
	memcpy(copy, fake_target_at(&ft, tp->addr), sizeof(copy));
	ck_assert_uint_eq(tracepoint_undo(tp, copy), 2);
	for (unsigned i = 0; i < sizeof(copy); i++)
		ck_assert_uint_eq(copy[i], 0x55);
	/* It has no other board. */
	ck_assert_int_eq(
	    try_board(tp->addr, 0, TEXT + 0x148, &tp, &why), -EINVAL);
}
END_TEST

START_TEST(what_is_unmapped_takes_the_board_along)
{
	struct tracepoint *tp = boarding(TEXT + 0x100, 0, TEXT + 0x140);

	tracepoints_jump(tab, &tp, 1);
	tracepoint_forget(tab, TEXT, TEXT + 4096);
	ck_assert_ptr_null(resume_stub_at(tab, TEXT + 0x140));
	memset(fake_target_at(&ft, TEXT), 0x90, 4096);
	ck_assert_uint_eq(tracepoint_restore_all(tab), 0);
	tracepoint_restore_boards(tab);
	for (unsigned i = 0; i < 4096; i++)
		ck_assert_uint_eq(byte(TEXT + i), 0x90);
	memset(fake_target_at(&ft, TEXT), 0x55, 4096);
	tp = boarding(TEXT + 0x100, 0, TEXT + 0x140);
	tracepoints_jump(tab, &tp, 1);
	ck_assert(tp->jumps);
	ck_assert_uint_eq(led_to(&ft, TEXT + 0x140), tracepoint_stub_at(tp));
}
END_TEST

/* ---- tracepoints that share a jump ---- */

/* Code for the tracepoint, whose window of n instructions begins at it, and leads to
 * that of the next one, or NULL. */
static void
lead(struct tracepoint *tp, unsigned n, const struct tracepoint *next)
{
	struct window w = { .n = n, .next = tp->addr + n };
	const char *why = "";

	for (unsigned i = 0; i < n; i++)
		ck_assert_int_eq(insn_decode((const uint8_t *)"\x55", 1,
				     tp->addr + i, &w.insn[i]),
		    0);
	w.onto = next != NULL ? tracepoint_stub_at(next) : 0;
	ck_assert_msg(
	    tracepoint_stub(tab, tp, &world, NULL, &w, &why) == 0, "%s", why);
}

/* Three at addr, two and seven bytes behind it. */
static void
sharing(uint64_t addr, struct tracepoint *tp[3])
{
	static const unsigned at[] = { 0, 2, 7 }, n[] = { 2, 5, 1 };
	const char *why = "";

	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(
		    tracepoint_get(tab, addr + at[i], 7 + i, &tp[i], &why), 0);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	for (unsigned i = 3; i-- > 0;)
		lead(tp[i], n[i], i < 2 ? tp[i + 1] : NULL);
	ck_assert_int_eq(stubs_flush(tab), 0);
}

/* The text from `at' on: letters are own bytes, int3s, and those of the jump; who
 * reads it sees the program's. */
static void
looks(struct tptable *t, struct fake_target *f, uint64_t at, const char *want)
{
	uint8_t seen[8];

	for (size_t i = 0; want[i] != '\0'; i++) {
		uint8_t b = *fake_target_at(f, at + i);
		char is = b == 0x55 ? 'o' : b == TRAP_INSN ? 'i' : 'j';
		ck_assert_msg(
		    is == want[i] || (want[i] == 'j' && b != TRAP_INSN),
		    "%zu: %c", i, is);
	}
	for (size_t len = 1; len <= sizeof(seen); len++) {
		f->target.ops->read(&f->target, at, seen, len);
		tracepoint_overlay(t, at, seen, len);
		for (size_t i = 0; i < len; i++)
			ck_assert_uint_eq(seen[i], 0x55);
	}
}

#define PLAIN  "ioiooooi"
#define SHARED "jjjjjooi"

static void
has_jump(struct tracepoint *const tp[3], bool jumps)
{
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(tp[i]->jumps, jumps);
		ck_assert_int_eq(tp[i]->rides, jumps && i > 0);
	}
	looks(tab, &ft, tp[0]->addr, jumps ? SHARED : PLAIN);
}

START_TEST(tracepoints_share_a_jump)
{
	struct tracepoint *tp[3];

	sharing(TEXT + 0x40, tp);
	has_jump(tp, false);
	/* It falls and rises with any of them. */
	for (unsigned i = 0; i < 3; i++) {
		tracepoints_jump(tab, tp, 1);
		has_jump(tp, true);
		tracepoints_jump(tab, &tp[i], 1); /* again */
		has_jump(tp, true);
		ck_assert_int_eq(tracepoint_lower(tab, tp[i]), 0);
		has_jump(tp, false);
		ck_assert_int_eq(tracepoint_lower(tab, tp[i]), 0);
	}
	tracepoints_jump(tab, tp, 1);
	tracepoint_lower_all(tab, 0, UINT64_MAX);
	has_jump(tp, false);
}
END_TEST

/* Any of them is not wanted any more: the others have their int3s. */
START_TEST(who_shares_a_jump_leaves_with_it)
{
	static const char *const left[] = { "ooiooooi", "iooooooi",
		"ioiooooo" };

	for (unsigned i = 0; i < 3; i++) {
		struct tracepoint *tp[3];
		uint64_t at = TEXT + 0x40 + 0x40 * i;
		sharing(at, tp);
		tracepoints_jump(tab, tp, 1);
		tracepoint_put(tab, tp[i]);
		ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
		looks(tab, &ft, at, left[i]);
		for (unsigned k = 0; k < 3; k++)
			ck_assert(!tp[k]->jumps && !tp[k]->rides);
		/* The code of the others leads to what is not there. */
		tracepoints_jump(tab, tp, 1);
		looks(tab, &ft, at, left[i]);
	}
	/* The whole table at once, which also is in order then. */
	ck_assert_uint_eq(tracepoint_restore_all(tab), 0);
	for (uint64_t at = TEXT; at < TEXT + 0x200; at++)
		ck_assert_uint_eq(byte(at), 0x55);
}
END_TEST

START_TEST(all_jumps_that_are_shared_are_restored)
{
	struct tracepoint *tp[5][3], *alone = site(TEXT + 0x400);

	for (unsigned i = 0; i < 5; i++) {
		sharing(TEXT + 0x40 + 0x700 * i, tp[i]);
		tracepoints_jump(tab, tp[i], 1);
		has_jump(tp[i], true);
	}
	tracepoints_jump(tab, &alone, 1);
	ck_assert_uint_eq(tracepoint_restore_all(tab), 0);
	for (uint64_t at = TEXT; at < TEXT + TEXT_SIZE; at++)
		ck_assert_uint_eq(byte(at), 0x55);
	for (unsigned i = 0; i < 15; i++)
		ck_assert(!tp[i / 3][i % 3]->jumps && !tp[i / 3][i % 3]->rides);
}
END_TEST

START_TEST(an_int3_comes_between_those_that_share_a_jump)
{
	/* Under the jump, and behind it. */
	for (unsigned at = 1; at < 7; at += 4) {
		struct tracepoint *tp[3], *more;
		const char *why = "";
		uint64_t start = TEXT + 0x40 * at;
		sharing(start, tp);
		tracepoints_jump(tab, tp, 1);
		ck_assert_int_eq(
		    tracepoint_get(tab, start + at, 10, &more, &why), 0);
		ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
		looks(tab, &ft, start, at == 1 ? "iiiooooi" : "ioiooioi");
		tracepoints_jump(tab, tp, 1);
		ck_assert(!tp[0]->jumps);
		/* Until it has gone. */
		tracepoint_put(tab, more);
		ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
		tracepoints_jump(tab, tp, 1);
		has_jump(tp, true);
	}
}
END_TEST

START_TEST(no_jump_is_shared_across_a_page_or_over_other_bytes)
{
	struct tracepoint *tp[3];

	sharing(TEXT + 4096 - 6, tp);
	tracepoints_jump(tab, tp, 1);
	has_jump(tp, false);
	/* Somebody else's byte, in place of any of the int3s. */
	sharing(TEXT + 0x40, tp);
	for (unsigned i = 0; i < 3; i++) {
		*fake_target_at(&ft, tp[i]->addr) = 0x90;
		tracepoints_jump(tab, tp, 1);
		ck_assert(!tp[0]->jumps && !tp[1]->jumps && !tp[2]->jumps);
		*fake_target_at(&ft, tp[i]->addr) = TRAP_INSN;
	}
	/* In the jump: none of them is restored, and that is told. */
	tracepoints_jump(tab, tp, 1);
	has_jump(tp, true);
	*fake_target_at(&ft, tp[0]->addr) = 0x90;
	ck_assert_int_eq(tracepoint_lower(tab, tp[1]), -EBUSY);
	tracepoint_put(tab, tp[0]);
	tracepoint_commit(tab, NULL, NULL);
	ck_assert_uint_eq(byte(tp[0]->addr), 0x90);
	ck_assert(!tp[0]->jumps && !tp[1]->jumps && !tp[1]->rides);
}
END_TEST

/* Whoever is in code for one of them, or comes from an int3. */
START_TEST(code_leads_to_that_of_who_shares_the_jump)
{
	struct tracepoint *tp[3], *found = NULL;
	struct uregs regs = { { 0 } };
	const uint64_t *leads;
	uint64_t fault;

	sharing(TEXT + 0x40, tp);
	tracepoints_jump(tab, tp, 1);
	for (unsigned i = 0; i < 3; i++) {
		const struct stub *s = &entry_of(tp[i])->stub;
		uint64_t next = i < 2 ? tracepoint_stub_at(tp[i + 1]) : 0;
		uint64_t end = s->addr + s->displaced[s->n];
		int32_t far;
		/* Where its own instructions end. */
		memcpy(&far, fake_target_at(&ft, end + 1), sizeof(far));
		uint64_t to = end + 5 + (uint64_t)(int64_t)far;
		ck_assert_uint_eq(to, i < 2 ? next : tp[2]->addr + 1);
		ck_assert_uint_eq(resume_stub_onto(tab, s->addr), next);
		ck_assert_uint_gt(resume_stub_leads(tab, s->addr, &leads), 0);
		ck_assert_uint_eq(leads[0], tp[i]->addr);
		ck_assert_uint_eq(
		    leads[s->n], i < 2 ? tp[i + 1]->addr : tp[2]->addr + 1);
		/* There the next one has not fired. */
		regs.r[UREG_PC] = end;
		ck_assert_int_eq(
		    resume_leave_stub(tab, &regs, &found), SLOT_AFTER);
		ck_assert_ptr_eq(found, tp[i]);
		ck_assert_uint_eq(
		    regs.r[UREG_PC], i < 2 ? tp[i + 1]->addr : tp[2]->addr + 1);
		/* Behind the int3 of the code, its bytes are only there. */
		regs.r[UREG_PC] = tp[i]->addr;
		ck_assert_int_eq(resume_from(tab, tp[i], &regs, &fault), 0);
		ck_assert_uint_eq(
		    regs.r[UREG_PC], s->addr + s->displaced[s->first]);
	}
	ck_assert_uint_eq(resume_stub_onto(tab, TEXT), 0);
}
END_TEST

/* A fork's child: its memory has the jump, or the int3s, whatever the table says. */
START_TEST(a_copy_has_what_its_memory_has)
{
	struct tracepoint *tp[3];

	sharing(TEXT + 0x40, tp);
	tracepoints_jump(tab, tp, 1);
	for (unsigned there = 0; there < 2; there++)
		for (unsigned known = 0; known < 2; known++) {
			struct fake_target child;
			fake_target_init(&child);
			struct fake_region *r =
			    fake_target_map(&child, TEXT, TEXT_SIZE);
			tracepoints_jump(tab, tp, there);
			if (!there)
				tracepoint_lower(tab, tp[0]);
			memcpy(r->bytes, fake_target_at(&ft, TEXT), TEXT_SIZE);
			tracepoints_jump(tab, tp, known);
			if (!known)
				tracepoint_lower(tab, tp[2]);
			has_jump(tp, known);
			struct tptable *copy = tptable_fork(tab, &child.target);
			looks(
			    copy, &child, TEXT + 0x40, there ? SHARED : PLAIN);
			tracepoint_lower_all(copy, 0, UINT64_MAX);
			looks(copy, &child, TEXT + 0x40, PLAIN);
			ck_assert_uint_eq(tracepoint_restore_all(copy), 0);
			looks(copy, &child, TEXT + 0x40, "oooooooo");
			tptable_destroy(copy);
			fake_target_fini(&child);
		}
}
END_TEST

/* Memory that has no table: by whichever is looked at first. */
START_TEST(bytes_of_a_shared_jump_are_undone)
{
	struct tracepoint *tp[3];

	sharing(TEXT + 0x40, tp);
	for (unsigned first = 0; first < 3; first++) {
		uint8_t copy[64];
		tracepoints_jump(tab, tp, 1);
		memcpy(copy, fake_target_at(&ft, TEXT + 0x40), sizeof(copy));
		for (unsigned i = 0; i < 3; i++) {
			const struct tracepoint *t = tp[(first + i) % 3];
			tracepoint_undo(t, copy + (t->addr - TEXT - 0x40));
		}
		for (unsigned i = 0; i < 10; i++)
			ck_assert_uint_eq(copy[i], 0x55);
	}
}
END_TEST

START_TEST(what_is_unmapped_takes_the_shared_jump_along)
{
	struct tracepoint *tp[3], *again[3];

	sharing(TEXT + 0x40, tp);
	tracepoints_jump(tab, tp, 1);
	tracepoint_forget(tab, TEXT, TEXT + 4096);
	ck_assert_uint_eq(tracepoint_restore_all(tab), 0);
	looks(tab, &ft, TEXT + 0x1040, "oooooooo");
	/* Something else is mapped there. */
	memset(fake_target_at(&ft, TEXT), 0x55, 4096);
	sharing(TEXT + 0x40, again);
	tracepoints_jump(tab, again, 1);
	has_jump(again, true);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { code_is_in_memory_of_our_own,
		a_short_jump_leads_to_a_board,
		a_thread_at_a_board_is_at_the_begin_of_the_window,
		bytes_of_a_board_are_used_once,
		the_list_has_a_board_before_it_is_written,
		a_copy_has_the_board_of_its_memory,
		what_is_unmapped_takes_the_board_along,
		a_jump_may_lead_to_code_that_begins_before_the_site,
		other_code_is_not_made,
		code_is_where_a_jump_without_an_int3_leads,
		code_of_sites_traps_at_three_places,

		code_that_is_silenced_traps_no_more,
		sites_get_their_jumps_together, tracepoints_share_a_jump,
		who_shares_a_jump_leaves_with_it,
		all_jumps_that_are_shared_are_restored,
		an_int3_comes_between_those_that_share_a_jump,
		no_jump_is_shared_across_a_page_or_over_other_bytes,
		code_leads_to_that_of_who_shares_the_jump,
		a_copy_has_what_its_memory_has,
		bytes_of_a_shared_jump_are_undone,
		what_is_unmapped_takes_the_shared_jump_along };

	return suite_run("stubs", setup, teardown, tests, ARRAY_SIZE(tests));
}
