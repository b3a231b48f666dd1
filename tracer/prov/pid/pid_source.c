/*
 * Probes that debug information knows of: lines of the source, and the copies
 * that a compiler made of an inlined function.
 *
 *	pid$target:a.out:file.c@120:		name: line
 *	pid$target:a.out:src/file.c@120-130:
 *	pid$target:a.out:func:inline-entry
 *
 * A file is called by as many components of its path as the description has.
 *
 * Debug information may lie, and a breakpoint inside an instruction would be
 * the end of the program: so the function round each address is decoded, and
 * what is no instruction of it is left alone.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/glob.h"
#include "dlang/base/log.h"
#include "dlang/base/sorted.h"
#include "symbols/addrspace.h"
#include "symbols/demangle.h"
#include "symbols/dwarf_source.h"
#include "tracer/base/probe.h"
#include "tracer/base/progress.h"
#include "tracer/prov/pid/pid_impl.h"
#include "tracer/base/state.h"

#define NAME_LINE   "line"
#define NAME_INLINE "inline-entry"

/* ---- FILE@LINE ---- */

struct line_desc {
	char *file;         /* literal or glob */
	const char *number; /* a glob, in the text it was made of; or NULL: */
	int from, to;
};

static bool
parse_number(const char **text, int *out)
{
	char *end;

	errno = 0;
	long n = strtol(*text, &end, 10);
	if (end == *text || **text == '-' || errno != 0 || n < 1 || n > INT_MAX)
		return false;
	*text = end;
	*out = (int)n;
	return true;
}

/* False: it is none.  `out->file' is to be freed. */
static bool
line_parse(const char *func, struct line_desc *out)
{
	const char *at = strrchr(func, '@');

	if (at == NULL || at == func || at[1] == '\0')
		return false;
	*out = (struct line_desc){ .number = at + 1 };
	if (!glob_is(at + 1)) {
		const char *p = at + 1;
		if (!parse_number(&p, &out->from))
			return false;
		out->to = out->from;
		if (*p == '-') {
			p++;
			if (!parse_number(&p, &out->to) || out->to < out->from)
				return false;
		}
		if (*p != '\0')
			return false;
		out->number = NULL;
	}
	out->file = mem_strndup(func, (size_t)(at - func));
	return true;
}

static unsigned
slashes(const char *text)
{
	unsigned n = 0;

	for (; *text != '\0'; text++)
		n += *text == '/';
	return n;
}

/* As many components of a path as the pattern has. */
static const char *
tail_of(const char *path, const char *pattern)
{
	unsigned n = slashes(pattern);
	const char *p = path + strlen(path);

	while (p > path && (p[-1] != '/' || n-- > 0))
		p--;
	return p;
}

static bool
line_in(const struct line_desc *d, int line)
{
	char text[16];

	if (d->number == NULL)
		return line >= d->from && line <= d->to;
	snprintf(text, sizeof(text), "%d", line);
	return glob_match(d->number, text);
}

bool
pid_line_matches(const struct probe *p, const char *func)
{
	struct line_desc asked, own;
	bool fits = false;

	if (!line_parse(func, &asked))
		return false;
	if (line_parse(p->func, &own)) {
		fits = glob_field(asked.file, own.file) &&
		    line_in(&asked, own.from);
		mem_free(own.file);
	}
	mem_free(asked.file);
	return fits;
}

struct dwarf_sense
pid_sense(const struct probe *p)
{
	const struct pid_probe *pp = p->data;
	const char *at = strrchr(p->func, '@');

	switch (pp->kind) {
	case PID_ENTRY: return (struct dwarf_sense){ .entry = true };
	case PID_LINE:
		return (struct dwarf_sense){
			.line = at != NULL ? (int)strtol(at + 1, NULL, 10) : 0
		};
	case PID_INLINE:
		return (struct dwarf_sense){
			.inlined = p->also != NULL ? p->also[0] : p->func
		};
	default: return (struct dwarf_sense){ 0 };
	}
}

bool
pid_source_means(const struct probe *p, const struct probe_desc *pd)
{
	const struct pid_probe *pp = p->data;

	switch (pp->kind) {
	case PID_LINE:
		/* The same line has a probe for each way to call its file. */
		return strchr(pd->func, '@') != NULL &&
		    slashes(pd->func) == slashes(p->func);
	case PID_INLINE: return strncmp(pd->name, "inline", 6) == 0;
	default: return pid_unnamed_means(pp, pd->func);
	}
}

void
pid_source_parse(struct pid_request *r)
{
	r->globs = *r->pd->func == '\0' || glob_is(r->pd->func);
	if (strchr(r->pd->func, '@') != NULL)
		r->source.kind = PID_LINE;
	else if (strncmp(r->pd->name, "inline", 6) == 0)
		r->source.kind = PID_INLINE;
}

/* ---- sites ---- */

struct spot {
	uint64_t addr;    /* in memory */
	const char *func; /* the probe's function field, in `names' */
	const struct inlined *names; /* of an inlined function, or NULL */
	size_t order;
};

/* What descriptions may call an inlined function that has a name for the linker:
 * that, the source's name, and what object_func_names() would give it. */
struct inlined {
	const char *names[6]; /* up to a NULL */
	const char *bare, *full;
};

struct spots {
	struct pid_request *r;
	const struct line_desc *line;
	VEC(struct spot) list;
	struct arena names;
	struct hash inlined; /* by the linker's names */
	struct hash bare;    /* the first by that text, or &several */
};

static void
spot_add(struct spots *s, uint64_t addr, const char *func,
    const struct inlined *names)
{
	const struct load *l = s->r->load;

	/* What the linker has dropped is at 0, or nowhere. */
	if (!object_is_text(l->object, addr))
		return;
	*vec_push(&s->list) =
	    (struct spot){ l->bias + addr, func, names, s->list.len };
}

static int
spot_compare(const void *va, const void *vb)
{
	const struct spot *a = va, *b = vb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Decode the function round an address; false where there is none that is
 * known. */
static bool
decode_round(struct pid_request *r, uint64_t addr)
{
	uint64_t start;

	vec_clear(&r->insns);
	r->size = 0;
	r->start = addr;
	if (pid_around(r, addr - r->load->bias, &start) != 0)
		return false;
	r->start = r->load->bias + start;
	return pid_walk(r) == 0;
}

static bool
is_instruction(const struct pid_request *r, uint64_t addr)
{
	size_t lo = sorted_count(
	    r->insns.len, i, r->start + (uint64_t)r->insns.at[i].offset < addr);

	return lo < r->insns.len &&
	    r->start + (uint64_t)r->insns.at[lo].offset == addr;
}

static void
publish_spots(struct spots *s)
{
	static const struct pid_site first = { 0 };
	struct pid_request *r = s->r;
	const char *name = r->source.kind == PID_LINE ? NAME_LINE : NAME_INLINE;
	uint64_t from = 0, to = 0;

	if (s->list.len > 0)
		qsort(
		    s->list.at, s->list.len, sizeof(*s->list.at), spot_compare);
	r->offset = UINT64_MAX;
	r->ret = false;
	r->offsets = true; /* all instructions */
	vec_foreach(spot, &s->list) {
		struct sym sym = { .name = spot->func };

		if (spot->addr < from || spot->addr >= to) {
			if (!decode_round(r, spot->addr))
				r->size = 0;
			from = r->start;
			to = r->start + r->size;
		}
		if (!is_instruction(r, spot->addr)) {
			LOG("pid", "%s: no instruction at 0x%llx", spot->func,
			    (unsigned long long)spot->addr);
			continue;
		}
		r->source.found++;
		uint64_t start = r->start, size = r->size;
		r->sym = &sym;
		r->also = spot->names != NULL ? spot->names->names : NULL;
		r->start = spot->addr;
		pid_add_place(r, r->source.kind, name, &first, 1);
		r->start = start;
		r->size = size;
	}
	r->also = NULL;
}

/* ---- lines ---- */

static bool
file_meant(void *ctx, const char *path)
{
	struct spots *s = ctx;
	const char *pattern = s->line->file;

	return glob_field(pattern, tail_of(path, pattern));
}

static void
row_seen(void *ctx, const char *path, int line, uint64_t addr)
{
	struct spots *s = ctx;
	struct pid_source *src = &s->r->source;

	src->file = true;
	if (line_in(s->line, line)) {
		spot_add(s, addr,
		    arena_printf(
			&s->names, "%s@%d", tail_of(path, s->line->file), line),
		    NULL);
		return;
	}
	if (s->line->number != NULL)
		return;
	if (line < s->line->from && line > src->below)
		src->below = line;
	if (line > s->line->to && (line < src->above || src->above == 0))
		src->above = line;
}

static void
find_lines(struct spots *s)
{
	const char *file = s->line->file;
	const char *slash = strrchr(file, '/');
	const char *base = slash != NULL ? slash + 1 : file;

	if (dwarf_rows(s->r->load->object, glob_is(base) ? NULL : base,
		file_meant, row_seen, s))
		s->r->source.debug = true;
}

/* ---- inlined functions ---- */

/* Without the arguments of a template: `add<int>' is called add in a
 * description, which has no room for more. */
static size_t
plain_length(const char *name)
{
	const char *args = strchr(name, '<');

	return args == NULL || strncmp(name, "operator", 8) == 0 ?
	    strlen(name) :
	    (size_t)(args - name);
}

static struct inlined several;

static const struct inlined *
inlined_of(struct spots *s, const char *plain, const char *linkage)
{
	struct inlined *in = hash_get_str(&s->inlined, linkage);
	char text[FUNC_NAME_MOST];
	unsigned n = 0;

	if (in != NULL)
		return in;
	in = arena_alloc(&s->names, sizeof(*in));
	in->names[n++] = in->full = in->bare = arena_strdup(&s->names, linkage);
	in->names[n++] = plain;
	if (demangle_as(linkage, DEMANGLE_BARE, text, sizeof(text)))
		in->names[n++] = in->bare = arena_strdup(&s->names, text);
	if (demangle_as(linkage, DEMANGLE_FULL, text, sizeof(text)))
		in->names[n++] = in->full = arena_strdup(&s->names, text);
	hash_set_str(&s->inlined, in->names[0], in);
	if (hash_set_str(&s->bare, in->bare, in) != NULL)
		hash_set_str(&s->bare, in->bare, &several);
	return in;
}

static bool
inlined_matches(const struct inlined *in, const char *func)
{
	for (unsigned i = 0; in->names[i] != NULL; i++)
		if (glob_field(func, in->names[i]))
			return true;
	return false;
}

static void
inline_seen(void *ctx, const char *name, const char *linkage, uint64_t addr)
{
	struct spots *s = ctx;
	const char *func = s->r->pd->func;
	char *plain = arena_strndup(&s->names, name, plain_length(name));

	if (linkage == NULL) {
		if (glob_field(func, plain))
			spot_add(s, addr, plain, NULL);
		return;
	}
	const struct inlined *in = inlined_of(s, plain, linkage);
	if (inlined_matches(in, func))
		spot_add(s, addr, in->names[0], in);
}

/* As other functions are shown, once all have been seen. */
static void
show_inlined(struct spots *s)
{
	int64_t style = option_get(&s->r->st->opts, OPT_DEMANGLE);

	vec_foreach(spot, &s->list) {
		const struct inlined *in = spot->names;

		if (in == NULL || style == NAMES_MANGLED)
			continue;
		spot->func = style == NAMES_READABLE &&
			hash_get_str(&s->bare, in->bare) != &several ?
		    in->bare :
		    in->full;
	}
}

/* ---- descriptions ---- */

void
pid_source_publish(struct pid_request *r)
{
	struct spots s = { .r = r };
	struct line_desc line = { 0 };

	arena_init(&s.names);
	progress(r->st, "debug information of %s", r->load->module);
	if (r->source.kind == PID_INLINE) {
		if (glob_field(r->pd->name, NAME_INLINE) &&
		    dwarf_inlines(r->load->object, inline_seen, &s))
			r->source.debug = true;
	} else if (glob_field(r->pd->name, NAME_LINE) &&
	    line_parse(r->pd->func, &line)) {
		s.line = &line;
		find_lines(&s);
		mem_free(line.file);
	}
	show_inlined(&s);
	publish_spots(&s);
	vec_fini(&s.list);
	hash_fini(&s.inlined);
	hash_fini(&s.bare);
	arena_fini(&s.names);
}

/* What can be wrong with the text. */
static int
check_text(struct pid_request *r)
{
	bool lines = r->source.kind == PID_LINE;
	const char *name = lines ? NAME_LINE : NAME_INLINE;
	struct line_desc line;

	if (!glob_field(r->pd->name, name))
		return diag_error(r->d, D_PROC_NAME, r->at,
		    "%s is not a probe of %s: %s", r->pd->name,
		    lines ? "a line of the source" : "an inlined function",
		    name);
	if (!lines)
		return 0;
	if (!line_parse(r->pd->func, &line))
		return diag_error(r->d, D_PROC_LINE, r->at,
		    "'%s' is not a line of the source: FILE@LINE or "
		    "FILE@FIRST-LAST",
		    r->pd->func);
	mem_free(line.file);
	return 0;
}

static int
no_line(struct pid_request *r)
{
	const struct pid_source *s = &r->source;
	const char *func = r->pd->func, *at = strrchr(func, '@');
	const char *mod = *r->pd->mod != '\0' ? r->pd->mod : "the process";
	int len = (int)(at - func);
	char near[80] = "";

	if (!s->file)
		return diag_error(r->d, D_PROC_LINE, r->at,
		    "no code of '%s' was made of a file '%.*s'", mod, len,
		    func);
	if (s->below != 0 && s->above != 0)
		snprintf(near, sizeof(near), ": the nearest are %d and %d",
		    s->below, s->above);
	else if (s->below != 0 || s->above != 0)
		snprintf(near, sizeof(near), ": the nearest is %d",
		    s->below != 0 ? s->below : s->above);
	return diag_error(r->d, D_PROC_LINE, r->at,
	    "no code begins at line %s of '%.*s'%s", at + 1, len, func, near);
}

int
pid_source_check(struct pid_request *r)
{
	const char *mod = *r->pd->mod != '\0' ? r->pd->mod : "the process";

	if (r->d == NULL)
		return 0;
	int error = check_text(r);
	if (error != 0 || r->source.found > 0 || r->loads == 0 ||
	    option_get(&r->st->opts, OPT_ZDEFS) != 0)
		return error;
	if (!r->source.debug)
		return diag_error(r->d,
		    r->source.kind == PID_LINE ? D_PROC_LINE : D_PROC_FUNC,
		    r->at, "there is no debug information of '%s'", mod);
	if (r->source.kind == PID_LINE)
		return no_line(r);
	return r->globs ?
	    0 :
	    diag_error(r->d, D_PROC_FUNC, r->at,
		"no function '%s' is inlined in '%s'", r->pd->func, mod);
}
