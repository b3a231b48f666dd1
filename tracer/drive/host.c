/*
 * This host; see host.h.
 */
#include "tracer/drive/host.h"

#include <string.h>
#include <unistd.h>

#include "dlang/base/glob.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"

const char *
host_name(const struct state *st)
{
	static char name[256];

	if (st->where != WHERE_HOST)
		return NULL;
	if (st->opts.text[OPT_VMNAME] != NULL)
		return st->opts.text[OPT_VMNAME];
	if (gethostname(name, sizeof(name) - 1) != 0)
		name[0] = '\0';
	return name;
}

/* "pid", "pid1234", "pid$target", "p*". */
bool
host_is_provider(const char *field)
{
	size_t n = strcspn(field, "$");

	while (n > 0 && strchr("0123456789", field[n - 1]) != NULL)
		n--;
	for (const struct provider *const *p = providers; *p != NULL; p++) {
		const char *name = (*p)->name;
		if ((strncmp(field, name, n) == 0 && name[n] == '\0') ||
		    (glob_is(field) && glob_match(field, name)))
			return true;
	}
	return false;
}
