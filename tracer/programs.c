/*
 * The programs of a command line: their text, compiling them, and the message if
 * that fails; see cli.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tracer/cli.h"
#include "tracer/drive/host.h"
#include "tracer/drive/mistakes.h"
#include "tracer/merge/job.h"
#include "tracer/program/cpp.h"
#include "tracer/program/dlib.h"

void
cli_say(struct cli *c, char *hint, const char *fmt, ...)
{
	struct str text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	str_vprintf(&text, fmt, ap);
	va_end(ap);
	if (hint != NULL && !c->st.testing)
		str_printf(&text, "; %s", hint);
	state_message(&c->st, "%s", str_c(&text));
	str_fini(&text);
	mem_free(hint);
}

static int
load_source(struct cli *c, struct request *r)
{
	if (r->source.text != NULL)
		return 0; /* ours: default_program() */
	r->source = (struct source){ .name = r->text, .text = r->text };
	if (r->level != CC_SCRIPT)
		return 0;
	const char *sent = job_script(r->text);
	if (sent != NULL) {
		r->source.is_file = true;
		r->source.text = mem_strdup(sent);
		return 0;
	}
	errno = 0;
	FILE *f = strcmp(r->text, "-") == 0 ? stdin : fopen(r->text, "re");
	struct str all = { 0 };
	bool read = f != NULL && str_add_file(&all, f);
	char *text = str_take(&all);
	int error = errno;
	if (f != NULL && f != stdin)
		fclose(f);
	if (!read) {
		mem_free(text);
		state_message(
		    &c->st, "failed to open %s: %s", r->text, strerror(error));
		return -error;
	}
	r->source.is_file = true;
	if (option_get(&c->st.opts, OPT_CPP) != 0) {
		char *raw = text;
		text = cpp_run(&c->st, r->text, raw);
		mem_free(raw);
	}
	r->source.text = text;
	return text != NULL ? 0 : -EINVAL;
}

/* The text of a program is shown once: with a caret under what is wrong, or
 * before the message. */
static void
refuse(struct cli *c, const struct request *r, const struct diag *d)
{
	bool plain = c->st.testing;
	char *prefix = r->level == CC_SCRIPT ?
	    mem_printf("%s: failed to compile script %s: ", c->name, r->text) :
	    d->span.source == &r->source && diag_points(d) && !plain ?
	    mem_printf("%s: invalid probe specifier: ", c->name) :
	    mem_printf("%s: invalid probe specifier %s: ", c->name, r->text);

	fflush(c->st.output.out);
	diag_render(c->st.output.err, d, prefix,
	    option_get(&c->st.opts, OPT_ERRTAGS) != 0, plain);
	fflush(c->st.output.err);
	mem_free(prefix);
}

/* NULL: there is none. */
const char *
cli_command(const struct cli *c)
{
	return c->commands.len > 0 ? c->commands.at[c->commands.len - 1] : NULL;
}

/* Has the program no use for any operand, or needs it a process that one of
 * them may be meant for? */
static bool
concerns_operands(
    const struct cli *c, const struct request *r, const struct diag *d)
{
	bool traces = c->commands.len + c->pids.len + c->sets.len != 0;

	return (d->tag == D_MACRO_UNUSED &&
		   strstr(r->source.text, "$1") == NULL) ||
	    (d->tag == D_PDESC_INVAL && !traces &&
		strncmp(d->text, "$target", 7) == 0);
}

/* What a script says of its use; NULL: nothing. */
char *
request_usage(const struct request *r)
{
	size_t len;
	const char *usage =
	    r->source.is_file ? source_usage(&r->source, &len) : NULL;

	return usage != NULL ? mem_printf("%.*s", (int)len, usage) : NULL;
}

/* What only the command line knows.  The compiler's hint is of no use where a
 * script is meant. */
static void
add_hint(struct cli *c, const struct request *r, struct diags *d)
{
	char *hint = r->level != CC_SCRIPT ? mistakes_script(r->text) : NULL;

	if (hint == NULL && concerns_operands(c, r, &d->first))
		hint = mistakes_operands(cli_command(c), c->argv);
	if (hint == NULL && d->first.tag == D_MACRO_UNUSED)
		hint = request_usage(r);
	if (hint == NULL)
		return;
	mem_free(d->first.hint);
	d->first.hint = NULL;
	diag_hint(d, "%s", hint);
	mem_free(hint);
}

int
programs_load(struct cli *c)
{
	vec_foreach(r, &c->requests)
		if (load_source(c, r) != 0)
			return E_ERROR;
	return E_SUCCESS;
}

static int
compile(struct cli *c, struct request *r)
{
	struct diags d;
	char **argv = mem_zalloc((size_t)(c->argc + 2) * sizeof(*argv));

	argv[0] = r->level == CC_SCRIPT ? (char *)r->text : (char *)c->name;
	memcpy(argv + 1, c->argv, (size_t)c->argc * sizeof(*argv));
	struct cc_input in = {
		.source = &r->source,
		.level = r->level,
		.argc = c->argc + 1,
		.argv = argv,
		.host = host_name(&c->st),
		.is_provider = host_is_provider,
		.listing = option_get(&c->st.opts, OPT_VERBOSE) != 0 ?
		    c->st.output.err :
		    NULL,
	};
	diags_init(&d);
	int error = dlibs_load(&c->st, &d);
	if (error == 0)
		error = cc_compile(c->st.compiled.cc, &in, &r->prog, &d);
	if (error != 0) {
		add_hint(c, r, &d);
		refuse(c, r, &d.first);
	} else {
		*vec_push(&c->st.compiled.progs) = r->prog;
	}
	diags_fini(&d);
	mem_free(argv);
	return error;
}

static void
say_notes(struct cli *c, const struct prog *p)
{
	for (const struct prog_note *n = p->notes; n != NULL; n = n->next)
		state_message(&c->st, "%s", n->text);
}

int
programs_compile(struct cli *c)
{
	c->st.compiled.cc = cc_create(&c->st.compiled.world, &c->st.opts);
	vec_foreach(r, &c->requests) {
		if (compile(c, r) != 0)
			return E_ERROR;
		say_notes(c, r->prog);
	}
	return E_SUCCESS;
}
