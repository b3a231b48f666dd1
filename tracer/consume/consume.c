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
	c->sink = sink_of(env->opts);
	lanes_add(c, &env->store, 0);
	out_init(&c->out, env->out,
	    (size_t)MAX(option_get(env->opts, OPT_BUFSIZE), OUT_LEAST),
	    env->enough);
	c->out.apart = c->sink != &sink_text && c->sink != &sink_top;
	aggs_init(
	    &c->aggs, env->globals, (size_t)option_get(env->opts, OPT_AGGMAX));
	if (c->sink->create != NULL)
		c->sink->create(c);
	live_create(c);
	return c;
}

void
consume_destroy(struct consume *c)
{
	if (c == NULL)
		return;
	if (c->sink->destroy != NULL)
		c->sink->destroy(c);
	live_destroy(c);
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
	if (c->sink->pass != NULL)
		c->sink->pass(c);
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

void
consume_snapshot(struct consume *c)
{
	if (c->sink->snapshot == NULL)
		return;
	consume_aggs(c);
	c->sink->snapshot(c);
	out_flush(&c->out);
}

void
consume_whole(struct consume *c)
{
	if (c->sink->whole == NULL)
		return;
	consume_aggs(c);
	c->sink->whole(c);
	out_flush(&c->out);
}

/* ---- the end ---- */

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
	live_aggs(c);
	if (r == 0) {
		if (c->env.report != NULL)
			c->env.report->print(c->env.report->ctx, c);
		else if (c->sink->report != NULL)
			c->sink->report(c);
		r = out_flush(&c->out);
	}
	return r;
}

int
consume_end(struct consume *c, int status)
{
	live_end(c, status);
	if (c->sink->end != NULL && c->out.error == 0)
		c->sink->end(c, status);
	return out_flush(&c->out);
}
