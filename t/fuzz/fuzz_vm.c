/*
 * Random programs through the verifier and the machine; and the store
 * scribbled on between firings, as the target may do.  The regions are
 * allocated exactly, so that AddressSanitizer sees one byte too far.
 */
#include <stdlib.h>
#include <string.h>

#include "dlang/vm/agg.h"
#include "t/fake/gen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Overwrite some words of the store; keep the activity going. */
static void
scribble(struct kit *k, struct gen *g)
{
	uint32_t n = gen_u8(g) % 16;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = gen_u32(g) % (k->store.size / 4);
		uint32_t v = gen_u32(g);
		/* Most of them where structure is: headers, and the lane. */
		if (v & 1)
			at %= 512;
		else if (v & 2)
			at = (uint32_t)((uint8_t *)k->env.at.lane -
				 k->store.base) /
				4 +
			    at % 64;
		memcpy(k->store.base + 4 * (size_t)at, &v, 4);
	}
	store_hdr(&k->store)->activity = ACTIVITY_ACTIVE;
}

/* What the consumer does with it. */
static void
read_all(struct kit *k)
{
	const struct agg_entry *e;
	uint32_t cookie = 0, seen = 0;
	volatile uint8_t sink = 0;

	while ((e = agg_next(kit_view(k), 0, &cookie)) != NULL && seen++ < 4096)
		for (uint32_t i = 0; i < e->key_size; i++)
			sink ^= e->data[i];
	(void)sink;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gen g = { data, size };
	struct kit k;
	uint32_t mode = gen_u8(&g);

	kit_init(&k);
	gen_globals(&k);
	if (mode & 1) {
		uint64_t v;
		const char *why;
		uint32_t at;
		struct difo *d = gen_difo(&k, &g, true);
		FILE *null = fopen("/dev/null", "w");
		dis_difo(null, d);
		fclose(null);
		if (verify_difo(&k.arena, d, &k.globals, &why, &at) == 0)
			kit_run(&k, d, &v);
		kit_fini(&k);
		return 0;
	}
	k.sizes.policy = mode >> 1 & 3;
	if (k.sizes.policy > POLICY_RING)
		k.sizes.policy = POLICY_RING;
	gen_clause(&k, &g);
	gen_clause(&k, &g);
	kit_publish(&k);
	uint32_t probe = kit_probe(&k, 0, 0, 1, 0, -1);
	kit_probe(&k, IMG_PROBE_ERROR, 1, -1);
	k.target.nstack = 5;
	fake_env_put(&k.target, 0, data, size < 256 ? size : 256);
	for (int i = 0; i < 6; i++) {
		k.env.hit[0] = gen_u32(&g);
		ecb_fire_probe(&k.env, probe);
		if (mode & 0x80)
			scribble(&k, &g);
		read_all(&k);
		if (i & 1 && !(mode & 0x80))
			while (kit_record(&k) != NULL)
				;
	}
	kit_fini(&k);
	return 0;
}
