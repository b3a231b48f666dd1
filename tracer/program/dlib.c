/*
 * Libraries in D; see dlib.h.
 */
#include "tracer/program/dlib.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/log.h"
#include "dlang/base/str.h"
#include "dlang/cc/cc.h"
#include "symbols/addrspace.h"
#include "tracer/ptrace/proc.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"

enum mark { NEW, OPEN, DONE };

struct need {
	char *class, *name;
	struct span span;
};

struct dlib {
	struct source source; /* name: the path */
	const char *base;
	VEC(struct need) needs;
	enum mark mark;
	bool left_out;
};

struct dlibs {
	VEC(struct dlib *) list;
	VEC(struct dlib *) order; /* each after the libraries that it needs */
};

static void
dlibs_end(void *part)
{
	struct dlibs *ls = part;

	vec_foreach(l, &ls->list) {
		vec_foreach(n, &(*l)->needs) {
			mem_free(n->class);
			mem_free(n->name);
		}
		vec_fini(&(*l)->needs);
		mem_free((char *)(*l)->source.name);
		mem_free((char *)(*l)->source.text);
		mem_free(*l);
	}
	vec_fini(&ls->list);
	vec_fini(&ls->order);
}

static const struct part dlibs_part = { .size = sizeof(struct dlibs),
	.end = dlibs_end };

/* ---- files ---- */

/* The next word of a line, in s; NULL at its end. */
static char *
next_word(const char **s)
{
	*s += strspn(*s, " \t\r\"");
	size_t n = strcspn(*s, " \t\r\n\"");
	const char *from = *s;

	*s += n;
	return n != 0 ? mem_strndup(from, n) : NULL;
}

/* Parse "#pragma D depends_on CLASS NAME". The compiler reports errors in
 * it. */
static void
scan_line(struct dlib *l, const char *line, int number)
{
	static const char *const words[] = { "pragma", "D", "depends_on" };

	line += strspn(line, " \t");
	if (*line++ != '#')
		return;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		char *word = next_word(&line);
		bool same = word != NULL && strcmp(word, words[i]) == 0;
		mem_free(word);
		if (!same)
			return;
	}
	char *class = next_word(&line);
	char *name = next_word(&line);
	*vec_push(&l->needs) = (struct need){
		.class = class,
		.name = name,
		.span = { .source = &l->source,
		    .line = number,
		    .col = 1,
		    .end_line = number,
		    .end_col = 2,
		    .file = l->source.name,
		    .file_line = number },
	};
}

static void
scan_needs(struct dlib *l)
{
	int number = 1;

	for (const char *p = l->source.text; *p != '\0'; number++) {
		scan_line(l, p, number);
		p += strcspn(p, "\n");
		p += *p == '\n';
	}
}

static void
add_file(struct dlibs *ls, const char *dir, const char *name)
{
	char *path = mem_printf("%s/%s", dir, name);
	FILE *f = fopen(path, "re");
	struct str text = { 0 };
	bool read = f != NULL && str_add_file(&text, f);

	if (f != NULL)
		fclose(f);
	if (!read) {
		LOG("dlib", "cannot read %s", path);
		str_fini(&text);
		mem_free(path);
		return;
	}
	struct dlib *l = mem_zalloc(sizeof(*l));
	l->source = (struct source){ path, str_take(&text), true };
	l->base = path + strlen(dir) + 1;
	scan_needs(l);
	*vec_push(&ls->list) = l;
}

static int
is_library(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 2 && e->d_name[0] != '.' &&
	    strcmp(e->d_name + n - 2, ".d") == 0;
}

/* A directory that does not exist has no libraries. */
static void
add_dir(struct dlibs *ls, const char *dir)
{
	struct dirent **names;
	int n = scandir(dir, &names, is_library, alphasort);

	if (n < 0) {
		LOG("dlib", "no directory %s: %s", dir, strerror(errno));
		return;
	}
	for (int i = 0; i < n; i++) {
		add_file(ls, dir, names[i]->d_name);
		free(names[i]);
	}
	free(names);
}

/* Add directories, one in each line. */
static void
add_dirs(struct dlibs *ls, const char *lines)
{
	while (lines != NULL && *lines != '\0') {
		size_t n = strcspn(lines, "\n");
		char *dir = mem_strndup(lines, n);
		add_dir(ls, dir);
		mem_free(dir);
		lines += n + (lines[n] == '\n');
	}
}

/* ---- order ---- */

static struct dlib *
find(struct dlibs *ls, const char *base)
{
	vec_foreach(l, &ls->list)
		if (strcmp((*l)->base, base) == 0)
			return *l;
	return NULL;
}

static bool
is_dependency(const struct need *n)
{
	return n->name != NULL && strcmp(n->class, "library") == 0;
}

/* Append l to the order, after what it needs.  The recursion is bounded by the
 * number of libraries. */
static int
visit(struct dlibs *ls, struct dlib *l, struct diags *d)
{
	l->mark = OPEN;
	vec_foreach(n, &l->needs) {
		if (!is_dependency(n))
			continue;
		struct dlib *other = find(ls, n->name);
		if (other == NULL)
			return diag_error(d, D_PRAGMA_DEPEND, &n->span,
			    "library %s depends on %s, which is in no library "
			    "directory",
			    l->base, n->name);
		if (other->mark == OPEN)
			return diag_error(d, D_PRAGMA_DEPEND, &n->span,
			    "library %s and %s depend on each other", l->base,
			    other->base);
		if (other->mark == NEW && visit(ls, other, d) != 0)
			return -EINVAL;
	}
	l->mark = DONE;
	*vec_push(&ls->order) = l;
	return 0;
}

/* ---- what is there ---- */

static bool
provider_is_there(const struct state *st, const char *name)
{
	for (const struct provider *const *p = st->providers; *p != NULL; p++)
		if (strcmp((*p)->name, name) == 0)
			return true;
	vec_foreach(p, &st->probes.list)
		if (strcmp((*p)->prov, name) == 0)
			return true;
	return false;
}

/* Is the module mapped in the target? */
static bool
module_is_there(const struct state *st, const char *name)
{
	struct proc *p = super_proc(st->super, st->named.pid);
	struct load *const *loads;

	if (p == NULL)
		return false;
	size_t n = addrspace_loads(p->space->as, &loads);
	for (size_t i = 0; i < n; i++)
		if (load_matches(loads[i], name))
			return true;
	return false;
}

static bool
is_met(struct state *st, const struct need *n)
{
	if (n->name == NULL)
		return true; /* malformed: the compiler reports it */
	if (strcmp(n->class, "provider") == 0)
		return provider_is_there(st, n->name);
	if (strcmp(n->class, "module") == 0)
		return module_is_there(st, n->name);
	return !is_dependency(n) ||
	    !find(part_had(&st->parts, &dlibs_part), n->name)->left_out;
}

/* ---- compiling ---- */

static int
load(struct state *st, struct dlib *l, struct diags *d)
{
	struct cc_input in = {
		.source = &l->source, .level = CC_SCRIPT, .library = true
	};
	struct prog *prog = NULL;

	vec_foreach(n, &l->needs)
		l->left_out |= !is_met(st, n);
	if (l->left_out)
		return 0;
	int error = cc_compile(st->compiled.cc, &in, &prog, d);
	if (error == 0)
		*vec_push(&st->compiled.progs) = prog;
	return error;
}

int
dlibs_load(struct state *st, struct diags *d)
{
	if (part_had(&st->parts, &dlibs_part) != NULL ||
	    option_get(&st->opts, OPT_NOLIBS) != 0)
		return 0;
	struct dlibs *ls = part_of(&st->parts, &dlibs_part);
	add_dirs(ls, st->opts.text[OPT_SYSLIBDIR]);
	add_dirs(ls, st->opts.text[OPT_LIBDIR]);
	vec_foreach(l, &ls->list)
		if ((*l)->mark == NEW && visit(ls, *l, d) != 0)
			return -EINVAL;
	for (size_t i = ls->order.len; i-- > 0;)
		LOG("dlib", "library %s, number %zu/%zu",
		    ls->order.at[i]->source.name, i + 1, ls->order.len);
	vec_foreach(l, &ls->order)
		if (load(st, *l, d) != 0)
			return -EINVAL;
	return 0;
}
