/*
 * The syscall provider: entry and return of every system call.
 *
 *	syscall:vmlinux:NAME:entry	arg0 .. arg5, args[] with types
 *	syscall:vmlinux:NAME:return	arg0, arg1: the result; errno
 *
 * The result of a failed call is -errno, as in the kernel.
 */

#include "tracer/base/probe.h"
#include "tracer/ptrace/proc.h"
#include "tracer/base/provider.h"
#include "tracer/fire/eval.h"
#include "tracer/fire/fire.h"
#include "tracer/base/state.h"
#include "tracer/ptrace/syscall_table.h"
#include "tracer/fire/syscalls.h"

#define MODULE "vmlinux"

/* The structure in probe->data. */
struct call {
	unsigned nr;
	enum syscall_side side;
};

static void
publish(struct state *st, unsigned nr, enum syscall_side side, const char *name)
{
	bool fresh;
	struct probe *p = probe_add(&st->probes, &prov_syscall, "syscall",
	    MODULE, syscall_name(nr), name, &fresh);
	struct call *c = mem_zalloc(sizeof(*c));

	*c = (struct call){ .nr = nr, .side = side };
	p->data = c;
}

static void
init(struct state *st)
{
	for (unsigned nr = 0; nr < SYSCALL_MAX; nr++) {
		if (syscall_name(nr) == NULL)
			continue;
		publish(st, nr, SYSCALL_ENTRY, "entry");
		publish(st, nr, SYSCALL_RETURN, "return");
	}
}

static void
fire(struct state *st, const struct syscall_hit *hit, void *arg)
{
	const uint64_t result = (uint64_t)hit->result;
	const uint64_t results[2] = { result, result };

	const struct occasion about = { .sys_errno = hit->error };
	if (hit->side == SYSCALL_ENTRY)
		fire_event(st, arg, hit->thread, hit->args, 6, about);
	else
		fire_event(st, arg, hit->thread, results, 2, about);
}

static void
enable(struct state *st, struct probe *p)
{
	const struct call *c = p->data;

	syscalls_subscribe(st, c->nr, c->side, fire, p);
}

static bool
arg(const struct probe *p, unsigned n, struct probe_arg *out)
{
	const struct call *c = p->data;

	*out = (struct probe_arg){ .source = n };
	if (c->side == SYSCALL_RETURN)
		out->type = n < 2 ? "long" : NULL;
	else
		out->type = syscall_arg(c->nr, n);
	return out->type != NULL;
}

static void
destroy(struct probe *p)
{
	mem_free(p->data);
}

const struct provider prov_syscall = {
	.name = "syscall",
	.stability = {
		[STAB_PROVIDER] = { "Evolving", "Evolving", "Common" },
		[STAB_MODULE] = { "Private", "Private", "Unknown" },
		[STAB_FUNCTION] = { "Private", "Private", "ISA" },
		[STAB_NAME] = { "Evolving", "Evolving", "Common" },
		[STAB_ARGS] = { "Private", "Private", "ISA" },
	},
	.init = init,
	.enable = enable,
	.at_calls = true,
	.follows = true,
	.arg = arg,
	.destroy = destroy,
};
