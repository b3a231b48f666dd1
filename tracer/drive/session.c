/*
 * A run from beginning to end; see session.h.
 */
#include "tracer/drive/session.h"

#include <errno.h>
#include <string.h>

#include "dlang/base/fault.h"
#include "dlang/cc/cc.h"
#include "dlang/vm/store.h"
#include "tracer/names/bodies.h"
#include "tracer/consume/consume.h"
#include "tracer/consume/sink.h"
#include "tracer/consume/writer.h"
#include "tracer/fire/eval.h"
#include "tracer/drive/display.h"
#include "tracer/drive/filter.h"
#include "tracer/drive/heart.h"
#include "tracer/survive/guardian.h"
#include "tracer/drive/loop.h"
#include "tracer/drive/named_set.h"
#include "tracer/survive/panic.h"
#include "tracer/ptrace/proc.h"
#include "tracer/base/progress.h"
#include "tracer/base/provider.h"
#include "tracer/fire/syscalls.h"
#include "tracer/fire/moments.h"
#include "tracer/ptrace/processor.h"
#include "tracer/fire/oncpu.h"
#include "tracer/fire/deadman.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/records.h"
#include "tracer/fire/stack.h"
#include "tracer/base/state.h"
#include "tracer/fire/stores.h"
#include "tracer/sites/jumps.h"
#include "tracer/sites/site.h"
#include "tracer/fast/fast.h"
#include "tracer/drive/targets.h"
#include "tracer/program/world.h"
#include "tracer/prov/profile.h"

static const struct drive_ops drive_ops = {
	.attach = targets_attach,
	.let_go = targets_let_go,
	.pending = loop_pending,
};

void
session_init(struct state *st, const char *name)
{
	*st = (struct state){
		.name = name,
		.providers = providers,
		.drive = &drive_ops,
		.output = { .out = stdout, .err = stderr, .file = stdout },
	};
	stores_init(st);
	st->syscalls = mem_zalloc(sizeof(*st->syscalls));
	st->moments = mem_zalloc(sizeof(*st->moments));
	st->oncpu = mem_zalloc(sizeof(*st->oncpu));
	st->deadman = mem_zalloc(sizeof(*st->deadman));
	st->processor = mem_zalloc(sizeof(*st->processor));
	processor_init(st->processor);
	options_init(&st->opts);
	probes_init(&st->probes);
	st->compiled.world = (struct world){ .ops = &world_ops, .ctx = st };
	for (const struct provider *const *p = providers; *p != NULL; p++)
		if ((*p)->init != NULL)
			(*p)->init(st);
	probes_fixed(&st->probes);
	bodies_serve(st);
}

/* The most bytes of messages that are kept while nobody reads them. */
#define MESSAGES_MAX (1 << 20)

#define DISCARDED    "the rest of the output is discarded: nobody reads it"

static void
open_streams(struct state *st, FILE *file)
{
	FILE *out = writer_open(fileno(file), false, false, 0);
	FILE *err = writer_open(STDERR_FILENO, false, true, MESSAGES_MAX);

	st->output.file = file;
	st->output.out = out != NULL ? out : file;
	st->output.err = err != NULL ? err : stderr;
}

int
session_open_output(struct state *st, const char *path)
{
	const char *mode = sink_of(&st->opts)->document ? "we" : "ae";
	FILE *f = path != NULL ? fopen(path, mode) : stdout;

	if (f == NULL) {
		int error = errno;
		state_message(st, "failed to open output file '%s': %s", path,
		    strerror(error));
		return -error;
	}
	st->output.path = path;
	open_streams(st, f);
	return 0;
}

static void
close_output(struct state *st)
{
	writer_settle();
	int cut = writer_wait(st->output.out, 0, loop_impatient);
	if (writer_wait_closed(loop_impatient) != 0)
		cut = -EINTR;
	/* If it was cut short earlier, session_finish() has reported it. */
	if (cut == -EINTR && st->output.error != EINTR)
		state_message(st, DISCARDED);
	writer_wait(st->output.err, 0, loop_impatient);
	size_t lost = writer_dropped(st->output.err);
	if (lost != 0)
		state_message(st,
		    "%zu bytes of messages dropped: nobody read them", lost);
	writer_wait(st->output.err, 0, loop_impatient);
	if (st->output.out != st->output.file)
		writer_close(st->output.out);
	if (st->output.err != stderr)
		writer_close(st->output.err);
	if (st->output.file != stdout)
		fclose(st->output.file);
	st->output.out = st->output.file = stdout;
	st->output.err = stderr;
}

static void
on_switch(struct state *st, void *arg, uint64_t late)
{
	if (option_get(&st->opts, OPT_BUFPOLICY) == POLICY_SWITCH)
		fire_consume(st);
	/* setopt() may have changed the rates. */
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
on_snapshot(struct state *st, void *arg, uint64_t late)
{
	consume_snapshot(st->consume);
}

static void
on_status(struct state *st, void *arg, uint64_t late)
{
	consume_drops(st->consume);
}

/* Threads that fire by jump wait for nobody. */
#define LANES_NS UINT64_C(20000000)

static void
on_lanes(struct state *st, void *arg, uint64_t late)
{
	if (!consume_is_due(st->consume))
		return;
	if (option_get(&st->opts, OPT_BUFPOLICY) == POLICY_SWITCH)
		fire_consume(st);
	consume_aggs(st->consume);
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
	st->env.image = st->stores->image_mem;
	st->env.store = st->stores->store_mem;
	/* This cannot fail: dtrap itself has laid out the store. */
	ASSERT(vm_open(&st->env, 0));
}

void
session_start(struct state *st)
{
	env_init(st);
	stack_start(st);
	st->started = true;
	st->opts.active = true;
	if (option_get(&st->opts, OPT_CPU) >= 0)
		processor_fix(
		    st->processor, (int)option_get(&st->opts, OPT_CPU));
	jumps_start(st, &st->stores->image_mem, &st->stores->sizes);
	if (fast_is_on(st))
		sites_commit_all(st);
	fire_set_activity(st, ACTIVITY_WARMUP);
	fire_probe(st, probe_by_id(&st->probes, 1), NULL, NULL, 0);
	if (st->draining)
		return;
	fire_set_activity(st, ACTIVITY_ACTIVE);
	add_rate(st, OPT_SWITCHRATE, on_switch);
	add_rate(st, OPT_AGGRATE, on_aggs);
	add_rate(st, OPT_STATUSRATE, on_status);
	if (sink_of(&st->opts)->snapshot != NULL)
		add_rate(st, OPT_SNAPRATE, on_snapshot);
	/* With option auto threads record nothing by jump. */
	if (fast_is_on(st) && !fast_is_auto(st))
		timer_add(&st->timers, LANES_NS, on_lanes, NULL);
	deadman_start(st);
	heart_start(st);
	named_set_start(st);
	fire_consume(st);
	display_start(st);
	filter_install(st);
	targets_run(st);
}

int
session_finish(struct state *st)
{
	/* Detach from the processes first. The rest concerns only dtrap, and no
	 * process should wait for it. */
	writer_rest();
	records_read_last(st);
	profile_last(st);
	targets_release(st);
	writer_settle();
	fault_kill("end-released");
	if (!st->processor->fixed)
		processor_restore(st->processor);
	/* Empty the buffers, so that END has room for its records. */
	consume_patiently(st->consume);
	if (option_get(&st->opts, OPT_BUFPOLICY) == POLICY_SWITCH)
		fire_consume(st);
	display_end(st);
	fire_set_activity(st, ACTIVITY_COOLDOWN);
	fire_probe(st, probe_by_id(&st->probes, 2), NULL, NULL, 0);
	processor_restore(st->processor);
	fire_set_activity(st, ACTIVITY_STOPPED);
	if (st->output.error == 0) {
		int error = consume_finish(st->consume);
		st->output.error = error < 0 ? -error : 0;
	}
	consume_drops(st->consume);
	deadman_report(st);
	if (panic_faults() != 0)
		state_message(st,
		    "a file was truncated while dtrap read it: symbol names "
		    "may be missing");
	int status = store_hdr(&st->stores->store_mem)->exit_status;
	if (st->output.error == 0) {
		int error = consume_end(st->consume, status);
		st->output.error = error < 0 ? -error : 0;
	}
	if (st->output.error == EINTR)
		state_message(st, DISCARDED);
	return consume_pictures(st->consume) != 0 ? 1 : status;
}

bool
session_wrote(struct state *st)
{
	int error = st->output.error;

	if (error == 0 || error == EPIPE || error == EINTR)
		return true;
	state_message(st, "cannot write output: %s", strerror(error));
	return false;
}

void
session_fini(struct state *st)
{
	progress_end(st);
	display_end(st);
	if (st->super != NULL) {
		targets_release(st);
		panic_guard(NULL);
		super_destroy(st->super);
		guardian_end();
		fault_kill("end-destroyed");
	}
	fast_end(st);
	timers_fini(&st->timers);
	deadman_fini(st);
	syscalls_fini(st->syscalls);
	moments_fini(st->moments);
	if (st->consume != NULL)
		consume_destroy(st->consume);
	probes_fini(&st->probes);
	vec_foreach(p, &st->compiled.progs)
		prog_destroy(*p);
	vec_fini(&st->compiled.progs);
	if (st->compiled.cc != NULL)
		cc_destroy(st->compiled.cc);
	bodies_serve(NULL);
	parts_end(&st->parts);
	stores_destroy(st);
	close_output(st);
	options_fini(&st->opts);
	mem_free(st->syscalls);
	mem_free(st->moments);
	mem_free(st->oncpu);
	mem_free(st->deadman);
	mem_free(st->processor);
}
