/*
 * Missed samples; see meter.h.
 */
#include "tracer/prov/meter.h"

/* So many samples were missed, of which m->told are known. */
static uint32_t
news(struct meter *m, uint64_t missed)
{
	uint32_t n = missed > m->told ? (uint32_t)(missed - m->told) : 0;

	m->told += n;
	return n;
}

static void
use(struct meter *m, uint64_t time)
{
	if (m->since != 0 && time > m->since)
		m->used += time - m->since;
}

void
meter_on(struct meter *m, uint64_t time)
{
	m->since = time;
}

uint32_t
meter_off(struct meter *m, uint64_t time, uint64_t period)
{
	use(m, time);
	m->since = 0;
	return news(m, m->used / period);
}

/* The interrupt comes somewhat early or late.  Had more been told than were missed, as
 * many are held back later. */
uint32_t
meter_sample(struct meter *m, uint64_t time, uint64_t period)
{
	use(m, time);
	m->since = time;
	uint64_t due = (m->used + period / 2) / period;
	uint64_t missed = due > 0 ? due - 1 : 0;
	uint32_t n = news(m, missed);

	m->used = 0;
	m->told -= (uint32_t)missed;
	return n;
}

uint32_t
meter_now(struct meter *m, uint64_t time, uint64_t period)
{
	if (m->since == 0 || time <= m->since)
		return 0;
	use(m, time);
	m->since = time;
	return news(m, m->used / period);
}
