/*
 * Programs; see prog.h.  Everything of a program is in its arena.
 */
#include "dlang/prog.h"

#include <string.h>

#include "dlang/base/mem.h"
#include "dlang/base/str.h"

void
prog_destroy(struct prog *p)
{
	if (p == NULL)
		return;
	mem_free(p->clauses);
	arena_fini(&p->arena);
	mem_free(p);
}

static void
add_quoted(struct str *to, const char *field)
{
	str_addc(to, '"');
	for (const char *p = field; *p != '\0'; p++) {
		if (*p == '"' || *p == '$')
			str_addc(to, '\\');
		str_addc(to, *p);
	}
	str_addc(to, '"');
}

char *
probe_desc_text(const struct probe_desc *pd, bool quote)
{
	struct str s = { 0 };

	str_printf(&s, "%s:%s:", pd->prov, pd->mod);
	if (quote || strpbrk(pd->func, ":,;/\"$(){} \t") != NULL)
		add_quoted(&s, pd->func);
	else
		str_add(&s, pd->func);
	str_printf(&s, ":%s", pd->name);
	return str_take(&s);
}
