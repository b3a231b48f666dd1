/*
 * See call.h.
 */
#include "tracer/ptrace/call.h"

#include <string.h>

#include "tracer/ptrace/super.h"

bool
call_enter(struct thread *th, const struct syscall_entry *e)
{
	struct syscall_call *c = &th->call;
	bool again = e->ip == c->again_ip && e->sp == c->again_sp;

	if (again)
		c->again_ip = c->again_sp = 0;
	call_found(th, e);
	return again;
}

void
call_found(struct thread *th, const struct syscall_entry *e)
{
	struct syscall_call *c = &th->call;

	c->state = CALL_MADE;
	c->nr = e->nr;
	memcpy(c->args, e->args, sizeof(c->args));
}

void
call_returned(struct thread *th, int64_t result)
{
	th->call.result = result;
}

void
call_comes_again(struct thread *th, uint64_t ip, uint64_t sp)
{
	th->call.again_ip = ip;
	th->call.again_sp = sp;
}

void
call_hold(struct thread *th)
{
	th->call.state = CALL_HELD;
}

void
call_goes_on(struct thread *th)
{
	th->call.state = CALL_MADE;
}

void
call_end(struct thread *th)
{
	th->call.state = CALL_NONE;
}

void
call_lose(struct thread *th)
{
	/* A call that is held stays: the filter's stop will report when it
	 * continues. */
	if (th->call.state == CALL_MADE)
		th->call.state = CALL_NONE;
}

void
call_adopt(struct thread *th)
{
	struct uregs *regs = thread_regs(th);
	struct syscall_entry e;

	th->call = (struct syscall_call){ 0 };
	if (regs == NULL || !syscall_restarts(regs_result(regs)) ||
	    !thread_syscall_regs(th, &e))
		return;
	call_found(th, &e);
	call_returned(th, regs_result(regs));
	call_hold(th);
}

void
call_inherit(const struct thread *caller, struct thread *th)
{
	th->call = caller->call;
}
