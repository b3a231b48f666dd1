/*
 * The structs of processes, threads and spaces, and the tables of these.
 *
 * A thread is in the list of its process and in the table by tid, until it is
 * unlinked.  A process is in the supervisor's list and in that of its space.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dlang/base/log.h"
#include "inject/tracepoint.h"
#include "tracer/base/timer.h"
#include "tracer/ptrace/super.h"

void
super_set_hooks(struct super *su, const struct super_hooks *hooks, void *ctx)
{
	su->hooks = *hooks;
	su->hooks_ctx = ctx;
}

struct proc *
super_next(struct super *su, struct proc *prev)
{
	size_t i = 0;

	while (prev != NULL && i < su->procs.len && su->procs.at[i++] != prev)
		;
	return i < su->procs.len ? su->procs.at[i] : NULL;
}

bool
super_knew(struct super *su, pid_t pid)
{
	return super_proc(su, pid) != NULL ||
	    hash_get(&su->ended, (uint64_t)pid) != NULL;
}

struct proc *
super_proc(struct super *su, pid_t pid)
{
	vec_foreach(p, &su->procs)
		if ((*p)->pid == pid)
			return *p;
	return NULL;
}

struct thread *
super_thread(struct super *su, pid_t tid)
{
	struct thread *th = hash_get(&su->threads, (uint64_t)tid);

	return th != NULL && !thread_gone(th) ? th : NULL;
}

/* Spaces */

static int
mem_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct space *sp = ctx;

	return sp->target.ops->read(&sp->target, addr, buf, len);
}

static int
text_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct space *sp = ctx;
	int r = sp->target.ops->read(&sp->target, addr, buf, len);

	if (r == 0 && sp->tab != NULL)
		tracepoint_overlay(sp->tab, addr, buf, len);
	return r;
}

void
space_close(struct space *sp)
{
	if (sp->mem_fd >= 0)
		close(sp->mem_fd);
	sp->mem_fd = -1;
}

int
space_open(struct space *sp, pid_t tid)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	space_close(sp);
	sp->mem_fd = fd;
	return 0;
}

void
reserve_spend(struct super *su)
{
	if (su->reserve >= 0)
		close(su->reserve);
	su->reserve = -1;
}

void
reserve_keep(struct super *su)
{
	if (su->reserve < 0)
		su->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* /proc/PID/mem of a leader that has ended is empty, so each live thread is
 * tried. */
bool
space_reopen(struct space *sp)
{
	bool open = false;

	space_foreach_thread(th, sp)
	{
		if (!open && !thread_gone(th) && !thread_ends(th))
			open = space_open(sp, th->tid) == 0;
	}
	return open;
}

bool
space_borrow(struct space *sp)
{
	if (sp->mem_fd >= 0)
		return false;
	reserve_spend(sp->super);
	if (space_reopen(sp))
		return true;
	reserve_keep(sp->super);
	return false;
}

void
space_return(struct space *sp)
{
	space_close(sp);
	reserve_keep(sp->super);
}

static struct space *
space_create(struct super *su, pid_t tid)
{
	struct space *sp = mem_zalloc(sizeof(*sp));

	sp->target.ops = su->target_ops;
	sp->super = su;
	sp->mem = (struct reader){ mem_read, sp };
	sp->text = (struct reader){ text_read, sp };
	sp->mem_fd = -1;
	space_open(sp, tid);
	return sp;
}

/* The time from here to space_runs() is what a client of the process waits: the
 * longest one is reported. */
void
space_stands(struct space *sp)
{
	if (sp->still == 0)
		sp->still = timer_now();
}

void
space_runs(struct space *sp)
{
	struct super *su = sp->super;

	if (sp->still == 0)
		return;
	uint64_t took = timer_now() - sp->still;
	sp->still = 0;
	su->longest_stop = MAX(su->longest_stop, took);
	LOG("stop", "%d: stood still for %lu us",
	    (int)(sp->procs.len > 0 ? sp->procs.at[0]->pid : 0),
	    (unsigned long)(took / 1000));
}

uint64_t
super_longest_stop(const struct super *su)
{
	return su->longest_stop;
}

void
space_leave(struct space *sp, struct proc *p)
{
	for (size_t i = 0; i < sp->procs.len; i++)
		if (sp->procs.at[i] == p) {
			sp->procs.at[i] = sp->procs.at[--sp->procs.len];
			break;
		}
	if (--sp->refs > 0)
		return;
	space_runs(sp);
	if (sp->super->hooks.space_end != NULL)
		sp->super->hooks.space_end(sp->super->hooks_ctx, sp);
	space_close(sp);
	vec_fini(&sp->procs);
	vec_fini(&sp->left);
	parts_end(&sp->parts);
	mem_free(sp);
}

void
space_keep(struct space *sp)
{
	sp->refs++;
}

static void
space_join(struct space *sp, struct proc *p)
{
	p->space = sp;
	space_keep(sp);
	*vec_push(&sp->procs) = p;
}

/* Processes and threads */

struct proc *
proc_add(struct super *su, pid_t pid, struct space *sp)
{
	struct proc *p = mem_zalloc(sizeof(*p));

	p->pid = pid;
	p->super = su;
	space_join(sp != NULL ? sp : space_create(su, pid), p);
	*vec_push(&su->procs) = p;
	return p;
}

struct thread *
thread_add(struct proc *p, pid_t tid, enum thread_state state)
{
	struct thread *th = mem_zalloc(sizeof(*th));

	th->tid = tid;
	th->proc = p;
	th->stop.state = state;
	th->birth = ++p->super->births;
	*vec_push(&p->threads) = th;
	hash_set(&p->super->threads, (uint64_t)tid, th);
	return th;
}

bool
thread_unlink(struct thread *th)
{
	struct proc *p = th->proc;
	struct hash *by_tid = &p->super->threads;

	/* A new thread may have the same tid already. */
	if (hash_get(by_tid, (uint64_t)th->tid) == th)
		hash_remove(by_tid, (uint64_t)th->tid);
	for (size_t i = 0; i < p->threads.len; i++)
		if (p->threads.at[i] == th) {
			memmove(&p->threads.at[i], &p->threads.at[i + 1],
			    (p->threads.len - i - 1) * sizeof(th));
			p->threads.len--;
			break;
		}
	return p->threads.len == 0;
}

void
thread_free(struct thread *th)
{
	stop_take(th);
	parts_end(&th->parts);
	mem_free(th);
}

void
proc_unlink(struct proc *p)
{
	struct super *su = p->super;

	for (size_t i = 0; i < su->procs.len; i++)
		if (su->procs.at[i] == p) {
			memmove(&su->procs.at[i], &su->procs.at[i + 1],
			    (su->procs.len - i - 1) * sizeof(p));
			su->procs.len--;
			break;
		}
}

void
proc_free(struct proc *p)
{
	struct super *su = p->super;

	hash_set(&su->ended, (uint64_t)p->pid, su);
	space_leave(p->space, p);
	vec_fini(&p->threads);
	parts_end(&p->parts);
	mem_free(p);
}

void
proc_drop(struct proc *p)
{
	struct super *su = p->super;

	event_purge(su, p);
	while (p->threads.len > 0) {
		struct thread *th = p->threads.at[0];
		thread_unlink(th);
		thread_free(th);
	}
	/* The thread that the last event ended may be of this process. */
	if (su->dead_thread != NULL && su->dead_thread->proc == p) {
		thread_free(su->dead_thread);
		su->dead_thread = NULL;
	}
	proc_unlink(p);
	proc_free(p);
}

void
proc_new_space(struct proc *p)
{
	struct space *old = p->space;

	space_join(space_create(p->super, p->pid), p);
	space_leave(old, p);
	p->vfork_child = false;
	/* Handlers are not inherited. */
	trapaction_handlers_gone(p);
}

void
super_want_syscalls(struct super *su, bool want)
{
	su->want_syscalls = want;
}

void
super_ignore_filters(struct super *su)
{
	su->unfiltered = true;
}

bool
super_ignores_filters(const struct super *su)
{
	return su->unfiltered;
}

void
proc_refresh(struct proc *p)
{
	struct proc_status st;

	if (procfs_status(p->pid, &st) < 0)
		return;
	memcpy(p->comm, st.comm, sizeof(p->comm));
	trapaction_refresh(p, &st);
}
