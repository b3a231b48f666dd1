/*
 * Values in their default form: trace(), members of keys, tracemem().
 *
 * Integers follow Oracle's DTrace: with the sign of their type, and in trace()
 * as wide as their longest number; keys have the classic form.
 */
#include <string.h>

#include "tracer/consume/consume_impl.h"

#define PRINT_NAME 2048 /* a symbol's; longer ones are cut */

uint64_t
value_uint(const void *p, uint32_t size)
{
	uint64_t v = 0;

	/* Little-endian, like everything that is recorded. */
	memcpy(&v, p, MIN(size, sizeof(v)));
	return v;
}

int64_t
value_int(const void *p, uint32_t size)
{
	uint64_t v = value_uint(p, size);

	switch (size) {
	case 1: return (int8_t)v;
	case 2: return (int16_t)v;
	case 4: return (int32_t)v;
	}
	return (int64_t)v;
}

long double
value_float(const void *p, uint32_t size)
{
	float f;
	double d;
	long double l;

	switch (size) {
	case sizeof(f): memcpy(&f, p, sizeof(f)); return f;
	case sizeof(d): memcpy(&d, p, sizeof(d)); return d;
	case sizeof(l): memcpy(&l, p, sizeof(l)); return l;
	}
	return 0;
}

static void
print_int(
    struct printer *p, const struct prog_rec *rec, const void *v, int width)
{
	if (width != 0)
		str_addc(p->to, ' ');
	if (rec->is_signed)
		str_printf(
		    p->to, "%*lld", width, (long long)value_int(v, rec->size));
	else
		str_printf(p->to, "%*llu", width,
		    (unsigned long long)value_uint(v, rec->size));
}

/* As wide as the longest number of the type. */
static int
trace_width(const struct prog_rec *rec)
{
	switch (rec->size) {
	case 1: return 3;
	case 2: return 5;
	case 4: return 10;
	}
	return rec->is_signed ? 19 : 20;
}

/* In keys, numbers of 4 and 8 bytes are signed and shorter ones are not,
 * whatever their type is. */
static void
print_int_key(struct printer *p, const struct prog_rec *rec, const void *v)
{
	switch (rec->size) {
	case 1: str_printf(p->to, " %3u", (unsigned)value_uint(v, 1)); break;
	case 2: str_printf(p->to, " %5u", (unsigned)value_uint(v, 2)); break;
	case 4: str_printf(p->to, " %8d", (int)value_int(v, 4)); break;
	default:
		str_printf(
		    p->to, " %16lld", (long long)value_int(v, rec->size));
		break;
	}
}

static void
print_name(struct printer *p, const struct prog_rec *rec, const void *v)
{
	char name[PRINT_NAME];

	if (rec->size < sizeof(struct rec_sym))
		return;
	sym_text(p, rec->kind, v, name, sizeof(name));
	str_add(p->to, "  ");
	text_name_padded(p, name, -50);
}

static void
print_float(struct printer *p, const void *v, uint32_t size, bool columns)
{
	long double f = value_float(v, size);

	if (columns)
		str_printf(p->to, " %16Lg", f);
	else
		str_printf(p->to, "%Lg", f);
}

/* Folded: a value is in its column, or on a line of its own. */
static void
print_stack(struct printer *p, const struct prog_rec *rec, const void *v)
{
	bool folded = stack_is_folded(p->c->env.opts);

	if (folded && !p->quiet)
		str_add(p->to, "  ");
	stack_print(p, v, rec->size, -1);
	if (folded && p->quiet)
		str_addc(p->to, '\n');
}

void
print_value(struct printer *p, const struct prog_rec *rec, const void *v)
{
	size_t len;

	if (option_get(p->c->env.opts, OPT_RAWBYTES) && rec->kind < REC_STACK) {
		print_dump(p, v, rec->size);
		return;
	}
	switch (rec->kind) {
	case REC_INT:
		print_int(p, rec, v, p->quiet ? 0 : trace_width(rec));
		break;
	case REC_FLOAT: print_float(p, v, rec->size, !p->quiet); break;
	case REC_STRING:
	case REC_CHARS:
		if (!text_is_printable(v, rec->size, &len)) {
			print_dump(p, v, rec->size);
		} else if (p->quiet) {
			text_add(p, v, len);
		} else {
			str_add(p->to, "  ");
			text_add_padded(p, v, len, -33);
		}
		break;
	case REC_BYTES: print_dump(p, v, rec->size); break;
	case REC_STACK: print_stack(p, rec, v); break;
	case REC_EPID: break;
	case REC_USYM:
	case REC_UMOD:
	case REC_UADDR:
	case REC_SYM:
	case REC_MOD: print_name(p, rec, v); break;
	}
}

/* Unlike the values of trace(), the columns stay with option quiet. */
void
print_key(struct printer *p, const struct prog_rec *rec, const void *v)
{
	size_t len;

	switch (rec->kind) {
	case REC_INT: print_int_key(p, rec, v); break;
	case REC_FLOAT: print_float(p, v, rec->size, true); break;
	case REC_STRING:
	case REC_CHARS:
	case REC_BYTES:
		if (rec->kind == REC_BYTES ||
		    !text_is_printable(v, rec->size, &len)) {
			print_dump(p, v, rec->size);
			break;
		}
		str_add(p->to, "  ");
		text_add_padded(p, v, len, -50);
		break;
	case REC_STACK: stack_print(p, v, rec->size, -1); break;
	case REC_EPID: break;
	case REC_USYM:
	case REC_UMOD:
	case REC_UADDR:
	case REC_SYM:
	case REC_MOD: print_name(p, rec, v); break;
	}
}

void
print_key_short(struct printer *p, const struct prog_rec *rec, const void *v)
{
	struct str text = { 0 };
	struct printer wide = *p;

	wide.to = &text;
	wide.escape = false;
	if (rec->kind == REC_STRING || rec->kind == REC_CHARS)
		text_add(&wide, v, strnlen(v, rec->size));
	else if (rec->kind == REC_BYTES)
		for (uint32_t i = 0; i < rec->size; i++)
			str_printf(&text, "%02x", ((const uint8_t *)v)[i]);
	else
		print_key(&wide, rec, v);
	const char *s = str_c(&text);
	s += strspn(s, " ");
	size_t len = strlen(s);
	while (len > 0 && s[len - 1] == ' ')
		len--;
	text_add_line(p->to, s, len);
	str_fini(&text);
}

static void
print_dump_row(struct str *to, const uint8_t *at, size_t off, size_t size)
{
	str_printf(to, "     %5zx:", off);
	for (size_t i = off; i < off + 16; i++)
		if (i < size)
			str_printf(to, " %02x", at[i]);
		else
			str_add(to, "   ");
	str_add(to, "  ");
	for (size_t i = off; i < MIN(size, off + 16); i++)
		str_addc(to, at[i] >= 0x20 && at[i] < 0x7f ? (char)at[i] : '.');
	str_addc(to, '\n');
}

void
print_dump(struct printer *p, const void *v, size_t size)
{
	str_printf(p->to, "\n%11s", "");
	for (unsigned i = 0; i < 16; i++)
		str_printf(p->to, "  %x", i);
	str_add(p->to, "  0123456789abcdef\n");
	for (size_t off = 0; off < size; off += 16)
		print_dump_row(p->to, v, off, size);
}
