/*
 * Every provider.  Adding one is a file in prov/ and a line here.
 */
#include <stddef.h>

#include "tracer/base/provider.h"

const struct provider *const providers[] = {
	&prov_dtrace, /* first: BEGIN, END and ERROR have ids 1, 2 and 3 */
	&prov_profile,
	&prov_syscall,
	&prov_proc,
	&prov_sched,
	&prov_vminfo,
	&prov_cpc,
	&prov_pid,
	&prov_plockstat,
	&prov_watch,
	&prov_usdt,
	NULL,
};
