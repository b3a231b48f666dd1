/*
 * Enables the compiled programs; see run.h.
 */
#include "tracer/drive/run.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "dlang/base/str.h"
#include "dlang/cc/cc.h"
#include "dlang/image/image.h"
#include "tracer/consume/consume.h"
#include "tracer/fast/fast.h"
#include "tracer/program/enable.h"
#include "tracer/drive/loop.h"
#include "tracer/ptrace/proc.h"
#include "tracer/sites/protect.h"
#include "tracer/sites/site.h"
#include "tracer/base/state.h"
#include "tracer/fire/stores.h"
#include "tracer/drive/past.h"
#include "tracer/drive/targets.h"

/* For the consumer: the current address space of a process, or its last one,
 * since records are often read after its end. */
static struct addrspace *
space_of(void *ctx, uint32_t pid)
{
	const struct state *st = ctx;
	pid_t which = pid != 0 ? (pid_t)pid : st->named.pid;
	struct proc *p = super_proc(st->super, which);

	if (p != NULL && p->space->as != NULL)
		return p->space->as;
	return past_of(st, which);
}

static bool
is_limited(void)
{
	struct rlimit lim;

	return getrlimit(RLIMIT_AS, &lim) == 0 && lim.rlim_cur != RLIM_INFINITY;
}

/* The clause with the largest record; NULL if there is no clause. */
static const struct prog_clause *
largest_clause(const struct state *st)
{
	const struct prog_clause *most = NULL;

	vec_foreach(p, &st->compiled.progs)
		for (size_t i = 0; i < (*p)->nclauses; i++)
			if (most == NULL ||
			    (*p)->clauses[i]->rec_size > most->rec_size)
				most = (*p)->clauses[i];
	return most;
}

uint64_t
run_least_bufsize(const struct state *st)
{
	const struct prog_clause *most = largest_clause(st);
	uint64_t size = most != NULL ? most->rec_size : 0;

	return option_get(&st->opts, OPT_BUFPOLICY) == POLICY_SWITCH ?
	    2 * size :
	    size;
}

char *
run_bufsize_hint(const struct state *st)
{
	const struct prog_clause *most = largest_clause(st);
	char size[32];

	stores_size_text(run_least_bufsize(st), size);
	char *desc = probe_desc_text(&most->desc, false);
	const char *name = desc + strspn(desc, ":");
	struct str text = { 0 };
	int64_t strsize = option_get(&st->opts, OPT_STRSIZE);

	str_printf(
	    &text, "a record of %s takes %u bytes", name, most->rec_size);
	if (most->rec_size > strsize)
		str_printf(
		    &text, ", where strsize is %lld", (long long)strsize);
	str_printf(&text, ": -b %s or more", size);
	mem_free(desc);
	return str_take(&text);
}

const char *
run_enable(struct state *st, const struct consume_report *report, char **hint)
{
	int error = stores_create_image(st);

	if (error == 0)
		error = image_publish(
		    st->image, cc_globals(st->compiled.cc), &st->opts);
	if (error == 0 && !stores_fit(st))
		error = -EMSGSIZE;
	if (error == 0)
		error = stores_create_store(st, enable_end_size(st));
	if (error == -EMSGSIZE)
		*hint = stores_hint(st);
	if (error != 0)
		return error == -EMSGSIZE ? "Enabling exceeds size of buffer" :
		    is_limited() ? "not enough address space (ulimit -v)" :
				   "not enough memory";
	if (enable_apply(st) != 0)
		return "too many probes";
	if (targets_begin_again(st))
		enable_again(st);
	sites_commit_all(st);
	const char *why = protect_start(st);
	if (why != NULL)
		return why;
	st->matching = true;
	st->consume = consume_create(&(struct consume_env){
	    .image = st->stores->image_mem,
	    .store = st->stores->store_mem,
	    .globals = cc_globals(st->compiled.cc),
	    .opts = &st->opts,
	    .out = st->output.out,
	    .path = st->output.path,
	    .err = st->output.err,
	    .prog = st->name,
	    .testing = st->testing,
	    .space = space_of,
	    .space_ctx = st,
	    .report = report,
	    .barrier = fast_barrier(st),
	    .enough = loop_impatient,
	});
	return NULL;
}
