/*
 * The readers of debug information on damaged files: variables, types,
 * prototypes, lines and calling conventions from DWARF and CTF.  An answer or
 * none, in bounded time.
 *
 * From nothing, a fuzzer never finds a file that is a file, has sections and
 * entries in them.  So small programs are built when it starts, in several
 * layouts; the input says which one, and what to change in its sections:
 *
 *	layout, then any number of: kind and section, offset (2), value (1)
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlang/base/base.h"
#include "dlang/base/mem.h"
#include "symbols/ctf.h"
#include "symbols/dwarf.h"
#include "symbols/elf/parts.h"
#include "tracer/names/abi.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char program[] =
    "enum color { RED, GREEN = 5, BLUE = -1 };\n"
    "struct node; typedef struct node node_t;\n"
    "struct node { char tag; node_t *next; short rows[2][3];\n"
    "	unsigned a : 3, b : 9; int c : 5; long long w : 40;\n"
    "	union { int i; float f; }; enum color color; double d;\n"
    "	int (*call)(int, ...); char tail[]; };\n"
    "struct pair { long x; double y; }; union u { int i; char c[4]; };\n"
    "int counter = 3; static long hidden = 4; volatile const char *text;\n"
    "struct node *list[4]; union u u;\n"
    "__attribute__((noinline)) long f(node_t *n, const char *s,\n"
    "	struct pair p) { return n->c + s[0] + hidden + p.x; }\n"
    "__attribute__((noinline)) struct pair g(enum color c, long double d)\n"
    "{ struct pair p = { c, (double)d }; return p; }\n"
    "static inline int twice(int n) { int m = n * 2; return m + counter; }\n"
    "int start(int n) { struct pair p = g((enum color)n, 3);\n"
    "	return twice(n) + (int)f(list[0], \"\", p); }\n";

static const char other[] = "struct node { int other; enum { A, B } e; };\n"
			    "struct node *second(struct node *n, float f)\n"
			    "{ return n + (int)f; }\n";

static const char classes[] =
    "namespace ns { struct base { virtual int v(); int b; };\n"
    "struct derived : base { derived(const derived &); ~derived(); int d; };\n"
    "int base::v() { return b; }\n"
    "template <typename T> T same(T t, derived d) { return t + d.d; }\n"
    "enum class e : char { x, y }; struct in { struct { int i; } a[3]; };\n"
    "struct shape { in i; e k; int (base::*m)(); };\n"
    "int g(shape *s, e k, derived &r, in i);\n"
    "int g(shape *s, e k, derived &r, in i) { return s->i.a[1].i + r.d +\n"
    "	(int)k + i.a[0].i; } }\n"
    "int start(int n, ns::derived *d) { return ns::same(n, *d); }\n";

static const struct {
	const char *compiler, *file, *options;
} layouts[] = {
	{ "gcc", "a.c b.c", "-O1 -g" },
	{ "gcc", "a.c b.c", "-O1 -gctf" },
	{ "gcc", "a.c b.c", "-O2 -gdwarf-4 -fdebug-types-section" },
	{ "g++ -fno-rtti", "c.cc", "-O1 -g" },
	{ "gcc", "a.c", "-O0 -gdwarf-2 -gstrict-dwarf" },
	{ "gcc", "a.c", "-O1 -gctf" },
};

#define LAYOUTS  ARRAY_SIZE(layouts)
#define SECTIONS 16

static struct base {
	uint8_t *bytes;
	size_t size, nsections;
	struct {
		size_t offset, size;
	} sections[SECTIONS];
} bases[LAYOUTS];

/* ---- building ---- */

static void
write_file(const char *dir, const char *name, const char *text)
{
	char *path = mem_printf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	if (f == NULL || fputs(text, f) == EOF || fclose(f) != 0)
		abort();
	mem_free(path);
}

static void
shell(const char *command)
{
	if (system(command) != 0) {
		fprintf(stderr, "failed: %s\n", command);
		exit(1);
	}
}

static void
read_base(struct base *b, const char *path)
{
	FILE *f = fopen(path, "r");
	long n;

	if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (n = ftell(f)) <= 0)
		abort();
	rewind(f);
	b->size = (size_t)n;
	b->bytes = mem_alloc(b->size);
	if (fread(b->bytes, 1, b->size, f) != b->size)
		abort();
	fclose(f);
}

static void
find_sections(struct base *b)
{
	const Elf64_Ehdr *h = (const void *)b->bytes;
	const Elf64_Shdr *sh = (const void *)(b->bytes + h->e_shoff);
	const char *names =
	    (const char *)b->bytes + sh[h->e_shstrndx].sh_offset;

	for (size_t i = 0; i < h->e_shnum && b->nsections < SECTIONS; i++) {
		const char *name = names + sh[i].sh_name;

		if (strncmp(name, ".debug", 6) != 0 &&
		    strcmp(name, ".ctf") != 0)
			continue;
		b->sections[b->nsections].offset = sh[i].sh_offset;
		b->sections[b->nsections++].size = sh[i].sh_size;
	}
	if (b->nsections == 0)
		abort();
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char dir[] = "/tmp/fuzz_dwarf.XXXXXX";
	char *command;

	if (mkdtemp(dir) == NULL)
		abort();
	write_file(dir, "a.c", program);
	write_file(dir, "b.c", other);
	write_file(dir, "c.cc", classes);
	for (size_t i = 0; i < LAYOUTS; i++) {
		command = mem_printf(
		    "cd %s && %s %s -w -fPIC -shared -nostdlib -o x %s", dir,
		    layouts[i].compiler, layouts[i].options, layouts[i].file);
		shell(command);
		mem_free(command);
		command = mem_printf("%s/x", dir);
		read_base(&bases[i], command);
		mem_free(command);
		find_sections(&bases[i]);
	}
	command = mem_printf("rm -r %s", dir);
	shell(command);
	mem_free(command);
	return 0;
}

/* ---- damaging ---- */

/* Four bytes of input: where, and what is done there. */
static void
change(struct base *b, const uint8_t *in)
{
	size_t s = in[0] % b->nsections, size = b->sections[s].size;
	size_t at = (in[1] | (size_t)in[2] << 8) % (size + 1);
	uint8_t *p = b->bytes + b->sections[s].offset + at;
	Elf64_Ehdr *h = (void *)b->bytes;
	Elf64_Shdr *sh = (void *)(b->bytes + h->e_shoff);

	if (in[0] >= 248) { /* cut off */
		for (size_t i = 0; i < h->e_shnum; i++)
			if (sh[i].sh_offset == b->sections[s].offset)
				sh[i].sh_size = at;
		return;
	}
	if (at >= size)
		return;
	if (in[0] < 64)
		p[0] = (uint8_t)(p[0] + in[3]);
	else if (in[0] < 128 && at + 4 <= size)
		memset(p, in[3], 4);
	else
		p[0] = in[3];
}

/* ---- looking ---- */

static void
look(struct type *t, unsigned depth, unsigned *left)
{
	char buf[256];
	uint64_t offset = 0;

	t = type_resolve(t);
	if (t == NULL || depth == 0 || *left == 0)
		return;
	--*left;
	type_name(t, buf, sizeof(buf));
	type_dif(t);
	type_member(t, "none", &offset);
	if (t->base != NULL)
		look(t->base, depth - 1, left);
	for (size_t i = 0; i < t->nmembers && *left != 0; i++)
		look(t->members[i].type, depth - 1, left);
}

static void
look_into(struct type *t, unsigned depth)
{
	unsigned left = 200;

	look(t, depth, &left);
}

static void
look_at_func(struct type *fn)
{
	struct argplace *places =
	    mem_alloc((fn->nmembers + 1) * sizeof(*places));

	look_into(fn, 4);
	for (int i = 0; i < 2; i++) {
		enum abi abi = i == 0 ? ABI_C : ABI_RUST;
		if (abi_args(fn, abi, places) > fn->nmembers)
			abort();
		abi_result(fn, abi, &places[0]);
	}
	mem_free(places);
}

/* Whatever is said of it, places are in the function's own registers. */
static void
look_at_go(const struct dwarf_proto *p)
{
	size_t n = p->type->nmembers + p->go.nresults;
	struct argplace *places = mem_alloc((n + 1) * sizeof(*places));

	for (int i = 0; i < 4; i++) {
		struct abi_go go = { .fn = p->type,
			.results = p->go.results,
			.nresults = p->go.nresults,
			.said = p->go.said,
			.width = i < 2 ? -1 : 16,
			.stack = (i & 1) != 0 };
		abi_go(&go, places, places + p->type->nmembers);
		for (size_t k = 0; k < n; k++)
			if (places[k].npieces > ARGPLACE_PIECES_MAX ||
			    places[k].reg >= UREG_ALL)
				abort();
	}
	mem_free(places);
}

static const char *const names[] = { "counter", "list", "hidden", "u", "f",
	"second", "struct node", "node_t", "enum color", "union u",
	"struct pair", "derived", "struct shape", "e" };

static void
look_at_dwarf(struct object *o)
{
	struct types *ts = types_create(256);
	struct dwtypes *dw = dwtypes_create(ts);
	const struct sym *syms;
	size_t n = object_funcs(o, &syms);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct dwarf_var v;
		struct type *t;

		if (dwarf_var(dw, o, names[i], UINT64_MAX, &v) == 0)
			look_into(v.type, 5);
		if (dwarf_type(dw, o, names[i], &t) == 0)
			look_into(t, 5);
	}
	for (size_t i = 0; i < n; i++) {
		struct dwarf_proto p;
		const char *file;
		int line;

		if (dwarf_proto(dw, o, syms[i].addr, syms[i].name, &p) == 0) {
			look_at_func(p.type);
			if (p.calls == DWARF_CALLS_GO)
				look_at_go(&p);
		}
		if (dwarf_line(o, syms[i].addr + 4, &file, &line) &&
		    (line <= 0 || strlen(file) > 4096))
			abort();
	}
	types_destroy(ts);
	dwtypes_destroy(dw);
}

static void
look_at_ctf(struct object *o)
{
	struct types *ts = types_create(256);
	struct ctftypes *c = ctftypes_create(ts);
	const struct sym *syms;
	size_t n = object_funcs(o, &syms);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct dwarf_var v;
		struct type *t;

		if (ctftypes_var(c, o, names[i], 0x1000, &v) == 0)
			look_into(v.type, 5);
		if (ctftypes_type(c, o, names[i], &t) == 0)
			look_into(t, 5);
	}
	for (size_t i = 0; i < n; i++) {
		struct dwarf_proto p;
		if (ctftypes_proto(c, o, syms[i].name, &p) == 0)
			look_at_func(p.type);
	}
	types_destroy(ts);
	ctftypes_destroy(c);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct object *o;
	struct base b;

	if (size < 1)
		return 0;
	b = bases[data[0] % LAYOUTS];
	b.bytes = mem_alloc(b.size);
	memcpy(b.bytes, bases[data[0] % LAYOUTS].bytes, b.size);
	for (size_t i = 1; i + 4 <= size; i += 4)
		change(&b, data + i);
	if (object_open_image(b.bytes, b.size, "fuzz", &o) == 0) {
		look_at_dwarf(o);
		if (ctftypes_present(o))
			look_at_ctf(o);
		object_put(o);
	}
	mem_free(b.bytes);
	return 0;
}
