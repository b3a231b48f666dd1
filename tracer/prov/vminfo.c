/*
 * The vminfo provider: page faults of traced threads.
 *
 *	as_fault	a page fault
 *	maj_fault	one for which something had to be read
 *
 * arg0 is 1, as everywhere; arg1 is the address that was accessed, arg2 that of the
 * instruction.  The kernel records the faults of user code, for every user
 * (tracer/fire/records.h); those within system calls are not seen.
 */
#include "dlang/dif.h"
#include "inject/resume.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/records.h"
#include "tracer/ptrace/proc.h"

#define MODULE "vmlinux"

/* Bytes of a stack. */
#define STACK_BYTES 8192

static const struct row {
	const char *name;
	enum perf_source source;
} rows[] = {
	{ "as_fault", PERF_FAULTS },
	{ "maj_fault", PERF_MAJOR_FAULTS },
};

/* Part of the run: the wish of each row. */
struct vminfo {
	uint32_t wish[ARRAY_SIZE(rows)];
	bool wanted[ARRAY_SIZE(rows)];
};

static struct vminfo *
vminfo_of(struct state *st)
{
	static const struct part part = { .size = sizeof(struct vminfo) };

	return part_of(&st->parts, &part);
}

static void
init(struct state *st)
{
	bool fresh;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		probe_add(&st->probes, &prov_vminfo, "vminfo", MODULE, "",
		    rows[i].name, &fresh)
		    ->data = (void *)(uintptr_t)i;
}

static void
on_fault(
    struct state *st, struct thread *th, const struct perf_record *r, void *arg)
{
	struct tptable *tab = th->proc->space->tab;
	uint64_t words[3] = { 1, r->addr,
		tab != NULL ? resume_text_pc(tab, r->pc) : r->pc };

	fire_seen(st, arg, th, words, 3, r);
}

static void
enable(struct state *st, struct probe *p)
{
	struct vminfo *v = vminfo_of(st);
	size_t i = (uintptr_t)p->data;
	uint32_t needs = records_needs(st, p);
	const struct perf_wish w = {
		.source = rows[i].source,
		.stack_max = (needs & NEED_STACK) != 0 ? STACK_BYTES : 0,
	};

	/* The lane of a thread that runs cannot be written to. */
	if (needs & NEED_SELF)
		st->lanes_unfit = true;
	if (v->wanted[i])
		return;
	int error =
	    records_want(st, &w, RECORDS_THREADS, on_fault, p, &v->wish[i]);
	v->wanted[i] = error == 0;
	if (error != 0)
		state_message(st, "vminfo:::%s does not fire: %s", p->name,
		    perfevents_why(error));
}

static void
disable(struct state *st, struct probe *p)
{
	struct vminfo *v = vminfo_of(st);
	size_t i = (uintptr_t)p->data;

	if (v->wanted[i])
		records_end(st, v->wish[i]);
}

static bool
arg(const struct probe *p, unsigned n, struct probe_arg *out)
{
	*out = (struct probe_arg){ .type = "uint64_t", .source = n };
	return n < 3;
}

const struct provider prov_vminfo = {
	.name = "vminfo",
	.stability = STABILITY("Evolving", "ISA"),
	.init = init,
	.enable = enable,
	.disable = disable,
	.follows = true,
	.arg = arg,
};
