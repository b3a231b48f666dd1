/*
 * For the tests of a provider whose probes fire for records of the kernel
 * (tracer/fire/records.h): what is wanted and what fires are doubles, which append a
 * word to `done' each.  The test defines wanted(), and includes the provider behind this
 * file.
 */
#ifndef T_UNIT_RECORDS_FIXTURE_H
#define T_UNIT_RECORDS_FIXTURE_H

#include <check.h>
#include <errno.h>
#include <string.h>

#include "dlang/base/str.h"
#include "dlang/dif.h"
#include "inject/resume.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/records.h"
#include "tracer/ptrace/perfevent.h"
#include "tracer/ptrace/proc.h"

static struct state session;
static struct space space;
static struct proc proc;
static struct thread thread;
static struct str done;
static uint32_t its_needs;
static int want_error;
static record_fn told;
static void *told_arg;

/* Append a word for the wish, and return its number. */
static uint32_t wanted(const struct perf_wish *w);

static int
double_want(const struct perf_wish *w, record_fn fn, void *arg, uint32_t *wish)
{
	*wish = wanted(w);
	told = fn;
	told_arg = arg;
	return want_error;
}

static void
double_fire(const struct probe *p, const uint64_t *words, unsigned n)
{
	str_printf(&done, "%s", p->name);
	for (unsigned i = 0; i < n; i++)
		str_printf(&done, ",%llx", (unsigned long long)words[i]);
	str_addc(&done, ' ');
}

#define records_needs(st, p)                   its_needs
#define records_want(st, w, of, fn, arg, wish) double_want(w, fn, arg, wish)
#define records_end(st, wish)                  str_printf(&done, "end-%u ", wish)
#define fire_seen(st, p, th, words, n, seen)   double_fire(p, words, n)
#define resume_text_pc(tab, pc)                ((pc) + 0x1000)
#define state_message(st, fmt, name, why) \
	str_printf(&done, "message: " fmt, name, why)

static void
has_done(const char *want)
{
	ck_assert_str_eq(str_c(&done), want);
	str_clear(&done);
}

static void
fixture_begin(void)
{
	memset(&session, 0, sizeof(session));
	memset(&space, 0, sizeof(space));
	probes_init(&session.probes);
	proc.space = &space;
	thread.proc = &proc;
	its_needs = NEED_ARG;
	want_error = 0;
}

static void
teardown(void)
{
	parts_end(&session.parts);
	probes_fini(&session.probes);
	str_fini(&done);
}

#endif
