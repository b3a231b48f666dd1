/*
 * How often a clock of the kernel's was due while a thread was in the kernel.
 *
 * An ordinary user may have a clock that is due when a thread has used a processor for
 * a period.  It records a sample if the thread is in user code then, and nothing if it
 * is in the kernel.  When the thread gets and loses the processor is recorded as well.
 * So the periods that have passed are known, and those without a sample were in the
 * kernel:
 *
 *	on      sample              off    on          sample
 *	|---------+---------:-------|      |-:---------+------
 *	          |<-- period -->|           ^
 *	          missed: these two          the third period has a sample again
 *
 * There is one meter for each event, which is of one thread on one processor.
 */
#ifndef TRACER_PROV_METER_H
#define TRACER_PROV_METER_H

#include <stdint.h>

struct meter {
	uint64_t event; /* whose records it reads; 0: none yet */
	uint64_t since; /* on the processor since then, ns; 0: it is not */
	uint64_t used;  /* ns on it before that, since the last sample */
	uint32_t told;  /* missed samples that were returned, of these ns */
};

/* Times are those of records, in ns; they never fall. */
void meter_on(struct meter *m, uint64_t time);

/* Each returns the number of missed samples that is new. */
uint32_t meter_off(struct meter *m, uint64_t time, uint64_t period);
uint32_t meter_sample(struct meter *m, uint64_t time, uint64_t period);
/* All records up to `time' have been told. */
uint32_t meter_now(struct meter *m, uint64_t time, uint64_t period);

#endif
