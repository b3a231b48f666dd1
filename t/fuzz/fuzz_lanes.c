/*
 * Lanes of a thread store as the target may have them: random clauses fire in them
 * from both sides, threads end and others get their lanes, and random bytes are
 * written there between all that and while the consumer reads (whenever it writes
 * something out, and between its two looks at aggregations).
 */
#include <stdlib.h>
#include <string.h>

#include "dlang/base/mem.h"
#include "t/fake/gen.h"
#include "tracer/consume/consume_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LANES 3

static struct kit k;
static struct gen g;
static struct consume *c;

/* From the input, or when that is used up what follows from its end. */
static uint32_t
some(void)
{
	static uint64_t more;

	if (g.left >= 4)
		more = gen_u32(&g);
	more = (more + 1) * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(more >> 33);
}

/* Overwrite some words of a lane; most of them where structure is. */
static void
scribble(void)
{
	for (uint32_t n = some() % 8; n > 0; n--) {
		const struct lane_view *v = &k.lanes[some() % LANES];
		uint32_t how = some(), value = some();
		uint8_t *p = (uint8_t *)v->lane;
		uint32_t most = v->lane_size;
		switch (how & 7) {
		case 0: break;
		case 1: p = v->buf, most = v->buf_size; break;
		case 2: p = v->base + v->aggs[0].ref, most = 512; break;
		case 3: p = v->base + v->aggs[1].ref, most = 512; break;
		case 4: p = (uint8_t *)v->self.hdr, most = 256; break;
		default: most = sizeof(struct lane); break;
		}
		/* Small changes do more than large ones. */
		uint32_t *word = (void *)(p + (how >> 4) % (most / 4) * 4);
		*word = how & 8 ? value : *word + value % 64 - 32;
	}
}

static ssize_t
written(void *cookie, const char *text, size_t size)
{
	scribble();
	return (ssize_t)size;
}

static void
threads(void)
{
	if (k.threads.base == NULL)
		kit_threads(&k, LANES);
	if (!consume_lanes_add(c, &k.threads, 1))
		abort();
	for (uint32_t n = 0; n < LANES; n++)
		kit_give(&k, n, n + 1);
}

/* As the thread does it: by what its lane says. */
static void
fire_inside(uint32_t n, uint32_t probe)
{
	struct vm_env env = { .ops = &fake_env_ops,
		.ctx = &k.target,
		.image = k.image,
		.store = k.threads,
		.thread = n + 1,
		.regs = &k.lanes[n].lane->regs,
		.timestamp = some() };

	store_hdr(&k.threads)->activity = ACTIVITY_ACTIVE;
	if (vm_open(&env, n))
		ecb_fire_probe(&env, probe);
}

static void
fire_outside(uint32_t n, uint32_t probe)
{
	k.env.own = &k.lanes[n];
	k.env.thread = n + 1;
	k.env.timestamp = 1 + some() % 1000;
	store_hdr(&k.store)->activity = ACTIVITY_ACTIVE;
	ecb_fire_probe(&k.env, probe);
}

static void
step(uint32_t probe)
{
	uint32_t what = some(), n = (what >> 4) % LANES;

	switch (what % 12) {
	case 0:
	case 1:
	case 2: fire_inside(n, probe); break;
	case 3:
	case 4: fire_outside(n, probe); break;
	case 5: consume_records(c); break;
	case 6: consume_aggs(c); break;
	case 7: snapshots_flip(c); break;
	case 8: consume_drops(c); break;
	case 9:
		consume_lanes_end(c, &k.threads, (int)n);
		lane_take(&k.lanes[n]);
		kit_give(&k, n, what);
		break;
	case 10:
		consume_lanes_end(c, &k.threads, -1);
		for (uint32_t i = 0; i < LANES; i++)
			kit_give(&k, i, i + 1);
		threads();
		break;
	default: scribble(); break;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cookie_io_functions_t io = { .write = written };

	/* A third is the program, the rest what is done with it. */
	g = (struct gen){ data, size / 3 };
	memset(&k, 0, sizeof(k));
	kit_init(&k);
	gen_globals(&k);
	gen_clause(&k, &g);
	gen_clause(&k, &g);
	kit_publish(&k);
	uint32_t probe = kit_probe(&k, 0, 0, 1, -1);
	kit_probe(&k, IMG_PROBE_ERROR, 1, -1);
	k.target.nstack = 3;
	struct consume_env env = { .image = k.image,
		.store = k.store,
		.globals = &k.globals,
		.opts = &k.opts,
		.out = fopencookie(NULL, "w", io),
		.err = fopencookie(NULL, "w", io),
		.prog = "fuzz",
		.barrier = scribble };
	c = consume_create(&env);
	threads();
	g = (struct gen){ data + size / 3, size - size / 3 };
	/* What is written waits in no buffer of stdio. */
	setvbuf(env.out, NULL, _IONBF, 0);
	setvbuf(env.err, NULL, _IONBF, 0);
	for (uint32_t n = 0; n < 100 && (g.left > 0 || n < 24); n++)
		step(probe);
	consume_finish(c);
	consume_destroy(c);
	fclose(env.out);
	fclose(env.err);
	kit_fini(&k);
	return 0;
}
