/*
 * Every provider.  Adding one is a file in prov/ and a line here.
 */
#include <stddef.h>

#include "tracer/provider.h"

const struct provider *const providers[] = {
	&prov_dtrace, /* first: BEGIN, END and ERROR have ids 1, 2 and 3 */
	&prov_profile,
	&prov_syscall,
	&prov_proc,
	&prov_pid,
	&prov_usdt,
	NULL,
};

void
providers_unloaded(struct state *st, struct load *l)
{
	for (const struct provider *const *p = providers; *p != NULL; p++)
		if ((*p)->unloaded != NULL)
			(*p)->unloaded(st, l);
}

void
providers_space_end(struct state *st, const struct addrspace *as)
{
	for (const struct provider *const *p = providers; *p != NULL; p++)
		if ((*p)->space_end != NULL)
			(*p)->space_end(st, as);
}
