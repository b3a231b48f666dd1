/*
 * Words that hints about descriptions share; see unmatched.h.
 */
#include "symbols/addrspace.h"
#include "tracer/program/unmatched.h"
#include "tracer/ptrace/proc.h"

void
unmatched_list(struct str *to, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_printf(to, "%s%s",
		    i == 0         ? "" :
			i + 1 == n ? " and " :
				     ", ",
		    names[i]);
}

void
unmatched_name(const struct proc *p, struct str *to)
{
	const struct load *exec =
	    p->space->as != NULL ? addrspace_exec(p->space->as) : NULL;

	str_printf(to, "process %d", (int)p->pid);
	if (exec != NULL)
		str_printf(to, " (%s)", exec->module);
}
