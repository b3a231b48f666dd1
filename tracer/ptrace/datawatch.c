/*
 * Watches on data; see datawatch.h.
 */
#include "tracer/ptrace/datawatch.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dlang/base/log.h"
#include "inject/trap/area.h"
#include "tracer/ptrace/proc.h"

struct watch {
	uint32_t id;
	int fd;
	uint64_t seen; /* accesses that datawatch_next() has told */
};

/* Part of a thread. */
struct watches {
	VEC(struct watch) list;
};

static void
close_all(void *part)
{
	struct watches *ws = part;

	vec_foreach(w, &ws->list)
		close(w->fd);
	vec_fini(&ws->list);
}

static const struct part watches_part = { .size = sizeof(struct watches),
	.end = close_all };

bool
datawatch_fits(uint64_t addr, uint64_t len)
{
	return (len == 1 || len == 2 || len == 4 || len == 8) &&
	    addr % len == 0;
}

int
datawatch_add(struct thread *th, uint32_t id, uint64_t addr, unsigned len,
    enum datawatch_how how)
{
	struct watches *ws = part_of(&th->parts, &watches_part);
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_BREAKPOINT,
		.bp_addr = addr,
		.bp_len = len,
		.bp_type =
		    how == DATAWATCH_WRITE ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW,
		.sample_period = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sigtrap = 1,
		.remove_on_exec = 1, /* `sigtrap' needs it */
		.sig_data = TRAP_DATA_MARK,
	};

	vec_foreach(w, &ws->list)
		if (w->id == id)
			return 0;
	int fd = (int)syscall(
	    SYS_perf_event_open, &attr, th->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	LOG("datawatch", "%d: %u at %#lx: %d", (int)th->tid, id,
	    (unsigned long)addr, fd < 0 ? -errno : fd);
	if (fd < 0)
		return -errno;
	*vec_push(&ws->list) = (struct watch){ .id = id, .fd = fd };
	return 0;
}

void
datawatch_drop(struct thread *th, uint32_t id)
{
	struct watches *ws = part_had(&th->parts, &watches_part);
	size_t left = 0;

	for (size_t i = 0; ws != NULL && i < ws->list.len; i++) {
		struct watch w = ws->list.at[i];
		if (w.id == id)
			close(w.fd);
		else
			ws->list.at[left++] = w;
	}
	if (ws != NULL)
		ws->list.len = left;
}

bool
datawatch_next(struct thread *th, uint32_t *id, uint64_t *n)
{
	struct watches *ws = part_had(&th->parts, &watches_part);
	uint64_t count;

	for (size_t i = 0; ws != NULL && i < ws->list.len; i++) {
		struct watch *w = &ws->list.at[i];
		if (read(w->fd, &count, sizeof(count)) != sizeof(count) ||
		    count <= w->seen)
			continue;
		*id = w->id;
		*n = count - w->seen;
		w->seen = count;
		return true;
	}
	return false;
}

void
datawatch_end(struct thread *th)
{
	struct watches *ws = part_had(&th->parts, &watches_part);

	if (ws != NULL)
		close_all(ws);
}

bool
datawatch_had(const struct thread *th)
{
	return part_had(&th->parts, &watches_part) != NULL;
}

bool
datawatch_is(const siginfo_t *si)
{
	return si->si_signo == SIGTRAP && si->si_code == TRAP_DATA_CODE &&
	    trap_data_is_ours(trap_data(si));
}

bool
datawatch_at(struct thread *th)
{
	siginfo_t si;

	return datawatch_had(th) && thread_siginfo(th, &si) == 0 &&
	    datawatch_is(&si);
}
