/*
 * The tracing state; see state.h for its activity machine.
 */
#include "tracer/state.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include "dlang/base/fault.h"
#include "dlang/cc/cc.h"
#include "dlang/image.h"
#include "dlang/vm/agg.h"
#include "dlang/vm/buf.h"
#include "dlang/vm/ecb.h"
#include "dlang/vm/store.h"
#include "symbols/addrspace.h"
#include "tracer/consume/consume.h"
#include "tracer/consume/text.h"
#include "tracer/consume/writer.h"
#include "tracer/dlib.h"
#include "tracer/eval.h"
#include "tracer/external.h"
#include "tracer/filter.h"
#include "tracer/guardian.h"
#include "tracer/locals.h"
#include "tracer/loop.h"
#include "tracer/panic.h"
#include "tracer/proc.h"
#include "tracer/prototype.h"
#include "tracer/provider.h"
#include "tracer/stores.h"
#include "tracer/targets.h"
#include "tracer/world.h"

void
state_init(struct state *st, const char *name)
{
	*st = (struct state){
		.name = name,
		.image_fd = -1,
		.store_fd = -1,
		.next_tp = 1,
		.out = stdout,
		.err = stderr,
		.file = stdout,
	};
	processor_init(&st->processor);
	options_init(&st->opts);
	probes_init(&st->probes);
	st->world = (struct world){ .ops = &world_ops, .ctx = st };
	for (const struct provider *const *p = providers; *p != NULL; p++)
		if ((*p)->init != NULL)
			(*p)->init(st);
	probes_fixed(&st->probes);
}

/* Messages that nobody reads: so much of them is kept. */
#define MESSAGES_MAX (1 << 20)

#define DISCARDED "the rest of the output is discarded: nobody reads it"

void
state_open_output(struct state *st, FILE *file)
{
	FILE *out = writer_open(fileno(file), false, false, 0);
	FILE *err = writer_open(STDERR_FILENO, false, true, MESSAGES_MAX);

	st->file = file;
	st->out = out != NULL ? out : file;
	st->err = err != NULL ? err : stderr;
}

static void
close_output(struct state *st)
{
	writer_settle();
	int cut = writer_wait(st->out, 0, loop_impatient);
	if (writer_wait_closed(loop_impatient) != 0)
		cut = -EINTR;
	/* state_finish() has said that output is cut short if it was then. */
	if (cut == -EINTR && st->output_error != EINTR)
		state_message(st, DISCARDED);
	writer_wait(st->err, 0, loop_impatient);
	size_t lost = writer_dropped(st->err);
	if (lost != 0)
		state_message(st,
		    "%zu bytes of messages dropped: nobody read them", lost);
	writer_wait(st->err, 0, loop_impatient);
	if (st->out != st->file)
		writer_close(st->out);
	if (st->err != stderr)
		writer_close(st->err);
	if (st->file != stdout)
		fclose(st->file);
	st->out = st->file = stdout;
	st->err = stderr;
}

static void PRINTF_LIKE(2, 0)
    message(struct state *st, const char *fmt, va_list ap)
{
	fflush(st->out);
	text_message(st->err, st->name, fmt, ap);
}

void
state_message(struct state *st, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(st, fmt, ap);
	va_end(ap);
}

void
state_notice(struct state *st, const char *fmt, ...)
{
	va_list ap;

	if (option_get(&st->opts, OPT_QUIET) != 0)
		return;
	va_start(ap, fmt);
	message(st, fmt, ap);
	va_end(ap);
}

static void
set_activity(struct state *st, enum activity a)
{
	store_hdr(&st->store_mem)->activity = a;
}

/* ---- firing ---- */

bool
state_wants_cpu(const struct state *st, struct thread *th)
{
	int64_t only = option_get(&st->opts, OPT_CPU);

	return only < 0 || th == NULL || thread_cpu(th) == only;
}

void
state_fire(struct state *st, struct probe *p, struct thread *th,
    const uint64_t *words, unsigned nwords)
{
	if (p->image_ref == 0 || !state_wants_cpu(st, th))
		return;
	deadman_fired(st, p);
	eval_begin(st, th);
	memset(st->env.hit, 0, sizeof(st->env.hit));
	if (nwords > 0)
		memcpy(
		    st->env.hit, words, MIN(nwords, VM_ARGS) * sizeof(*words));
	ecb_fire_probe(&st->env, p->image_ref);
	st->thread = NULL;
	state_after_fire(st);
}

void
state_after_fire(struct state *st)
{
	const struct store_hdr *h = store_hdr(&st->store_mem);

	/* bufpolicy=fill: nothing more can be recorded once it is full. */
	const struct lane *l = store_lane(&st->store_mem, 0, NULL);

	if (h->exit_called || (l != NULL && l->full))
		state_drain(st);
	state_consume_if_full(st);
}

/* ---- consuming ---- */

/* Read before there is no room for what comes next: half full. */
#define FILL_LIMIT 128

void
state_consume_if_full(struct state *st)
{
	struct lane *l = store_lane(&st->store_mem, 0, NULL);

	if (l == NULL || st->output_error != 0)
		return;
	/* fill keeps the first records, ring the last ones: both are read at
	 * the end. */
	if (option_get(&st->opts, OPT_BUFPOLICY) == POLICY_SWITCH &&
	    buf_fill(l) > FILL_LIMIT)
		state_consume(st);
	if (agg_fill(&st->store_mem, l) > FILL_LIMIT)
		consume_aggs(st->consume);
}

void
state_consume(struct state *st)
{
	if (st->output_error != 0)
		return;
	/* Printing is work, and system() starts programs that inherit what we
	 * are. */
	processor_restore(&st->processor);
	consume_aggs_due(st->consume);
	int error = consume_records(st->consume);
	processor_again(&st->processor);
	if (error != 0) {
		st->output_error = -error;
		state_drain(st);
	}
}

static void
on_switch(struct state *st, void *arg, uint64_t late)
{
	if (option_get(&st->opts, OPT_BUFPOLICY) == POLICY_SWITCH)
		state_consume(st);
	/* setopt() may have changed them. */
	timer_set_period(&st->timers, on_switch, NULL,
	    (uint64_t)option_get(&st->opts, OPT_SWITCHRATE));
}

static void
on_aggs(struct state *st, void *arg, uint64_t late)
{
	consume_aggs(st->consume);
	timer_set_period(&st->timers, on_aggs, NULL,
	    (uint64_t)option_get(&st->opts, OPT_AGGRATE));
}

static void
on_status(struct state *st, void *arg, uint64_t late)
{
	consume_drops(st->consume);
}

/* ---- start and finish ---- */

static void
add_rate(struct state *st, enum option_id id, timer_fn fn)
{
	int64_t period = option_get(&st->opts, id);

	if (period > 0)
		timer_add(&st->timers, (uint64_t)period, fn, NULL);
}

static void
env_init(struct state *st)
{
	st->env.ops = &eval_ops;
	st->env.ctx = st;
	st->env.image = st->image_mem;
	st->env.store = st->store_mem;
	store_lane(&st->store_mem, 0, &st->env.lane_ref);
}

void
state_start(struct state *st)
{
	env_init(st);
	st->started = true;
	st->opts.active = true;
	if (option_get(&st->opts, OPT_CPU) >= 0)
		processor_fix(
		    &st->processor, (int)option_get(&st->opts, OPT_CPU));
	set_activity(st, ACTIVITY_WARMUP);
	state_fire(st, probe_by_id(&st->probes, 1), NULL, NULL, 0);
	if (st->draining)
		return;
	set_activity(st, ACTIVITY_ACTIVE);
	add_rate(st, OPT_SWITCHRATE, on_switch);
	add_rate(st, OPT_AGGRATE, on_aggs);
	add_rate(st, OPT_STATUSRATE, on_status);
	deadman_start(st);
	state_consume(st);
	filter_install(st);
	targets_run(st);
}

void
state_drain(struct state *st)
{
	if (!st->draining && st->store_mem.base != NULL)
		set_activity(st, ACTIVITY_DRAINING);
	st->draining = true;
}

int
state_finish(struct state *st)
{
	/* The processes first: what is left to do concerns only us, and waits
	 * for nobody to get a processor. */
	writer_rest();
	targets_release(st);
	writer_settle();
	fault_kill("end-released");
	if (!st->processor.fixed)
		processor_restore(&st->processor);
	/* END has to have room for its records. */
	consume_patiently(st->consume);
	if (option_get(&st->opts, OPT_BUFPOLICY) == POLICY_SWITCH)
		state_consume(st);
	set_activity(st, ACTIVITY_COOLDOWN);
	state_fire(st, probe_by_id(&st->probes, 2), NULL, NULL, 0);
	processor_restore(&st->processor);
	set_activity(st, ACTIVITY_STOPPED);
	if (st->output_error == 0) {
		int error = consume_finish(st->consume);
		st->output_error = error < 0 ? -error : 0;
	}
	consume_drops(st->consume);
	deadman_report(st);
	if (panic_faults() != 0)
		state_message(st,
		    "a file was cut short while it was read: names may be "
		    "missing");
	if (st->output_error == EINTR)
		state_message(st, DISCARDED);
	if (consume_pictures(st->consume) != 0)
		return 1;
	return store_hdr(&st->store_mem)->exit_status;
}

void
state_fini(struct state *st)
{
	if (st->super != NULL) {
		targets_release(st);
		panic_guard(NULL);
		super_destroy(st->super);
		guardian_end();
		fault_kill("end-destroyed");
	}
	timers_fini(&st->timers);
	deadman_fini(st);
	syscalls_fini(&st->syscalls);
	moments_fini(&st->moments);
	if (st->consume != NULL)
		consume_destroy(st->consume);
	vec_foreach(as, &st->past)
		addrspace_put(*as);
	vec_fini(&st->past);
	probes_fini(&st->probes);
	vec_foreach(p, &st->progs)
		prog_destroy(*p);
	vec_fini(&st->progs);
	if (st->cc != NULL)
		cc_destroy(st->cc);
	locals_destroy(st->locals);
	prototypes_destroy(st->prototypes);
	externals_destroy(st->externals);
	vec_fini(&st->typed);
	dlibs_fini(st);
	stores_destroy(st);
	vec_foreach(f, &st->failures)
		mem_free(*f);
	vec_fini(&st->failures);
	vec_foreach(m, &st->symless)
		mem_free(*m);
	vec_fini(&st->symless);
	close_output(st);
	options_fini(&st->opts);
}
