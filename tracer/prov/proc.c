/*
 * The proc provider: events in the life of processes and threads.
 *
 *	maker                     child
 *	create, lwp-create
 *	                          start, lwp-start: before its first instruction
 *	                          exec, then exec-success in the new program, or
 *	                          exec-failure
 *	                          lwp-exit, and exit where it is the last thread
 *
 * An argument for a thread is its tid, which the D library translates (struct
 * task_struct *). While any of these probes is enabled, children are followed.
 */
#include "tracer/prov/proc.h"

#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/fire/moments.h"
#include "tracer/ptrace/event.h"

#define MODULE  "vmlinux"

#define TASK    "struct task_struct *"
#define SIGINFO "struct kernel_siginfo *"

/* clang-format off */
#define ARG(native, translated, from) { native, translated, from, NULL }
#define NO_ARG                        { NULL, NULL, 0, NULL }
/* clang-format on */

#define BIT(kind) (1U << (kind))

#define MAX_ARGS  3

/* Probes that fire at the same event fire in this order. */
static const struct row {
	const char *name;
	void (*enable)(struct state *st, struct probe *p); /* or NULL: */
	moment_fn on;    /* it is called at these events */
	unsigned events; /* BIT(enum event_kind) */
	struct probe_arg args[MAX_ARGS];
} rows[] = {
	/* clang-format off */
	{ "create", NULL, proc_on_create, BIT(EV_FORK) | BIT(EV_VFORK) | BIT(EV_CLONE),
	    { ARG(TASK, "psinfo_t *", 0) } },
	{ "start", NULL, proc_on_start, BIT(EV_STOP),
	    { NO_ARG } },
	{ "lwp-create", NULL, proc_on_lwp_create, BIT(EV_CLONE),
	    { ARG(TASK, "lwpsinfo_t *", 0),
	      ARG(TASK, "psinfo_t *", 0) } },
	{ "lwp-start", NULL, proc_on_lwp_start, BIT(EV_STOP),
	    { NO_ARG } },
	{ "exec", proc_enable_exec, NULL, 0,
	    { ARG("char *", "string", 0) } },
	{ "exec-failure", proc_enable_exec_failure, NULL, 0,
	    { ARG("int", NULL, 0) } },
	{ "exec-success", NULL, proc_on_exec_success, BIT(EV_EXEC),
	    { NO_ARG } },
	{ "signal-send", proc_enable_send, NULL, 0,
	    { ARG(TASK, "lwpsinfo_t *", 0),
	      ARG(TASK, "psinfo_t *", 0),
	      ARG("int", NULL, 1) } },
	{ "fault", NULL, proc_on_fault, BIT(EV_SIGNAL),
	    { ARG("int", NULL, 0),
	      ARG(SIGINFO, "siginfo_t *", 1) } },
	{ "signal-discard", NULL, proc_on_discard, BIT(EV_SIGNAL),
	    { ARG(TASK, "lwpsinfo_t *", 0),
	      ARG(TASK, "psinfo_t *", 0),
	      ARG("int", NULL, 1) } },
	{ "signal-handle", NULL, proc_on_handle, BIT(EV_SIGNAL),
	    { ARG("int", NULL, 0),
	      ARG(SIGINFO, "siginfo_t *", 1),
	      ARG("void *", NULL, 2) } },
	{ "signal-clear", proc_enable_clear, NULL, 0,
	    { ARG("int", NULL, 0) } },
	{ "lwp-exit", NULL, proc_on_lwp_exit, BIT(EV_EXIT) | BIT(EV_GONE),
	    { NO_ARG } },
	{ "exit", NULL, proc_on_exit, BIT(EV_EXIT) | BIT(EV_GONE),
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

	if (row->enable != NULL)
		row->enable(st, p);
	for (unsigned kind = 0; row->events >> kind != 0; kind++)
		if ((row->events & BIT(kind)) != 0)
			moments_subscribe(st, kind, row->on, p);
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
