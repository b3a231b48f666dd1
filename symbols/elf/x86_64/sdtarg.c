/*
 * Arguments of static probes; see sdtarg.h.
 */
#include "symbols/sdtarg.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/base.h"

/* An operand that is longer than this is not parsed. */
#define OPERAND_MAX 256

/* The instruction of a probe; %rip is the address behind it. */
#define NOP 1

/* ---- registers ---- */

/* The eight registers with names of their own, for 64, 32, 16 and 8 bits. */
static const struct {
	uint8_t reg;
	char name[4][4];
} old_regs[] = {
	{ UREG_RAX, { "rax", "eax", "ax", "al" } },
	{ UREG_RBX, { "rbx", "ebx", "bx", "bl" } },
	{ UREG_RCX, { "rcx", "ecx", "cx", "cl" } },
	{ UREG_RDX, { "rdx", "edx", "dx", "dl" } },
	{ UREG_RSI, { "rsi", "esi", "si", "sil" } },
	{ UREG_RDI, { "rdi", "edi", "di", "dil" } },
	{ UREG_RBP, { "rbp", "ebp", "bp", "bpl" } },
	{ UREG_RSP, { "rsp", "esp", "sp", "spl" } },
};

/* r8 to r15, followed by d, w or b for a part. */
static bool
numbered_reg(const char *s, struct argloc *a)
{
	static const uint8_t regs[] = { UREG_R8, UREG_R9, UREG_R10, UREG_R11,
		UREG_R12, UREG_R13, UREG_R14, UREG_R15 };
	char *end;

	if (s[0] != 'r' || !isdigit((unsigned char)s[1]))
		return false;
	unsigned long n = strtoul(s + 1, &end, 10);
	if (n < 8 || n > 15 || (*end != '\0' && end[1] != '\0'))
		return false;
	a->reg = regs[n - 8];
	switch (*end) {
	case '\0': a->size = 8; return true;
	case 'd': a->size = 4; return true;
	case 'w': a->size = 2; return true;
	case 'b': a->size = 1; return true;
	default: return false;
	}
}

/* A register by its name without `%': its number, width and shift. */
static bool
parse_reg(const char *s, struct argloc *a)
{
	static const char high[] = "ahbhchdh";

	for (size_t i = 0; i < ARRAY_SIZE(old_regs); i++)
		for (size_t w = 0; w < 4; w++)
			if (strncmp(s, old_regs[i].name[w], 4) == 0) {
				a->reg = old_regs[i].reg;
				a->size = (uint8_t)(8 >> w);
				return true;
			}
	for (size_t i = 0; i < 4; i++)
		if (s[0] == high[i * 2] && s[1] == 'h' && s[2] == '\0') {
			a->reg = old_regs[i].reg;
			a->size = 1;
			a->shift = 8;
			return true;
		}
	return numbered_reg(s, a);
}

/* ---- displacements ---- */

/* The displacement before the parenthesis: a sum of numbers and at most one
 * symbol. */
struct sum {
	int64_t number;
	uint64_t symbol; /* its address */
	bool has_symbol;
	bool got; /* foo@GOTPCREL: the address at which the linker stores that
		   * of foo */
};

static size_t
name_length(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) ||
	    (s[n] != '\0' && strchr("_.$", s[n]) != NULL))
		n++;
	return n;
}

static const char *
parse_symbol(const char *s, const struct sdt_place *at, struct sum *sum)
{
	char name[OPERAND_MAX];
	size_t n = name_length(s);

	if (n == 0 || n >= sizeof(name) || sum->has_symbol ||
	    at->symbol == NULL)
		return NULL;
	memcpy(name, s, n);
	name[n] = '\0';
	if (at->symbol(at->ctx, name, &sum->symbol) != 0)
		return NULL;
	sum->has_symbol = true;
	s += n;
	if (*s == '@') {
		n = name_length(s + 1);
		sum->got = n == 8 && strncmp(s + 1, "GOTPCREL", 8) == 0;
		s += 1 + n;
	}
	return s;
}

/* Parse up to `stop' or the end; false if there is something else. */
static bool
parse_sum(const char *s, const struct sdt_place *at, struct sum *sum)
{
	*sum = (struct sum){ 0 };
	while (*s != '\0') {
		bool minus = *s == '-';
		if (*s == '-' || *s == '+')
			s++;
		if (isdigit((unsigned char)*s)) {
			char *end;
			uint64_t n = strtoull(s, &end, 0);
			sum->number = (int64_t)((uint64_t)sum->number +
			    (minus ? 0 - n : n));
			s = end;
		} else {
			s = minus ? NULL : parse_symbol(s, at, sum);
		}
		if (s == NULL || (*s != '\0' && *s != '+' && *s != '-'))
			return false;
	}
	return true;
}

static int64_t
sum_value(const struct sum *s)
{
	return (int64_t)(s->symbol + (uint64_t)s->number);
}

/* ---- operands ---- */

/* (base,index,scale), each of which may be missing: s is behind the `('. */
static bool
parse_base(char *s, struct argloc *a, bool *rip)
{
	struct argloc r = { 0 };
	char *part[3] = { s, NULL, NULL };

	for (size_t i = 1; i < 3; i++) {
		part[i] = strchr(part[i - 1], ',');
		if (part[i] == NULL)
			break;
		*part[i]++ = '\0';
	}
	if (strcmp(part[0], "%rip") == 0) {
		*rip = true;
		return part[1] == NULL;
	}
	if (*part[0] != '\0') {
		if (*part[0] != '%' || !parse_reg(part[0] + 1, &r) ||
		    r.size != 8)
			return false;
		a->reg = r.reg;
	}
	if (part[1] != NULL && *part[1] != '\0') {
		if (*part[1] != '%' || !parse_reg(part[1] + 1, &r) ||
		    r.size != 8)
			return false;
		a->index = r.reg;
		a->scale = 1;
	}
	if (part[2] != NULL) {
		if (strlen(part[2]) != 1 || strchr("1248", *part[2]) == NULL)
			return false;
		a->scale = (uint8_t)(*part[2] - '0');
	}
	return true;
}

static bool
parse_memory(char *s, const struct sdt_place *at, struct argloc *a)
{
	char *open = strchr(s, '(');
	bool rip = false;
	struct sum sum;

	a->kind = ARGLOC_MEM;
	a->reg = a->index = ARGLOC_NOREG;
	if (open != NULL) {
		size_t n = strlen(open);
		if (open[n - 1] != ')')
			return false;
		open[n - 1] = '\0';
		*open = '\0';
		if (!parse_base(open + 1, a, &rip))
			return false;
	} else if (*s == '\0') {
		return false;
	}
	if (!parse_sum(s, at, &sum))
		return false;
	a->disp = sum_value(&sum);
	if (rip && !sum.has_symbol)
		a->disp = (int64_t)((uint64_t)a->disp + at->addr + NOP);
	if (sum.got) {
		/* The operand is the symbol's address. */
		a->kind = ARGLOC_CONST;
		return rip && sum.number == 0;
	}
	return true;
}

static bool
parse_operand(char *s, const struct sdt_place *at, struct argloc *a)
{
	struct sum sum;

	if (*s == '%' && strcmp(s, "%rip") == 0) {
		a->kind = ARGLOC_CONST;
		a->disp = (int64_t)at->addr + NOP;
		return true;
	}
	if (*s == '%') {
		a->kind = ARGLOC_REG;
		return parse_reg(s + 1, a);
	}
	if (*s == '$') {
		a->kind = ARGLOC_CONST;
		if (s[1] == '\0' || !parse_sum(s + 1, at, &sum))
			return false;
		a->disp = sum_value(&sum);
		return true;
	}
	return parse_memory(s, at, a);
}

/* Parse a size, `-4@' or `8f@', and move *s behind it; without one the size is
 * 0. */
static bool
parse_size(char **s, uint8_t *size, bool *is_signed, bool *is_float)
{
	char *sep = strchr(*s, '@'), *end;

	*size = 0;
	*is_signed = *is_float = false;
	/* The `@' of foo@GOTPCREL is not the one behind a size. */
	if (sep == NULL || (**s != '-' && !isdigit((unsigned char)**s)))
		return true;
	long n = strtol(*s, &end, 10);
	*is_float = *end == 'f';
	if (end + *is_float != sep)
		return false;
	*is_signed = n < 0;
	if (n < -8 || n > 8)
		return false;
	n = n < 0 ? -n : n;
	if (n != 1 && n != 2 && n != 4 && n != 8)
		return false;
	*size = (uint8_t)n;
	*s = sep + 1;
	return true;
}

static struct argloc
parse_arg(char *s, const struct sdt_place *at)
{
	struct argloc a = { .size = 8 };
	bool is_signed, is_float;
	uint8_t size;

	if (!parse_size(&s, &size, &is_signed, &is_float))
		return (struct argloc){ .kind = ARGLOC_NONE };
	if (is_float || !parse_operand(s, at, &a))
		return (struct argloc){ .kind = ARGLOC_NONE, .size = size };
	if (size != 0) {
		a.size = size;
		a.is_signed = is_signed;
	}
	if (a.kind == ARGLOC_CONST)
		a.disp = sdt_truncate(a.disp, a.size, a.is_signed);
	return a;
}

size_t
sdt_args(const char *text, const struct sdt_place *at, struct argloc *out,
    size_t max)
{
	char word[OPERAND_MAX];
	size_t count = 0;

	for (; count < max; count++) {
		text += strspn(text, " \t");
		size_t n = strcspn(text, " \t");
		if (n == 0)
			break;
		if (n >= sizeof(word)) {
			out[count] = (struct argloc){ .kind = ARGLOC_NONE };
		} else {
			memcpy(word, text, n);
			word[n] = '\0';
			out[count] = parse_arg(word, at);
		}
		text += n;
	}
	return count;
}
