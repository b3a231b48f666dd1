/*
 * Addresses as text: stacks and symbols, by the address space that the record
 * names.
 */
#include <string.h>

#include "symbols/symbolise.h"
#include "tracer/consume/consume_impl.h"

/* Long enough for a demangled name; longer ones are cut. */
#define STACK_TEXT_NAME 2048

/* Option noresolve leaves the names to who reads the output. */
static unsigned
name_flags(const struct printer *p)
{
	return option_get(p->c->env.opts, OPT_NORESOLVE) != 0 ? SYM_RAW :
								SYM_DEMANGLE;
}

static void
stack_frame(struct printer *p, const char *name, int indent)
{
	/* A language's note on the frame before. */
	bool note = name[0] == '@';

	str_printf(p->to, "%*s%s", indent, "", note ? "  [ " : "");
	text_add(p, name + note, strlen(name + note));
	str_add(p->to, note ? " ]\n" : "\n");
}

void
stack_print(struct printer *p, const void *stack, size_t size, int indent)
{
	struct rec_stack head;
	char name[STACK_TEXT_NAME];

	if (indent < 0)
		indent = (int)option_get(p->c->env.opts, OPT_STACKINDENT);
	str_addc(p->to, '\n');
	if (size < sizeof(head))
		return;
	memcpy(&head, stack, sizeof(head));
	struct addrspace *as = addrspace_by_id(head.space);
	for (size_t off = sizeof(head); off + 8 <= size; off += 8) {
		uint64_t pc;
		memcpy(&pc, (const uint8_t *)stack + off, 8);
		if (pc == 0)
			break;
		symbolise(as, pc, name_flags(p), name, sizeof(name));
		stack_frame(p, name, indent);
	}
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
	symbolise(
	    addrspace_by_id(s.space), s.addr, sym_flags(p, kind), buf, size);
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
