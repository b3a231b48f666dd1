/*
 * The begin of the output; see asked.h.
 */
#include "tracer/drive/asked.h"

#include "dlang/base/mem.h"
#include "tracer/base/state.h"
#include "tracer/consume/consume.h"
#include "tracer/consume/sink.h"
#include "tracer/consume/text.h"
#include "tracer/fire/procstate.h"
#include "tracer/ptrace/super.h"

/* As much of a command line as is shown. */
#define COMMAND_MOST 4096

static char *
command_of(pid_t pid)
{
	char text[COMMAND_MOST] = "";

	procstate_command(pid, text, sizeof(text));
	return mem_strdup(text);
}

void
asked_begin(struct state *st, struct asked *a)
{
	const struct sink *sink = sink_of(&st->opts);
	VEC(struct asked_process) processes = { 0 };
	struct str text = { 0 };

	vec_foreach(p, &st->super->procs)
		*vec_push(&processes) = (struct asked_process){
			.pid = (*p)->pid,
			.command = command_of((*p)->pid),
		};
	a->opts = &st->opts;
	a->processes = processes.at;
	a->nprocesses = processes.len;
	/* A list may be as text. */
	if (sink->begin != NULL && (!a->lists || sink->probe != NULL))
		sink->begin(&text, a);
	text_put(st->output.out, &text);
	if (st->consume != NULL)
		consume_asked(st->consume, a);
	vec_foreach(p, &processes)
		mem_free((char *)p->command);
	vec_fini(&processes);
}
