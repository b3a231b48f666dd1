/*
 * The merge; see merge.h.
 *
 *	inputs --lines--> streams --rows, records--> the consumer
 *	                                                  ^
 *	timers --> clauses of tick-N and END -------------+
 *
 * A stream that is silent, damaged or over is named, and holds up nothing.  If
 * all inputs are files, time is what their lines say: ticks fire where they
 * would have fired when the files were recorded.
 */
#include "tracer/merge/merge.h"

#include <errno.h>
#include <string.h>

#include "dlang/base/clock.h"
#include "tracer/consume/consume.h"
#include "tracer/consume/far.h"
#include "tracer/drive/loop.h"
#include "tracer/drive/session.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/stores.h"

/* More are refused: each takes memory. */
#define STREAMS_MOST 65536
/* A stream of which nothing comes for so long is named; also three times the
 * time between two snapshots. */
#define SILENT_NS (5 * NS_PER_S)

/* How often hosts are told that somebody is here, before the timers run. */
#define BEAT_MS 1000

/* ---- what streams say ---- */

static const char *
ready(void *ctx, struct stream *s)
{
	struct merge *m = ctx;

	if (m->failed)
		return "there is nothing to run here";
	return m->started ? merge_match(m, s) : merge_start(m, s);
}

static void
row(void *ctx, struct stream *s, const struct prog_agg *a, const uint8_t *key,
    uint32_t cpu, const uint64_t *value)
{
	struct merge *m = ctx;

	far_row(m->st.consume, a->id, key, cpu, value);
}

/* BEGIN runs at each host, and what it prints is printed once. */
static bool
is_said_already(
    struct merge *m, const struct stream *s, const struct probe_text *p)
{
	if (strcmp(p->prov, "dtrace") != 0 || strcmp(p->name, "BEGIN") != 0)
		return false;
	if (m->begins == NULL)
		m->begins = s;
	return m->begins != s;
}

static void
record(void *ctx, struct stream *s, const struct probe_text *p, uint8_t *rec,
    uint32_t size)
{
	struct merge *m = ctx;

	if (!is_said_already(m, s, p))
		far_record(m->st.consume, s->host, p, rec, size);
}

static void
error(void *ctx, struct stream *s, const struct sink_error *e,
    const struct rec_hdr *hdr)
{
	struct merge *m = ctx;

	far_error(m->st.consume, s->host, e, hdr);
}

static void
drop(void *ctx, struct stream *s, const struct sink_drop *d)
{
	struct merge *m = ctx;

	far_drop(m->st.consume, s->host, d);
}

static void
snapshot(void *ctx, struct stream *s)
{
	int64_t late = (int64_t)(clock_ns(CLOCK_REALTIME) - s->realtime);

	if (s->snapshots == 0 || late < s->least_late)
		s->least_late = late;
	if (s->snapshots == 0 || late > s->most_late)
		s->most_late = late;
	s->snapshots++;
}

static void
say(void *ctx, struct stream *s, const char *what)
{
	struct merge *m = ctx;

	if (s->host != NULL && *s->host != '\0')
		state_message(&m->st, "%s: %s", s->host, what);
	else
		state_message(&m->st, "stream %llx: %s",
		    (unsigned long long)s->number, what);
}

static const struct stream_ops ops = {
	.ready = ready,
	.row = row,
	.record = record,
	.error = error,
	.drop = drop,
	.snapshot = snapshot,
	.say = say,
};

/* ---- lines ---- */

static struct stream *
stream_of(struct merge *m, uint64_t number)
{
	struct stream *s = hash_get(&m->by_number, number);

	if (s != NULL || m->streams.len >= STREAMS_MOST)
		return s;
	s = mem_zalloc(sizeof(*s));
	stream_init(s, number, &ops, m);
	hash_set(&m->by_number, number, s);
	*vec_push(&m->streams) = s;
	return s;
}

static void
no_line(struct merge *m, struct input *i, int why)
{
	if (why == -EBADMSG && i->last != NULL) {
		stream_damaged(i->last);
		return;
	}
	if (i->said)
		return;
	i->said = true;
	if (why == -ENOTSUP)
		state_message(&m->st,
		    "%s: a stream of another version of dtrap: it is left out",
		    i->name);
	else
		state_message(&m->st,
		    "%s: text that is no part of a stream is left out",
		    i->name);
}

/* The time of a stream's last line, by the clocks of day. */
static uint64_t
day_time(const struct stream *s)
{
	return s->at + (s->first_realtime - s->first_at);
}

/* Returns whether the line had a time. */
static bool
take_line(struct merge *m, struct input *i, const char *line, size_t n)
{
	struct wire_line l;
	int why = wire_open(&l, line, n);

	if (why != 0) {
		if (n != 0)
			no_line(m, i, why);
		return false;
	}
	struct stream *s = stream_of(m, l.stream);
	if (s == NULL)
		return false;
	i->last = s;
	s->input = i;
	if (s->stalls)
		say(m, s, "is back");
	s->stalls = false;
	s->heard = timer_now();
	bool timed = stream_line(s, &l);
	if (timed)
		i->now = MAX(i->now, day_time(s));
	return timed;
}

static void
input_over(struct merge *m, struct input *i)
{
	/* Several streams may have come by it. */
	vec_foreach(s, &m->streams)
		if ((*s)->input == i)
			stream_over(*s);
	i->now = UINT64_MAX;
}

/* ---- recorded files ---- */

/* Read one input up to the next line with a time. */
static void
advance(struct merge *m, struct input *i)
{
	for (;;) {
		size_t n;
		const char *line = input_line(i, &n);

		if (line == NULL && i->fd >= 0) {
			input_read(&m->inputs, i);
			continue;
		}
		if (line == NULL) {
			input_over(m, i);
			return;
		}
		if (take_line(m, i, line, n))
			return;
	}
}

/* The input that is the furthest behind; NULL: all are over. */
static struct input *
last_behind(struct merge *m)
{
	struct input *least = NULL;

	vec_foreach(i, &m->inputs.list)
		if ((*i)->now != UINT64_MAX &&
		    (least == NULL || (*i)->now < least->now))
			least = *i;
	return least;
}

static void
run_recorded(struct merge *m)
{
	struct input *i;

	while (!m->st.draining && !m->failed && !loop_stopping() &&
	    (i = last_behind(m)) != NULL) {
		uint64_t now = i->now;
		if (m->started && now != 0) {
			if (m->first == 0) {
				m->first = now;
				m->base = timer_now();
			}
			timers_run_at(
			    &m->st.timers, &m->st, m->base + (now - m->first));
		}
		if (!m->st.draining)
			advance(m, i);
	}
}

/* ---- live ---- */

/* What dtrap and the transport say there. */
static void
take_message(struct merge *m, const struct input *i, const char *line, size_t n)
{
	char *text = mem_strndup(line, n), *at = text;
	size_t name = strlen(m->st.name);

	if (strncmp(at, m->st.name, name) == 0 &&
	    strncmp(at + name, ": ", 2) == 0)
		at += name + 2;
	if (*at != '\0')
		state_message(&m->st, "%s: %s", i->name, at);
	mem_free(text);
}

static void
take_ready(void *ctx, struct input *i)
{
	struct merge *m = ctx;
	const char *line;
	size_t n;

	bool more = input_read(&m->inputs, i);
	while ((line = input_line(i, &n)) != NULL)
		if (i->messages)
			take_message(m, i, line, n);
		else
			take_line(m, i, line, n);
	if (!more && !i->messages)
		input_over(m, i);
}

static void
wait_live(void *ctx, const sigset_t *mask)
{
	struct merge *m = ctx;

	inputs_wait(&m->inputs, mask, -1, take_ready, m);
	if (m->started)
		fire_consume(&m->st);
	if (m->inputs.open == 0)
		fire_drain(&m->st);
}

static void
beat(struct merge *m)
{
	if (m->beat != NULL)
		m->beat(m->ctx);
}

static void
look_for_silence(struct state *st, void *arg, uint64_t late)
{
	struct merge *m = arg;
	uint64_t now = timer_now();

	beat(m);
	vec_foreach(at, &m->streams) {
		struct stream *s = *at;
		uint64_t limit =
		    MAX(SILENT_NS, 3 * MIN(s->rate, NS_PER_S * 3600));

		if (s->state == STREAM_OVER || s->stalls ||
		    now - s->heard < limit)
			continue;
		s->stalls = true;
		say(m, s,
		    "nothing comes from it any more: it is not waited "
		    "for");
	}
}

/* Until the first stream has said what the program is. */
static void
await_first(struct merge *m)
{
	sigset_t block, old;

	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigaddset(&block, SIGHUP);
	sigprocmask(SIG_BLOCK, &block, &old);
	while (!m->started && !m->failed && !loop_stopping() &&
	    m->inputs.open > 0) {
		inputs_wait(&m->inputs, &old, BEAT_MS, take_ready, m);
		beat(m);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/* After the end is wanted: what the hosts still send, which end soon. */
static void
await_last(struct merge *m)
{
	uint64_t until = timer_now() + SILENT_NS;
	sigset_t now;

	if (m->finish == NULL || !m->finish(m->ctx))
		return;
	sigprocmask(SIG_SETMASK, NULL, &now);
	while (m->inputs.open > 0 && timer_now() < until && !loop_impatient())
		inputs_wait(&m->inputs, &now,
		    (int)((until - timer_now()) / NS_PER_MS) + 1, take_ready,
		    m);
}

static void
run_live(struct merge *m)
{
	await_first(m);
	if (!m->started)
		return;
	timer_add(&m->st.timers, NS_PER_S, look_for_silence, m);
	loop_wait_by(wait_live, m);
	if (m->inputs.open == 0)
		fire_drain(&m->st);
	loop_run(&m->st);
	loop_wait_by(NULL, NULL);
	await_last(m);
}

/* ---- the end ---- */

static int
worst(struct merge *m, int status)
{
	const struct stream *of = NULL;

	vec_foreach(s, &m->streams) {
		/* It was over, and had not said so. */
		bool died = (*s)->state == STREAM_OVER && !(*s)->ended;
		int one = died ? 1 : (*s)->status;
		if (one > status) {
			status = one;
			of = *s;
		}
	}
	if (of != NULL && of->ended)
		say(m, (struct stream *)of, "ended with a status other than 0");
	return status;
}

static void
tell_clock(struct merge *m, struct stream *s)
{
	char text[160];

	if (!m->verbose || m->inputs.recorded || s->snapshots == 0)
		return;
	snprintf(text, sizeof(text),
	    "its snapshots came %lld to %lld us after the time that its clock "
	    "gave them",
	    (long long)s->least_late / 1000, (long long)s->most_late / 1000);
	say(m, s, text);
}

int
merge_run(struct merge *m)
{
	if (m->inputs.recorded)
		run_recorded(m);
	else
		run_live(m);
	m->stopping = m->st.draining && m->inputs.open > 0;
	if (!m->started) {
		if (!m->failed && !loop_stopping())
			state_message(&m->st, "no stream has begun");
		return 1;
	}
	m->stopping |= loop_stopping();
	if (!m->stopping)
		vec_foreach(s, &m->streams)
			stream_over(*s);
	int status = session_finish(&m->st);
	vec_foreach(s, &m->streams) {
		stream_tell(*s);
		tell_clock(m, *s);
	}
	return worst(m, status);
}

void
merge_fini(struct merge *m)
{
	session_fini(&m->st);
	vec_foreach(s, &m->streams) {
		stream_fini(*s);
		mem_free(*s);
	}
	vec_fini(&m->streams);
	vec_foreach(s, &m->sources)
		mem_free(*s);
	vec_fini(&m->sources);
	hash_fini(&m->by_number);
	inputs_fini(&m->inputs);
}
