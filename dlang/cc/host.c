/*
 * A host in front of a description: "web-*:pid$target:libc:malloc:entry" is of the
 * hosts of these names, when one program is traced on many.
 *
 * Names of functions have colons, too.  So there is a host only where there are
 * five fields or more, and the first of them names no provider.
 */
#include <string.h>

#include "dlang/base/glob.h"
#include "dlang/cc/cc_impl.h"
#include "dlang/where.h"

/* The length of the host's field with its colon; 0: there is none. */
static size_t
host_length(const struct comp *c, const char *text)
{
	size_t first = strcspn(text, ":"), colons = 0;
	bool quoted = false;

	for (const char *p = text; *p != '\0'; p++) {
		quoted ^= *p == '"';
		colons += *p == ':' && !quoted;
	}
	if (colons < 4 || first == 0 || memchr(text, '"', first) != NULL)
		return 0;
	char *name = mem_strndup(text, first);
	bool provider = c->in->is_provider(name);
	mem_free(name);
	return provider ? 0 : first + 1;
}

int
host_strip(struct comp *c, struct node *d, bool *here)
{
	*here = true;
	if (c->in->host == NULL)
		return 0;
	size_t n = host_length(c, d->name);
	if (n == 0)
		return 0;
	char *host = mem_strndup(d->name, n - 1);
	*here = glob_match(host, c->in->host);
	mem_free(host);
	if (where_text_is_merged(d->name + n))
		return comp_error(c, D_PDESC_INVAL, d,
		    "invalid probe description \"%s\": it is of no host, but of "
		    "where the hosts are merged",
		    d->name);
	d->name += n;
	return 0;
}
