/*
 * Differential execution of the instructions of libc's own text: one of each
 * encoding that a walk over its text meets, with branches and
 * pc-relative operands turned to the rig's pages.  DTRAP_LONG=1 takes all of
 * them, otherwise every few.
 */
#include <check.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/base/hash.h"
#include "dlang/base/vec.h"
#include "t/reloc/rig.h"

#define HOME   UINT64_C(0x200000000000)
#define OFFSET 0x800U
#define DATA   0x102000 /* from home */

struct sample {
	uint8_t bytes[INSN_MAX_LEN];
	uint8_t len;
};

struct samples {
	VEC(struct sample) at;
	struct hash seen;
	unsigned long walked;
};

/* Instructions whose outcome is not a function of registers and memory. */
static bool
depends_on_the_moment(const struct insn *insn)
{
	static const uint16_t opcodes[] = { 0x131 /* rdtsc */,
		0x133 /* rdpmc */, 0x1c7 /* rdrand, rdseed */, 0x105,
		0x101 /* rdtscp, xgetbv, enclu ... */,
		0x9d /* popf may set the trap flag */,
		0x1ae /* xrstor and others of the whole state; the fsbase of
		       * a thread library */
		,
		0xcd };

	for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++)
		if (insn->opcode == opcodes[i])
			return true;
	return insn->refuse != NULL;
}

/* Turn what depends on the address to the rig's pages. */
static void
retarget(struct insn *insn)
{
	static const int32_t data = DATA;
	uint8_t *end = insn->bytes + insn->len;

	if (insn->rip_relative)
		memcpy(insn->bytes + insn->disp_at, &data, 4);
	switch (insn->kind) {
	case INSN_JMP:
	case INSN_CALL:
	case INSN_JCC:
		if (insn->len >= 5)
			memcpy(end - 4, &(int32_t){ 0x140 }, 4);
		else
			end[-1] &= 0x7f;
		break;
	case INSN_LOOP: end[-1] &= 0x7f; break;
	default: break;
	}
}

static void
add_sample(struct samples *s, const struct insn *from)
{
	struct insn insn = *from;

	s->walked++;
	if (depends_on_the_moment(&insn))
		return;
	retarget(&insn);
	/* Immediates and displacements do not make another encoding. */
	uint8_t key[INSN_MAX_LEN] = { 0 };
	unsigned head =
	    insn.modrm_at != 0 ? insn.modrm_at + 2U : insn.opcode_at + 3U;
	memcpy(key, insn.bytes, MIN(head, insn.len));
	uint64_t h = hash_bytes(key, sizeof(key)) + insn.len;
	if (hash_set(&s->seen, h, s) != NULL)
		return;
	struct sample *one = vec_push(&s->at);
	memcpy(one->bytes, insn.bytes, insn.len);
	one->len = insn.len;
}

/* Every instruction of libc's executable segment, in this process. */
static int
walk_libc(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct insn insn;

	if (strstr(info->dlpi_name, "libc.so") == NULL)
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		uint64_t start = info->dlpi_addr + ph->p_vaddr;
		const uint8_t *p = (const uint8_t *)(uintptr_t)start;
		for (size_t at = 0; at < ph->p_memsz;) {
			if (insn_decode(p + at, ph->p_memsz - at, start + at,
				&insn) != 0) {
				at++;
				continue;
			}
			add_sample(ctx, &insn);
			at += insn.len;
		}
	}
	return 1;
}

/* Pointers, small numbers and noise, so that each operand is each of them in
 * some run.  xorshift; the seed is the sample's number. */
static void
random_regs(struct rig *rig, uint64_t seed, struct user_regs_struct *regs)
{
	unsigned long long *gpr[] = { &regs->rax, &regs->rcx, &regs->rdx,
		&regs->rbx, &regs->rbp, &regs->rsi, &regs->rdi, &regs->r8,
		&regs->r9, &regs->r10, &regs->r11, &regs->r12, &regs->r13,
		&regs->r14, &regs->r15 };
	uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;

	rig_default_regs(rig, regs);
	for (size_t i = 0; i < ARRAY_SIZE(gpr); i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		if (x % 8 == 0)
			*gpr[i] = x >> 8;
		else if (x % 8 < 3)
			*gpr[i] = x >> 60;
	}
	regs->eflags = 0x202 | (x >> 20 & 0x8d5);
}

START_TEST(libc_text_is_as_at_home)
{
	static struct samples s;
	struct user_regs_struct regs;
	struct rig rig;
	unsigned ran = 0, wrong = 0;
	size_t step;

	dl_iterate_phdr(walk_libc, &s);
	ck_assert_uint_gt(s.at.len, 2000);
	step = getenv("DTRAP_LONG") != NULL ? 1 : s.at.len / 4000 + 1;
	rig_init(&rig, HOME);
	rig.map_far = _i != 0;
	for (size_t i = 0; i < s.at.len; i += step, ran++) {
		const struct sample *one = &s.at.at[i];
		struct insn insn;

		random_regs(&rig, i, &regs);
		const char *why = rig_compare(
		    &rig, one->bytes, one->len, OFFSET, &regs, i % 8 == 0);
		if (why == NULL)
			continue;
		/* The few that only a near slot can do. */
		if (rig.map_far && strncmp(why, "refused: no room", 16) == 0)
			continue;
		insn_decode(one->bytes, one->len, HOME + OFFSET, &insn);
		if (wrong++ < 20)
			printf("%zu: %s: %s\n", i, rig_bytes(&insn), why);
	}
	printf("%lu instructions, %zu encodings, %u of them run, %u wrong\n",
	    s.walked, s.at.len, ran, wrong);
	fflush(stdout);
	ck_assert_uint_eq(wrong, 0);
	rig_fini(&rig);
	vec_fini(&s.at);
	hash_fini(&s.seen);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("random");
	TCase *t = tcase_create("random");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, libc_text_is_as_at_home, 0, 2);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
