/*
 * The world of tables; see world.h.  Process 123 runs a.out, which has
 *
 *	struct point { int x, y; };  typedef struct point point_t;
 *	enum color { RED, BLUE };
 *	int total;  point_t origin;  point_t *cursor;  char title[16];
 *	int main(int, char **);  untyped;
 *
 * and, where its functions have probes, local variables
 *
 *	int n;  point_t *at;  point_t box;  register int quick;
 */
#include "t/fake/world.h"

#include <errno.h>
#include <string.h>

#include "dlang/base/glob.h"
#include "dlang/types.h"

static const struct {
	const char *prov, *mod, *func, *name;
} probes[] = {
	{ "dtrace", "", "", "BEGIN" },
	{ "dtrace", "", "", "END" },
	{ "dtrace", "", "", "ERROR" },
	{ "profile", "", "", "tick-1s" },
	{ "profile", "", "", "tick-10" },
	{ "profile", "", "", "profile-97" },
	{ "pid123", "a.out", "main", "entry" },
	{ "pid123", "a.out", "main", "return" },
	{ "pid123", "a.out", "work", "entry" },
	{ "pid123", "a.out", "work", "return" },
	{ "pid123", "libc.so.6", "malloc", "entry" },
	{ "pid123", "libc.so.6", "malloc", "return" },
	{ "syscall", "", "read", "entry" },
	{ "syscall", "", "read", "return" },
	{ "test", "a.out", "f", "typed" },
	{ "test", "a.out", "g", "other" },
	{ "test", "a.out", "h", "placed" },
	{ "pid123", "b.out", "shop::put(int)", "start" },
	{ "pid123", "b.out", "shop::get", "start" },
	{ "pid123", "b.out", "test::g", "start" },
	{ "pid123", "b.out", "apart::two", "start" },
	{ "apart", "b.out", "two", "start" },
};

static bool
field(const char *pattern, const char *text)
{
	if (pattern[0] == '\0')
		return true;
	return glob_is(pattern) ? glob_match(pattern, text) :
				  strcmp(pattern, text) == 0;
}

static int64_t
fake_probes(void *w, const struct probe_desc *pd, const struct span *at,
    struct diags *d)
{
	int64_t n = 0;

	if (strcmp(pd->prov, "pid0") == 0)
		return diag_error(
		    d, D_PROC_BADPID, at, "pid0 does not contain a valid pid");
	if (pd->id != 0)
		return pd->id <= sizeof(probes) / sizeof(probes[0]);
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		n += field(pd->prov, probes[i].prov) &&
		    field(pd->mod, probes[i].mod) &&
		    field(pd->func, probes[i].func) &&
		    field(pd->name, probes[i].name);
	return n;
}

/* But for `apart', which is found when its probes are asked for. */
static bool
fake_provider(void *w, const char *prov)
{
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		if (*prov != '\0' && strcmp(prov, "apart") != 0 &&
		    field(prov, probes[i].prov))
			return true;
	return false;
}

static struct type *
point(struct types *ts)
{
	static const char *const names[] = { "x", "y" };
	static struct type_member members[2];
	struct type *t = types_lookup(ts, "struct point");

	if (t != NULL)
		return t;
	t = types_new(ts, TYPE_STRUCT);
	for (size_t i = 0; i < 2; i++)
		members[i] = (struct type_member){ .name = names[i],
			.type = types_lookup(ts, "int"),
			.offset = i * 4 };
	t->name = "point";
	t->size = 8;
	/* One session at a time lives in a test. */
	t->members = members;
	t->nmembers = 2;
	types_define(ts, "struct point", t);
	return t;
}

static struct type *
color(struct types *ts)
{
	static struct type_enumerator tags[] = { { "RED", 0 }, { "BLUE", 1 } };
	struct type *t = types_lookup(ts, "enum color");

	if (t != NULL)
		return t;
	t = types_new(ts, TYPE_ENUM);
	t->name = "color";
	t->size = 4;
	t->is_signed = true;
	t->enumerators = tags;
	t->nenumerators = ARRAY_SIZE(tags);
	types_define(ts, "enum color", t);
	return t;
}

/* Arguments whose place is known: each kind, by other registers. */
static const struct argplace places[] = {
	{ .kind = ARGPLACE_REG, .reg = UREG_RDI },
	{ .kind = ARGPLACE_PIECES,
	    .npieces = 1,
	    .piece = { { UREG_RSI, 8, 0 } } },
	{ .kind = ARGPLACE_PIECES,
	    .npieces = 2,
	    .piece = { { UREG_R8, 8, 0 }, { UREG_XMM(1, 1), 8, 8 } } },
	{ .kind = ARGPLACE_MEM, .reg = UREG_RSP, .disp = 4 },
	{ .kind = ARGPLACE_MEM, .reg = UREG_RSP },
	{ .kind = ARGPLACE_AT, .reg = UREG_RSP, .disp = 16 },
	{ .kind = ARGPLACE_EMPTY },
};

static int
placed_arg(unsigned n, struct types *ts, struct world_arg *out)
{
	struct type *const of[] = { types_lookup(ts, "signed char"), point(ts),
		types_array(ts, types_lookup(ts, "long"), 2),
		types_lookup(ts, "short"), point(ts), point(ts), point(ts) };

	*out = (struct world_arg){
		.native = of[n], .translated = of[n], .place = places[n]
	};
	return 0;
}

static int
fake_nargs(
    void *w, const struct probe_desc *pd, struct types *ts, const char **why)
{
	if (strcmp(pd->prov, "test") == 0)
		return pd->name[0] == '\0'          ? -ENOTUNIQ :
		    strcmp(pd->name, "placed") == 0 ? (int)ARRAY_SIZE(places) :
						      6;
	return -ENOENT;
}

static int
fake_arg(void *w, const struct probe_desc *pd, unsigned n, struct types *ts,
    struct world_arg *out)
{
	struct type *integer = types_lookup(ts, "int");
	struct type *const of[][2] = {
		{ integer, integer },
		{ types_lookup(ts, "char *"), types_lookup(ts, "char *") },
		{ types_pointer(ts, point(ts)), types_pointer(ts, point(ts)) },
		{ NULL, NULL },
		{ integer, types_lookup(ts, "short") },
		{ integer, point(ts) },
	};

	if (strcmp(pd->name, "placed") == 0)
		return placed_arg(n, ts, out);
	if (n >= sizeof(of) / sizeof(of[0]))
		return -ENOENT;
	*out = (struct world_arg){
		.native = of[n][0], .translated = of[n][1], .source = n
	};
	return 0;
}

static int
fake_symbol(void *w, const char *object, const char *name, struct types *ts,
    struct world_symbol *out)
{
	struct type *of = NULL;

	if (!field(object, "a.out"))
		return -ENOENT;
	if (strcmp(name, "total") == 0)
		of = types_lookup(ts, "int");
	else if (strcmp(name, "origin") == 0)
		of = point(ts);
	else if (strcmp(name, "cursor") == 0)
		of = types_pointer(ts, point(ts));
	else if (strcmp(name, "title") == 0)
		of = types_array(ts, types_lookup(ts, "char"), 16);
	else if (strcmp(name, "main") == 0) {
		of = types_new(ts, TYPE_FUNC);
		of->base = types_lookup(ts, "int");
	} else if (strcmp(name, "untyped") != 0)
		return -ENOENT;
	*out = (struct world_symbol){ .ref = 7, .type = of, .object = "a.out" };
	return 0;
}

/* Values are arguments 16 and on, addresses 32 and on. */
static int
fake_local(void *w, const struct probe_desc *pd, const char *name, bool address,
    struct types *ts, struct world_local *out)
{
	const struct {
		const char *name;
		struct type *type;
	} rows[] = {
		{ "n", types_lookup(ts, "int") },
		{ "at", types_pointer(ts, point(ts)) },
		{ "box", point(ts) },
		{ "quick", types_lookup(ts, "int") },
	};

	*out = (struct world_local){ .why = "Nothing is called so there" };
	if (strcmp(pd->prov, "pid123") != 0)
		return -ENOENT;
	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].name, name) != 0)
			continue;
		if (address && strcmp(name, "quick") == 0) {
			out->why = "It is in a register, not in memory";
			return -ENOENT;
		}
		*out = (struct world_local){ .type = rows[i].type,
			.arg = (address ? 32 : 16) + i };
		return 0;
	}
	return -ENOENT;
}

static int
fake_type(void *w, const char *object, const char *name, struct types *ts,
    struct type **out)
{
	if (strcmp(name, "struct point") == 0) {
		*out = point(ts);
		return 0;
	}
	if (strcmp(name, "enum color") == 0) {
		*out = color(ts);
		return 0;
	}
	if (strcmp(name, "point_t") != 0)
		return -ENOENT;
	*out = types_new(ts, TYPE_TYPEDEF);
	(*out)->name = "point_t";
	(*out)->base = point(ts);
	(*out)->size = 8;
	return 0;
}

static int
fake_macro(void *w, const char *name, int64_t *value)
{
	static const struct {
		const char *name;
		int64_t value;
	} table[] = { { "target", 123 }, { "pid", 77 }, { "ppid", 1 },
		{ "uid", 1000 }, { "gid", 1000 } };

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(table[i].name, name) == 0) {
			*value = table[i].value;
			return 0;
		}
	}
	return -ENOENT;
}

static const struct world_ops ops = {
	.probes = fake_probes,
	.provider = fake_provider,
	.nargs = fake_nargs,
	.arg = fake_arg,
	.symbol = fake_symbol,
	.local = fake_local,
	.type = fake_type,
	.macro = fake_macro,
};

const struct world fake_world = { &ops, NULL };
