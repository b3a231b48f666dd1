/*
 * Types of arguments as DOF: header, section table, and the four sections of one
 * provider.  `dtrap -G' writes the same for compiled programs
 * (tracer/build/sdt_object.c), without functions.
 */
#include "sdt/dof.h"

#include "symbols/dof.h"

enum { S_STRINGS, S_PROBES, S_PROVIDER, S_COUNT };

static const struct type types[] = {
	[DTRAP_INT8] = { "int8_t", -1 },
	[DTRAP_UINT8] = { "uint8_t", 1 },
	[DTRAP_INT16] = { "int16_t", -2 },
	[DTRAP_UINT16] = { "uint16_t", 2 },
	[DTRAP_INT32] = { "int32_t", -4 },
	[DTRAP_UINT32] = { "uint32_t", 4 },
	[DTRAP_INT64] = { "int64_t", -8 },
	[DTRAP_UINT64] = { "uint64_t", 8 },
	[DTRAP_STRING] = { "string", 8 },
	[DTRAP_POINTER] = { "void *", 8 },
};

const struct type *
type_of(enum dtrap_arg arg)
{
	size_t n = arg;

	return n < sizeof(types) / sizeof(types[0]) && types[n].name != NULL ?
	    &types[n] :
	    NULL;
}

/* A name as D has it: "-" for "__". */
static uint32_t
add_name(struct bytes *b, const char *s)
{
	size_t at = b->len;

	while (*s != '\0') {
		int two = s[0] == '_' && s[1] == '_';
		bytes_add(b, two ? "-" : s, 1);
		s += 1 + two;
	}
	bytes_add(b, "", 1);
	return (uint32_t)at;
}

static void
add_probe(struct bytes *probes, struct bytes *strings, const struct probe *p)
{
	struct dof_probe d = {
		.name = add_name(strings, p->name),
		.nargs = (uint8_t)p->nargs,
		.nxargs = (uint8_t)p->nargs,
	};

	d.function = (uint32_t)bytes_text(strings, p->function);
	/* Without a map, args[] are the native arguments. */
	d.args = d.xargs = (uint32_t)strings->len;
	for (unsigned i = 0; i < p->nargs; i++)
		bytes_text(strings, type_of(p->types[i])->name);
	bytes_add(probes, &d, sizeof(d));
}

/* Header, section table and contents. */
static void
put_together(struct bytes *b, const struct bytes *contents)
{
	struct dof_header h = {
		.magic = { 0x7f, 'D', 'O', 'F' },
		.model = DOF_LP64,
		.encoding = DOF_LITTLE,
		.version = DOF_VERSION,
		.dif_version = 2,
		.int_regs = 8,
		.tuple_regs = 8,
		.header_size = sizeof(h),
		.entry_size = sizeof(struct dof_section),
		.count = S_COUNT,
		.table = sizeof(h),
	};
	struct dof_section s[S_COUNT] = {
		[S_STRINGS] = { .kind = DOF_STRINGS },
		[S_PROBES] = { .kind = DOF_PROBES,
		    .entry_size = sizeof(struct dof_probe) },
		[S_PROVIDER] = { .kind = DOF_PROVIDER },
	};
	uint64_t at = sizeof(h) + sizeof(s);

	for (int i = 0; i < S_COUNT; i++) {
		s[i].align = 8;
		s[i].flags = DOF_LOAD;
		s[i].offset = at;
		s[i].size = contents[i].len;
		at += (s[i].size + 7) / 8 * 8;
	}
	h.load_size = h.file_size = at;
	bytes_add(b, &h, sizeof(h));
	bytes_add(b, s, sizeof(s));
	for (int i = 0; i < S_COUNT; i++) {
		bytes_add(b, contents[i].at, contents[i].len);
		bytes_pad(b, 8);
	}
}

size_t
dof_add(struct bytes *b, const struct probes *probes)
{
	struct bytes contents[S_COUNT] = { { 0 } };
	struct bytes *strings = &contents[S_STRINGS];
	struct dof_provider p = {
		.strings = S_STRINGS,
		.probes = S_PROBES,
		.map = DOF_NOTHING,
		.places = DOF_NOTHING,
		.enabled_places = DOF_NOTHING,
	};
	size_t at = bytes_pad(b, 8);

	bytes_add(strings, "", 1); /* offset 0 is no text */
	p.name = add_name(strings, probes->provider);
	for (size_t i = 0; i < probes->count; i++)
		add_probe(&contents[S_PROBES], strings, probes->at[i]);
	bytes_add(&contents[S_PROVIDER], &p, sizeof(p));
	put_together(b, contents);
	for (int i = 0; i < S_COUNT; i++) {
		b->failed |= contents[i].failed;
		bytes_fini(&contents[i]);
	}
	return at;
}
