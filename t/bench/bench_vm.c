/*
 * Nanoseconds for one firing of a probe with one clause: predicate on arg0 and
 * one count(), hosted, everything warm.  Prints; asserts nothing.
 */
#include <stdio.h>
#include <time.h>

#include "t/fake/env.h"

#define ROUNDS 5000000

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* arg0 > 4096 */
static struct difo *
predicate(struct kit *k)
{
	static const uint64_t ints[] = { 4096, 1 };

	return kit_difo(k,
	    KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_LDGS, DIF_VAR_ARG0, 1),
		DIF_INSTR_INDEX(DIF_OP_SETX, 0, 2),
		DIF_INSTR(DIF_OP_CMP, 1, 2, 0), DIF_INSTR_BRANCH(DIF_OP_BG, 6),
		DIF_INSTR(DIF_OP_MOV, 0, 0, 1), DIF_INSTR_BRANCH(DIF_OP_BA, 7),
		DIF_INSTR_INDEX(DIF_OP_SETX, 1, 1),
		DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
	    ints, 2, NULL, 0);
}

static void
run(const char *what, bool record)
{
	static const struct argloc arg = { ARGLOC_REG, 8, 0, UREG_RDI, 0, 0, 0,
		0, 0 };
	static struct uregs regs;
	struct kit k;

	kit_init(&k);
	k.sizes.bufsize = 1 << 16;
	k.sizes.policy = POLICY_RING;
	kit_agg(&k, AGG_COUNT, 0, 0);
	kit_clause(&k, predicate(&k), record ? 32 : 0);
	if (record)
		kit_rec(&k, kit_load(&k, DIF_VAR_ARG0), 24, 8, 0);
	else
		kit_act(&k, OP_AGG, NULL)->arg = 1;
	kit_publish(&k);
	uint32_t probe = kit_probe(&k, 0, 0, -1);
	image_add_site(k.im, probe, 1, image_add_args(k.im, &arg, 1), 1);

	for (int hit = 0; hit < 2; hit++) {
		/* At hand, as those of a stopped thread are. */
		regs.r[UREG_RDI] = hit ? 8192 : 64;
		k.env.regs = &regs;
		double start = now();
		for (int i = 0; i < ROUNDS; i++)
			ecb_fire_tracepoint(&k.env, 1);
		printf("%s, predicate %s: %.1f ns\n", what,
		    hit ? "true" : "false", (now() - start) / ROUNDS);
	}
	kit_fini(&k);
}

int
main(void)
{
	run("count()", false);
	run("trace(arg0)", true);
	return 0;
}
