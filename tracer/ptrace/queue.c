/*
 * The queue of events for event_poll().  A stop that arrives while dtrap waits
 * for another thread is queued here.
 */
#include "tracer/ptrace/super.h"

/* The queue */

void
event_push(struct super *su, const struct event *ev)
{
	stop_queue(ev->thread);
	*vec_push(&su->queue) = *ev;
}

bool
event_pop(struct super *su, struct event *ev)
{
	if (su->queue_head == su->queue.len)
		return false;
	*ev = su->queue.at[su->queue_head++];
	if (su->queue_head == su->queue.len) {
		vec_clear(&su->queue);
		su->queue_head = 0;
	}
	stop_unqueue(ev->thread);
	return true;
}

void
event_purge(struct super *su, const struct proc *p)
{
	size_t to = su->queue_head;

	for (size_t i = su->queue_head; i < su->queue.len; i++) {
		struct event ev = su->queue.at[i];
		if (ev.thread->proc == p) {
			stop_unqueue(ev.thread);
			continue;
		}
		if (ev.child != NULL && ev.child->proc == p)
			ev.child = NULL;
		su->queue.at[to++] = ev;
	}
	su->queue.len = to;
	if (su->queue_head == su->queue.len) {
		vec_clear(&su->queue);
		su->queue_head = 0;
	}
}
