/*
 * DIF as text, as -S prints it: one block for each DIFO, with the columns and
 * comments of DTrace's disassembler.  Everything about an opcode comes from
 * its row in dif_ops.def.
 */
#include <inttypes.h>
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/verify.h"

struct op {
	const char *text;
	enum dif_form form;
};

static const struct op ops[] = {
#define DIF_OP(n, NAME, text, form) [n] = { text, DIF_FORM_##form },
#include "dlang/dif_ops.def"
#undef DIF_OP
};

static const char *const subr_names[] = {
#define DIF_SUBR(n, NAME, name, proto, needs, how) [n] = name,
#include "dlang/dif_subrs.def"
#undef DIF_SUBR
};

static const char *const kind_names[] = {
	[DIF_TYPE_CTF] = "D type",
	[DIF_TYPE_STRING] = "string",
};

static const char *const ctf_names[] = {
	[CTF_UNKNOWN] = "unknown",
	[CTF_INTEGER] = "integer",
	[CTF_FLOAT] = "float",
	[CTF_POINTER] = "pointer",
	[CTF_ARRAY] = "array",
	[CTF_FUNCTION] = "function",
	[CTF_STRUCT] = "struct",
	[CTF_UNION] = "union",
	[CTF_ENUM] = "enum",
	[CTF_FORWARD] = "forward",
	[CTF_TYPEDEF] = "typedef",
	[CTF_VOLATILE] = "volatile",
	[CTF_CONST] = "const",
	[CTF_RESTRICT] = "restrict",
};

/* Which scope an opcode's variable is in; ids of scopes may coincide. */
static enum dif_scope
op_scope(uint32_t op)
{
	switch (op) {
	case DIF_OP_LDTS:
	case DIF_OP_STTS:
	case DIF_OP_LDTAA:
	case DIF_OP_STTAA:
	case DIF_OP_LDTA: return DIF_THREAD;
	case DIF_OP_LDLS:
	case DIF_OP_STLS: return DIF_LOCAL;
	}
	return DIF_GLOBAL;
}

static void
var_comment(FILE *out, const struct difo *d, uint32_t op, uint32_t id)
{
	for (uint32_t i = 0; i < d->nvars; i++) {
		const struct difo_var *v = &d->vars[i];
		if (v->id == id && v->scope == op_scope(op)) {
			fprintf(out, "\t\t! DT_VAR(%u) = \"%s\"", id, v->name);
			return;
		}
	}
}

static void
type_comment(FILE *out, uint32_t type)
{
	if (type < ARRAY_SIZE(kind_names))
		fprintf(out, "\t\t! DT_TYPE(%u) = %s", type, kind_names[type]);
}

static void
string_operands(FILE *out, const struct difo *d, uint32_t index)
{
	/* Bounded: a DIFO may be printed before it was verified. */
	if (index < d->strs_len)
		fprintf(out, "\t\t! \"%.*s\"",
		    (int)strnlen(d->strs + index, d->strs_len - index),
		    d->strs + index);
}

static void
operands(FILE *out, const struct difo *d, dif_instr i, enum dif_form form)
{
	uint32_t op = DIF_OP_OF(i), index = DIF_INDEX(i);
	uint32_t r1 = DIF_R1(i), r2 = DIF_R2(i), rd = DIF_RD(i);

	switch (form) {
	case DIF_FORM_RRR:
	case DIF_FORM_COPY:
		fprintf(out, "%%r%u, %%r%u, %%r%u", r1, r2, rd);
		break;
	case DIF_FORM_RR: fprintf(out, "%%r%u, %%r%u", r1, rd); break;
	case DIF_FORM_CMP: fprintf(out, "%%r%u, %%r%u", r1, r2); break;
	case DIF_FORM_TST: fprintf(out, "%%r%u", r1); break;
	case DIF_FORM_BRANCH: fprintf(out, "%u", DIF_LABEL(i)); break;
	case DIF_FORM_LOAD: fprintf(out, "[%%r%u], %%r%u", r1, rd); break;
	case DIF_FORM_STORE: fprintf(out, "%%r%u, [%%r%u]", r1, rd); break;
	case DIF_FORM_RET: fprintf(out, "%%r%u", rd); break;
	case DIF_FORM_NONE: break;
	case DIF_FORM_SETX:
		fprintf(out, "DT_INTEGER[%u], %%r%u", index, rd);
		if (index < d->nints)
			fprintf(out, "\t\t! 0x%" PRIx64, d->ints[index]);
		break;
	case DIF_FORM_SETS:
		fprintf(out, "DT_STRING[%u], %%r%u", index, rd);
		string_operands(out, d, index);
		break;
	case DIF_FORM_LDARRAY:
		fprintf(out, "DT_VAR(%u), %%r%u, %%r%u", r1, r2, rd);
		var_comment(out, d, op, r1);
		break;
	case DIF_FORM_LDVAR:
		fprintf(out, "DT_VAR(%u), %%r%u", index, rd);
		var_comment(out, d, op, index);
		break;
	case DIF_FORM_STVAR:
		fprintf(out, "%%r%u, DT_VAR(%u)", rd, index);
		var_comment(out, d, op, index);
		break;
	case DIF_FORM_CALL:
		fprintf(out, "DIF_SUBR(%u), %%r%u", index, rd);
		if (index < ARRAY_SIZE(subr_names))
			fprintf(out, "\t\t! %s", subr_names[index]);
		break;
	case DIF_FORM_PUSHREF:
		fprintf(out, "DT_TYPE(%u), %%r%u, %%r%u", r1, r2, rd);
		type_comment(out, r1);
		break;
	case DIF_FORM_PUSHVAL:
		fprintf(out, "DT_TYPE(%u), %%r%u", r1, rd);
		type_comment(out, r1);
		break;
	case DIF_FORM_XLATE:
		fprintf(out, "DT_XLREF[%u], %%r%u", index, rd);
		break;
	}
}

static void
print_type(FILE *out, const struct dif_type *t)
{
	fprintf(out, "%s (%s)",
	    t->kind < ARRAY_SIZE(kind_names) ? kind_names[t->kind] : "?",
	    t->ckind < ARRAY_SIZE(ctf_names) ? ctf_names[t->ckind] : "?");
	if (t->flags & DIF_BY_USERREF)
		fputs(" by user ref", out);
	else if (t->flags & DIF_BY_REF)
		fputs(" by ref", out);
	fprintf(out, " (size %u)", t->size);
}

static void
print_vars(FILE *out, const struct difo *d)
{
	static const char *const scopes[] = { "glb", "tls", "loc" };

	fprintf(out, "\n%-16s %-4s %-3s %-3s %-4s %s\n", "NAME", "ID", "KND",
	    "SCP", "FLAG", "TYPE");
	for (uint32_t i = 0; i < d->nvars; i++) {
		const struct difo_var *v = &d->vars[i];
		fprintf(out, "%-16s %-4u %-3s %-3s %-4s ", v->name, v->id,
		    v->kind == DIF_ARRAY ? "arr" : "scl",
		    v->scope < ARRAY_SIZE(scopes) ? scopes[v->scope] : "?",
		    v->read        ? v->written ? "r/w" : "r" :
			v->written ? "w" :
				     "");
		print_type(out, &v->type);
		fputc('\n', out);
	}
}

void
dis_instr(FILE *out, const struct difo *d, uint32_t n)
{
	dif_instr in = d->text[n];
	uint32_t op = DIF_OP_OF(in);

	fprintf(out, "%02u: %08x    ", n, in);
	if (op == 0 || op >= ARRAY_SIZE(ops)) {
		fputs("(illegal opcode)\n", out);
		return;
	}
	if (ops[op].form == DIF_FORM_NONE) {
		fprintf(out, "%s\n", ops[op].text);
		return;
	}
	fprintf(out, "%-4s ", ops[op].text);
	operands(out, d, in, ops[op].form);
	fputc('\n', out);
}

void
dis_difo(FILE *out, const struct difo *d)
{
	fprintf(out, "\nDIFO %p returns ", (const void *)d);
	print_type(out, &d->rtype);
	fprintf(out, "\n%-3s %-8s    %s\n", "OFF", "OPCODE", "INSTRUCTION");
	for (uint32_t i = 0; i < d->len; i++)
		dis_instr(out, d, i);
	if (d->nvars > 0)
		print_vars(out, d);
}
