/*
 * The consumer: takes records out of the lanes (lanes.c) and the aggregations
 * (snapshot.c), and has them printed.
 */
#include "tracer/consume/consume_impl.h"

/* The most text that may wait: as much as there may be records, and at least
 * this. */
#define OUT_LEAST 65536

struct consume *
consume_create(const struct consume_env *env)
{
	struct consume *c = mem_zalloc(sizeof(*c));

	c->env = *env;
	lanes_add(c, &env->store, 0);
	out_init(&c->out, env->out,
	    (size_t)MAX(option_get(env->opts, OPT_BUFSIZE), OUT_LEAST),
	    env->enough);
	aggs_init(
	    &c->aggs, env->globals, (size_t)option_get(env->opts, OPT_AGGMAX));
	return c;
}

void
consume_destroy(struct consume *c)
{
	if (c == NULL)
		return;
	out_fini(&c->out);
	str_fini(&c->line);
	aggs_fini(&c->aggs);
	flows_fini(c);
	faults_fini(c);
	mem_free(c->rec.at);
	lanes_fini(c);
	mem_free(c);
}

/* ---- records ---- */

int
consume_records(struct consume *c)
{
	struct rec_hdr next;
	bool followed;

	lanes_begin(c);
	while (!out_full(&c->out) && lanes_take(c, &next, &followed)) {
		if (c->rec.hdr->epid == EPID_FAULT)
			record_fault(c);
		else
			record_print(c, followed ? &next : NULL);
	}
	lanes_tidy(c);
	return out_flush(&c->out);
}

bool
consume_lanes_add(struct consume *c, const struct region *store, uint32_t pid)
{
	return lanes_add(c, store, pid);
}

void
consume_lanes_end(struct consume *c, const struct region *store, int lane)
{
	if (lane < 0)
		lanes_end_all(c, store);
	else
		lanes_end(c, store, (uint32_t)lane);
}

bool
consume_is_due(const struct consume *c)
{
	return lanes_fill(c);
}

void
consume_patiently(struct consume *c)
{
	c->out.patient = true;
}

/* ---- the end ---- */

/* In the order of their ids; `aggsortrev' reverses this order like that of the
 * lines. */
static void
consume_report(struct consume *c)
{
	struct printer p = record_printer(c, &c->line);
	bool reverse = option_get(c->env.opts, OPT_AGGSORTREV);
	uint32_t n = (uint32_t)c->env.globals->aggs.len;

	str_addc(&c->line, '\n');
	for (uint32_t i = 1; i <= n; i++) {
		uint32_t id = reverse ? n + 1 - i : i;
		if (!aggs_table(&c->aggs, id)->printed)
			printa(&p, &id, 1, NULL, false);
	}
	out_write(&c->out, &c->line);
}

int
consume_finish(struct consume *c)
{
	consume_patiently(c);
	c->over = true;
	int r = consume_records(c);

	/* After the records, because a printa() among them is not the end
	 * yet. */
	consume_aggs(c);
	consume_drops(c);
	faults_tell(c);
	if (r == 0) {
		if (c->env.report != NULL)
			c->env.report->print(c->env.report->ctx, c);
		else
			consume_report(c);
		r = out_flush(&c->out);
	}
	return r;
}
