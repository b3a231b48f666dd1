/*
 * Watches standard input for the other end; see heart.h.
 *
 * A line is a heartbeat.  The line "whole" also asks for all that was
 * aggregated so far.  The end of the input, or no line for the time of the
 * option, ends the run: a lost line to the other host is not always closed.
 */
#include "tracer/drive/heart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dlang/base/clock.h"
#include "tracer/base/part.h"
#include "tracer/base/state.h"
#include "tracer/consume/consume.h"
#include "tracer/drive/loop.h"
#include "tracer/fire/fire.h"

/* How often it is looked for. */
#define LOOK_NS (200 * NS_PER_MS)

struct heart {
	uint64_t last; /* when something came */
	char word[16]; /* of the present line */
	size_t len;
};

static int input = STDIN_FILENO;

void
heart_keep_input(void)
{
	int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
	FILE *stream = out >= 0 ? fdopen(out, "w") : NULL;

	if (in >= 0 && none >= 0 && dup2(none, STDIN_FILENO) >= 0)
		input = in;
	/* It may be a socket, which cannot be opened by a name. */
	if (stream != NULL && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
		stdout = stream;
	if (none >= 0)
		close(none);
}

static struct heart *
heart_of(struct state *st)
{
	static const struct part part = { .size = sizeof(struct heart) };

	return part_of(&st->parts, &part);
}

static void
take(struct state *st, struct heart *h, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (text[i] != '\n') {
			if (h->len < sizeof(h->word))
				h->word[h->len++] = text[i];
			continue;
		}
		if (h->len == 5 && memcmp(h->word, "whole", 5) == 0)
			consume_whole(st->consume);
		h->len = 0;
	}
}

/* Read what has come.  False: nothing comes any more. */
static bool
listen_now(struct state *st, struct heart *h)
{
	struct pollfd fd = { .fd = input, .events = POLLIN };
	char text[512];

	while (poll(&fd, 1, 0) > 0) {
		ssize_t n = read(input, text, sizeof(text));
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			return true;
		if (n <= 0)
			return false;
		h->last = timer_now();
		take(st, h, text, (size_t)n);
	}
	return true;
}

static void
look(struct state *st, void *arg, uint64_t late)
{
	struct heart *h = heart_of(st);
	uint64_t limit = (uint64_t)option_get(&st->opts, OPT_HEARTBEAT);

	if (st->draining)
		return;
	if (!listen_now(st, h)) {
		fire_drain(st);
		return;
	}
	if (timer_now() - h->last < limit)
		return;
	state_message(st,
	    "no heartbeat has come for %llu s: the other end is taken for lost",
	    (unsigned long long)(limit / NS_PER_S));
	/* Nobody reads the output either, perhaps, and it is not closed. */
	loop_hurry();
	fire_drain(st);
}

void
heart_start(struct state *st)
{
	if (option_get(&st->opts, OPT_HEARTBEAT) <= 0)
		return;
	heart_of(st)->last = timer_now();
	timer_add(&st->timers, LOOK_NS, look, NULL);
}
