/*
 * Addresses as text: stacks and symbols, with the names of the address space
 * that the record refers to.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "symbols/langname.h"
#include "symbols/symbolise.h"
#include "tracer/consume/consume_impl.h"

/* Enough for a demangled name; longer ones are cut. */
#define STACK_TEXT_NAME 2048

/* With option noresolve the reader of the output looks up the names. */
static unsigned
name_flags(const struct printer *p)
{
	const struct options *opts = p->c->env.opts;

	if (option_get(opts, OPT_NORESOLVE) != 0)
		return SYM_RAW;
	return option_get(opts, OPT_DEMANGLE) != 0 ? SYM_DEMANGLE : SYM_PLAIN;
}

bool
stack_is_folded(const struct options *opts)
{
	const char *format = opts->text[OPT_STACKFORMAT];

	return format != NULL && strcasecmp(format, "folded") == 0;
}

/* The addresses of a stack, innermost first; returns their number. */
static size_t
stack_pcs(
    const void *stack, size_t size, struct rec_stack *head, uint64_t **pcs)
{
	size_t max = size < sizeof(*head) ? 0 : (size - sizeof(*head)) / 8;
	size_t n = 0;

	*head = (struct rec_stack){ 0 };
	*pcs = mem_alloc((max + 1) * 8);
	if (max == 0)
		return 0;
	memcpy(head, stack, sizeof(*head));
	memcpy(*pcs, (const uint8_t *)stack + sizeof(*head), max * 8);
	while (n < max && (*pcs)[n] != 0)
		n++;
	return n;
}

bool
stack_is_full(const void *stack, size_t size)
{
	struct rec_stack head;
	uint64_t *pcs;
	size_t n = stack_pcs(stack, size, &head, &pcs);

	mem_free(pcs);
	return n != 0 && n == (size - sizeof(head)) / 8;
}

/* The frame that frame i called. Notes between frames are skipped. */
static uint64_t
stack_inner(const uint64_t *pcs, size_t i)
{
	while (i > 0) {
		const struct lang_name *name = langname_of(pcs[--i]);

		if (name == NULL || !name->note)
			return pcs[i];
	}
	return 0;
}

typedef void (*stack_each_fn)(void *ctx, uint64_t pc, const char *name);

static void
stack_each(const void *stack, size_t size, unsigned flags, bool outermost_first,
    stack_each_fn frame, void *ctx)
{
	struct rec_stack head;
	char name[STACK_TEXT_NAME];
	uint64_t *pcs;
	size_t n = stack_pcs(stack, size, &head, &pcs);

	for (size_t at = 0; at < n; at++) {
		size_t i = outermost_first ? n - 1 - at : at;
		symbolise_frame(head.space, pcs[i], stack_inner(pcs, i), flags,
		    name, sizeof(name));
		frame(ctx, pcs[i], name);
	}
	mem_free(pcs);
}

struct functions {
	stack_frame_fn frame;
	void *ctx;
};

static void
frame_function(void *ctx, uint64_t pc, const char *name)
{
	const struct functions *f = ctx;

	f->frame(f->ctx, name);
}

void
stack_functions(struct printer *p, const void *stack, size_t size,
    stack_frame_fn frame, void *ctx)
{
	struct functions f = { frame, ctx };

	stack_each(stack, size, name_flags(p) | SYM_NO_OFFSET, true,
	    frame_function, &f);
}

void
stack_names(struct printer *p, const void *stack, size_t size,
    stack_name_fn name, void *ctx)
{
	unsigned line =
	    option_get(p->c->env.opts, OPT_USRCLINE) != 0 ? SYM_LINE : 0;

	stack_each(stack, size, name_flags(p) | line, false, name, ctx);
}

/* ---- the parts of a name ---- */

/* The line behind the name, " (file:12)", which is cut off. */
static void
part_line(struct symbol_parts *s)
{
	size_t len = strlen(s->text);
	char *open = strrchr(s->text, '('), *colon = strrchr(s->text, ':');

	if (len == 0 || s->text[len - 1] != ')' || open == NULL ||
	    open < s->text + 2 || open[-1] != ' ' || colon == NULL ||
	    colon < open || strspn(colon + 1, "0123456789") == 0 ||
	    strcmp(colon + 1 + strspn(colon + 1, "0123456789"), ")") != 0)
		return;
	s->line = atoi(colon + 1);
	*colon = '\0';
	s->file = open + 1;
	open[-1] = '\0';
}

/* "+0x1a" or "-0x40" at the end of text; NULL: there is none. */
static const char *
part_offset(const char *text)
{
	static const char digits[] = "0123456789abcdef";
	size_t len = strlen(text), n = 0;

	while (n < len && strchr(digits, text[len - 1 - n]) != NULL)
		n++;
	if (n == 0 || len < n + 3)
		return NULL;
	const char *at = text + len - n - 2;
	if (at[0] != '0' || at[1] != 'x')
		return NULL;
	return at[-1] == '+' || at[-1] == '-' ? at - 1 : NULL;
}

/* symbolise.h says what a name looks like. */
void
symbol_parts(struct symbol_parts *s, char *text, bool line)
{
	*s = (struct symbol_parts){ .text = text };
	if (line)
		part_line(s);
	const char *tick = strchr(text, '`');
	const char *name = tick != NULL ? tick + 1 : text;
	const char *offset = part_offset(name);
	if (tick != NULL) {
		s->module = text;
		s->module_len = (size_t)(tick - text);
	}
	if (strncmp(name, "0x", 2) == 0) { /* no function is known there */
		s->offset = name;
		return;
	}
	s->name = name;
	s->name_len = offset != NULL ? (size_t)(offset - name) : strlen(name);
	if (offset != NULL)
		s->offset = *offset == '+' ? offset + 1 : offset;
}

struct parts {
	stack_parts_fn frame;
	void *ctx;
	bool line;
};

static void
frame_parts(void *ctx, uint64_t pc, const char *name)
{
	const struct parts *f = ctx;
	const struct lang_name *lang = langname_of(pc);
	struct stack_frame frame = { .pc = pc };
	char *text = mem_strdup(name);

	if (lang == NULL || lang->native) {
		symbol_parts(&frame.s, text, f->line);
		frame.is_lang = lang != NULL;
	} else {
		frame.is_lang = true;
		frame.is_note = lang->note;
		frame.s.text = text + (lang->note && *text == '@');
		frame.s.name = lang->function;
		frame.s.name_len = strlen(lang->function);
		frame.s.file = lang->file;
		frame.s.line = lang->line;
	}
	f->frame(f->ctx, &frame);
	mem_free(text);
}

void
stack_parts(struct printer *p, const void *stack, size_t size,
    stack_parts_fn frame, void *ctx)
{
	struct parts f = { frame, ctx,
		option_get(p->c->env.opts, OPT_USRCLINE) != 0 };

	stack_each(stack, size, name_flags(p) | (f.line ? SYM_LINE : 0), false,
	    frame_parts, &f);
}

/* ---- one line for each frame ---- */

struct frames {
	struct printer *p;
	int indent;
};

static void
frame_line(void *ctx, uint64_t pc, const char *name)
{
	const struct frames *f = ctx;
	/* A note of a language about the frame before it. */
	bool note = name[0] == '@';

	str_printf(f->p->to, "%*s%s", f->indent, "", note ? "  [ " : "");
	text_name(f->p, name + note);
	str_add(f->p->to, note ? " ]\n" : "\n");
}

void
stack_print(struct printer *p, const void *stack, size_t size, int indent)
{
	const struct options *opts = p->c->env.opts;
	struct frames f = { p, indent };
	unsigned flags = name_flags(p);

	if (stack_is_folded(opts)) {
		stack_fold(p, stack, size);
		return;
	}
	if (indent < 0)
		f.indent = (int)option_get(opts, OPT_STACKINDENT);
	if (option_get(opts, OPT_USRCLINE) != 0)
		flags |= SYM_LINE;
	str_addc(p->to, '\n');
	stack_each(stack, size, flags, false, frame_line, &f);
}

/* ---- one line ---- */

struct fold {
	struct str *to;
	bool any;
};

static void
frame_fold(void *ctx, const char *name)
{
	struct fold *f = ctx;

	if (f->any)
		str_addc(f->to, ';');
	f->any = true;
	text_add_word(f->to, name);
}

void
stack_fold(struct printer *p, const void *stack, size_t size)
{
	struct fold f = { .to = p->to };

	stack_functions(p, stack, size, frame_fold, &f);
	if (!f.any)
		str_addc(p->to, '-');
}

static unsigned
sym_flags(const struct printer *p, enum rec_kind kind)
{
	if (kind == REC_UMOD || kind == REC_MOD)
		return SYM_MODULE;
	if (kind == REC_UADDR)
		return name_flags(p);
	return name_flags(p) | SYM_NO_OFFSET;
}

void
sym_text(struct printer *p, enum rec_kind kind, const void *sym, char *buf,
    size_t size)
{
	struct rec_sym s;

	memcpy(&s, sym, sizeof(s));
	symbolise_then(s.space, s.addr, sym_flags(p, kind), buf, size);
}

void
addr_text(struct printer *p, uint64_t addr, char *buf, size_t size)
{
	const struct consume_env *env = &p->c->env;
	struct addrspace *as = NULL;

	if (env->space != NULL)
		as = env->space(env->space_ctx, p->pid);
	symbolise(as, addr, name_flags(p), buf, size);
}
