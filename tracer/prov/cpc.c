/*
 * The cpc provider: events that the processor or the kernel counts, in traced
 * threads.
 *
 *	cpc:::EVENT-MODE-COUNT	fires after each COUNT events; MODE is user,
 *				kernel or all
 *
 * arg0 is the address of the instruction if the thread was in the kernel, else 0;
 * arg1 the same for user code.  Events have the names that perf(1) gives them, with
 * underscores, or those of PAPI.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/glob.h"
#include "dlang/base/mem.h"
#include "dlang/dif.h"
#include "inject/resume.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/records.h"
#include "tracer/ptrace/perfevent.h"
#include "tracer/ptrace/proc.h"

/* Bytes of a stack. */
#define STACK_BYTES 8192

/* Of events, and of ns: more often than this the kernel would do nothing else. */
#define COUNT_LEAST UINT64_C(1000)
#define CLOCK_LEAST UINT64_C(100000)

/* The kernel's half of the address space. */
#define IN_KERNEL(pc) ((pc) >> 63 != 0)

static const struct counted {
	const char *name, *also; /* `also': PAPI's name, or NULL */
	enum perf_counter counter;
} events[] = {
	{ "cpu_cycles", "PAPI_tot_cyc", COUNTER_CYCLES },
	{ "cycles", NULL, COUNTER_CYCLES },
	{ "instructions", "PAPI_tot_ins", COUNTER_INSTRUCTIONS },
	{ "cache_references", "PAPI_l3_tca", COUNTER_CACHE_REFERENCES },
	{ "cache_misses", "PAPI_l3_tcm", COUNTER_CACHE_MISSES },
	{ "branches", "PAPI_br_ins", COUNTER_BRANCHES },
	{ "branch_misses", "PAPI_br_msp", COUNTER_BRANCH_MISSES },
	{ "bus_cycles", NULL, COUNTER_BUS_CYCLES },
	{ "ref_cycles", "PAPI_ref_cyc", COUNTER_REF_CYCLES },
	{ "cpu_clock", NULL, COUNTER_CPU_CLOCK },
	{ "task_clock", NULL, COUNTER_TASK_CLOCK },
};

static const struct mode {
	const char *name;
	bool user, kernel;
} modes[] = {
	{ "user", true, false },
	{ "kernel", false, true },
	{ "all", true, true },
};

struct cpc {
	const struct counted *event;
	const struct mode *mode;
	uint64_t count;
	uint32_t wish;
	bool wanted;
};

/* Is the n bytes at `text' this word? */
static bool
is_word(const char *text, size_t n, const char *word)
{
	return word != NULL && strlen(word) == n && memcmp(text, word, n) == 0;
}

/* The probe of this name; false: it is not one. */
static bool
parse(const char *name, struct cpc *out)
{
	const char *mode = strchr(name, '-');
	const char *count = mode != NULL ? strchr(mode + 1, '-') : NULL;
	char *end;

	*out = (struct cpc){ 0 };
	if (count == NULL || count[1] < '0' || count[1] > '9')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (is_word(name, (size_t)(mode - name), events[i].name) ||
		    is_word(name, (size_t)(mode - name), events[i].also))
			out->event = &events[i];
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (is_word(
			mode + 1, (size_t)(count - mode - 1), modes[i].name))
			out->mode = &modes[i];
	errno = 0;
	out->count = strtoull(count + 1, &end, 10);
	return out->event != NULL && out->mode != NULL && *end == '\0' &&
	    errno == 0 && out->count <= INT64_MAX &&
	    out->count >=
	    (counter_is_clock(out->event->counter) ? CLOCK_LEAST : COUNT_LEAST);
}

static int
provide(struct state *st, const struct probe_desc *pd, const struct span *at,
    struct diags *d)
{
	struct cpc c;
	bool fresh;

	if (pd->id != 0 || *pd->mod != '\0' || *pd->func != '\0' ||
	    glob_is(pd->name) ||
	    (*pd->prov != '\0' && !glob_match(pd->prov, "cpc")) ||
	    !parse(pd->name, &c))
		return 0;
	struct probe *p =
	    probe_add(&st->probes, &prov_cpc, "cpc", "", "", pd->name, &fresh);
	if (fresh) {
		struct cpc *kept = mem_alloc(sizeof(*kept));
		*kept = c;
		p->data = kept;
	}
	return 0;
}

static void
on_events(
    struct state *st, struct thread *th, const struct perf_record *r, void *arg)
{
	struct tptable *tab = th->proc->space->tab;
	bool kernel = IN_KERNEL(r->pc);
	uint64_t pc =
	    tab != NULL && !kernel ? resume_text_pc(tab, r->pc) : r->pc;
	uint64_t words[2] = { kernel ? pc : 0, kernel ? 0 : pc };

	fire_seen(st, arg, th, words, 2, r);
}

static const char *
why(const struct cpc *c, int error)
{
	switch (error) {
	case -ENOENT:
	case -ENODEV:
	case -EOPNOTSUPP:
		return "this machine has no such counter, as many virtual "
		       "machines";
	case -EACCES:
	case -EPERM:
		return c->mode->kernel ?
		    "only who has CAP_PERFMON may count in the kernel; "
		    "MODE user needs no right" :
		    perfevents_why(error);
	default: return perfevents_why(error);
	}
}

static void
enable(struct state *st, struct probe *p)
{
	struct cpc *c = p->data;
	uint32_t needs = records_needs(st, p);
	const struct perf_wish w = {
		.source = PERF_COUNTER,
		.counter = c->event->counter,
		.user = c->mode->user,
		.kernel = c->mode->kernel,
		.period = c->count,
		.stack_max = (needs & NEED_STACK) != 0 ? STACK_BYTES : 0,
	};

	/* The lane of a thread that runs cannot be written to. */
	if (needs & NEED_SELF)
		st->lanes_unfit = true;
	if (c->wanted)
		return;
	int error = perfevents_try(&w);
	if (error == 0)
		error = records_want(
		    st, &w, RECORDS_THREADS, on_events, p, &c->wish);
	c->wanted = error == 0;
	if (error != 0)
		state_message(
		    st, "cpc:::%s does not fire: %s", p->name, why(c, error));
}

static void
disable(struct state *st, struct probe *p)
{
	const struct cpc *c = p->data;

	if (c->wanted)
		records_end(st, c->wish);
}

static bool
arg(const struct probe *p, unsigned n, struct probe_arg *out)
{
	*out = (struct probe_arg){ .type = "uint64_t", .source = n };
	return n < 2;
}

static void
destroy(struct probe *p)
{
	mem_free(p->data);
}

const struct provider prov_cpc = {
	.name = "cpc",
	.stability = STABILITY("Evolving", "CPU"),
	.provide = provide,
	.enable = enable,
	.disable = disable,
	.follows = true,
	.arg = arg,
	.destroy = destroy,
};
