/*
 * Addresses as text: stacks and symbols, with the names of the address space
 * that the record refers to.
 */
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

static void
stack_each(const void *stack, size_t size, unsigned flags, bool outermost_first,
    stack_frame_fn frame, void *ctx)
{
	struct rec_stack head;
	char name[STACK_TEXT_NAME];
	uint64_t *pcs;
	size_t n = stack_pcs(stack, size, &head, &pcs);

	for (size_t at = 0; at < n; at++) {
		size_t i = outermost_first ? n - 1 - at : at;
		symbolise_frame(head.space, pcs[i], stack_inner(pcs, i), flags,
		    name, sizeof(name));
		frame(ctx, name);
	}
	mem_free(pcs);
}

void
stack_functions(struct printer *p, const void *stack, size_t size,
    stack_frame_fn frame, void *ctx)
{
	stack_each(
	    stack, size, name_flags(p) | SYM_NO_OFFSET, true, frame, ctx);
}

/* ---- one line for each frame ---- */

struct frames {
	struct printer *p;
	int indent;
};

static void
frame_line(void *ctx, const char *name)
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
