/*
 * The proc provider: what happens in the life of processes and threads.
 *
 *	maker                     child
 *	create, lwp-create
 *	                          start, lwp-start: before its first instruction
 *	                          exec, then exec-success in the new program, or
 *	                          exec-failure
 *	                          lwp-exit, and exit where it is the last thread
 *
 * A thread is an argument by its tid, which the library translates (struct
 * task_struct *).  While any of these probes is enabled, children are followed.
 */
#include "tracer/prov/proc.h"

#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"

#define MODULE  "vmlinux"

#define TASK    "struct task_struct *"
#define SIGINFO "struct kernel_siginfo *"

/* clang-format off */
#define ARG(native, translated, from) { native, translated, from, NULL }
#define NO_ARG                        { NULL, NULL, 0, NULL }
/* clang-format on */

#define MAX_ARGS 3

/* In the order in which those fire that one event brings about. */
static const struct row {
	const char *name;
	void (*enable)(struct state *st, struct probe *p);
	struct probe_arg args[MAX_ARGS];
} rows[] = {
	/* clang-format off */
	{ "create", proc_enable_create,
	    { ARG(TASK, "psinfo_t *", 0) } },
	{ "start", proc_enable_start,
	    { NO_ARG } },
	{ "lwp-create", proc_enable_lwp_create,
	    { ARG(TASK, "lwpsinfo_t *", 0),
	      ARG(TASK, "psinfo_t *", 0) } },
	{ "lwp-start", proc_enable_lwp_start,
	    { NO_ARG } },
	{ "exec", proc_enable_exec,
	    { ARG("char *", "string", 0) } },
	{ "exec-failure", proc_enable_exec_failure,
	    { ARG("int", NULL, 0) } },
	{ "exec-success", proc_enable_exec_success,
	    { NO_ARG } },
	{ "signal-send", proc_enable_send,
	    { ARG(TASK, "lwpsinfo_t *", 0),
	      ARG(TASK, "psinfo_t *", 0),
	      ARG("int", NULL, 1) } },
	{ "fault", proc_enable_fault,
	    { ARG("int", NULL, 0),
	      ARG(SIGINFO, "siginfo_t *", 1) } },
	{ "signal-discard", proc_enable_discard,
	    { ARG(TASK, "lwpsinfo_t *", 0),
	      ARG(TASK, "psinfo_t *", 0),
	      ARG("int", NULL, 1) } },
	{ "signal-handle", proc_enable_handle,
	    { ARG("int", NULL, 0),
	      ARG(SIGINFO, "siginfo_t *", 1),
	      ARG("void *", NULL, 2) } },
	{ "signal-clear", proc_enable_clear,
	    { ARG("int", NULL, 0) } },
	{ "lwp-exit", proc_enable_lwp_exit,
	    { NO_ARG } },
	{ "exit", proc_enable_exit,
	    { ARG("int", NULL, 0) } },
	/* clang-format on */
};

static void
init(struct state *st)
{
	bool fresh;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		probe_add(&st->probes, &prov_proc, "proc", MODULE, "",
		    rows[i].name, &fresh)
		    ->data = (void *)(uintptr_t)&rows[i];
}

static void
enable(struct state *st, struct probe *p)
{
	const struct row *row = p->data;

	row->enable(st, p);
}

static bool
arg(const struct probe *p, unsigned n, struct probe_arg *out)
{
	const struct row *row = p->data;

	if (n >= MAX_ARGS || row->args[n].type == NULL)
		return false;
	*out = row->args[n];
	return true;
}

const struct provider prov_proc = {
	.name = "proc",
	.stability = STABILITY("Evolving", "ISA"),
	.init = init,
	.enable = enable,
	.follows = true,
	.arg = arg,
};
