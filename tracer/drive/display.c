/*
 * See display.h.
 *
 *	SIGWINCH             the size is another
 *	SCREEN_KEYS          keys were typed
 *	SIGTSTP (Ctrl-Z)     the screen is left, dtrap stops; it goes on: back
 *	SIGCONT              the same where dtrap was in the background
 */
#include "tracer/drive/display.h"

#include <signal.h>
#include <unistd.h>

#include "tracer/base/state.h"
#include "tracer/consume/keep.h"
#include "tracer/consume/screen.h"
#include "tracer/consume/sink.h"
#include "tracer/consume/top.h"
#include "tracer/drive/loop.h"
#include "tracer/survive/panic.h"

static bool
is_top(const struct state *st)
{
	return sink_of(&st->opts) == &sink_top;
}

/* A document or a file is for others. */
static bool
has_terminal(const struct state *st)
{
	return is_top(st) && st->output.path == NULL &&
	    (keep_terminal() >= 0 || isatty(STDOUT_FILENO));
}

static bool
is_ignored(int sig)
{
	struct sigaction now;

	return sigaction(sig, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

/* ---- signals ---- */

static void
rescue(void)
{
	screen_rescue();
	keep_rescue();
}

static void
on_size(struct state *st)
{
	top_redraw(st->consume);
}

/* As the key of the terminal does: commands that were launched get it, too. */
static void
on_keys(struct state *st)
{
	if (top_keys(st->consume))
		kill(0, SIGINT);
}

/* Waiting no longer than until the terminal is stuck. */
static bool
at_once(void)
{
	return true;
}

static void
on_stop(struct state *st)
{
	screen_leave(at_once);
	kill(getpid(), SIGSTOP);
	if (screen_is_open() && screen_return())
		top_redraw(st->consume);
}

static void
on_continue(struct state *st)
{
	if (screen_is_open() && screen_return())
		top_redraw(st->consume);
}

/* ---- begin and end ---- */

static void
on_rate(struct state *st, void *arg, uint64_t late)
{
	top_tick(st->consume);
	timer_set_period(&st->timers, on_rate, NULL,
	    (uint64_t)option_get(&st->opts, OPT_TOPRATE));
}

void
display_prepare(struct state *st)
{
	if (has_terminal(st) && keep_begin())
		panic_first(rescue);
}

/* curses would catch some of these signals; the last one to ask gets them. */
static void
show(struct state *st)
{
	bool stops = !is_ignored(SIGTSTP);
	const char *type;

	display_prepare(st);
	if (keep_terminal() < 0)
		return;
	if (!top_open(st->consume, &type)) {
		keep_end(at_once);
		state_message(st,
		    "this terminal, %s, cannot show a screen: lines follow",
		    type);
		return;
	}
	loop_hear(SIGWINCH, on_size);
	loop_hear(SCREEN_KEYS, on_keys);
	loop_hear(SIGCONT, on_continue);
	if (stops)
		loop_hear(SIGTSTP, on_stop);
	/* Keys that were typed before. */
	raise(SCREEN_KEYS);
	top_tick(st->consume);
}

void
display_start(struct state *st)
{
	int64_t rate = option_get(&st->opts, OPT_TOPRATE);

	if (!is_top(st))
		return;
	if (has_terminal(st))
		show(st);
	if (rate > 0)
		timer_add(&st->timers, (uint64_t)rate, on_rate, NULL);
}

void
display_end(struct state *st)
{
	if (st->consume != NULL && is_top(st))
		top_close(st->consume, loop_impatient);
	keep_end(loop_impatient);
	loop_hear_no_more();
	panic_first(NULL);
}
