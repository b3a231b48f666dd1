/*
 * Records of other hosts; see far.h.
 */
#include "tracer/consume/far.h"

#include <string.h>

#include "tracer/consume/consume_impl.h"

static void
set_record(struct consume *c, const void *rec, uint32_t size)
{
	if (c->rec.cap < size) {
		c->rec.at = mem_realloc(c->rec.at, size);
		c->rec.cap = size;
	}
	memcpy(c->rec.at, rec, size);
	c->rec.size = size;
}

void
far_record(struct consume *c, const char *host, const struct probe_text *probe,
    const uint8_t *rec, uint32_t size)
{
	set_record(c, rec, size);
	c->host = host;
	record_print_as(c, probe, NULL);
	c->host = NULL;
}

void
far_row(struct consume *c, uint32_t id, const uint8_t *key, uint32_t cpu,
    const uint64_t *value)
{
	aggs_merge(&c->aggs, id, key, cpu, value);
}

void
far_error(struct consume *c, const char *host, const struct sink_error *e,
    const struct rec_hdr *hdr)
{
	const struct probe_text *p = e->probe;

	set_record(c, hdr, sizeof(*hdr));
	c->host = host;
	if (c->sink->error != NULL)
		c->sink->error(c, e);
	c->host = NULL;
	if (p != NULL)
		consume_message(c,
		    "%s: error for probe ID %u (%s:%s:%s:%s): %s", host, p->id,
		    p->prov, p->mod, p->func, p->name, e->what);
	else if (e->count != 0)
		consume_message(c, "%s: %s: %llu times", host, e->what,
		    (unsigned long long)e->count);
	else
		consume_message(c, "%s: %s", host, e->what);
}

void
far_drop(struct consume *c, const char *host, const struct sink_drop *d)
{
	c->host = host;
	if (c->sink->drop != NULL)
		c->sink->drop(c, d);
	c->host = NULL;
	consume_message(c, "%s: %s", host, d->what);
}
