/*
 * The symbols of a load object: .dynsym and .symtab (of the file, else of its
 * separate debug file, else of the one in .gnu_debugdata) merged into one table in address order.
 *
 * Functions and data are two arrays.  The order of functions is: address, then
 * among aliases the name a person would say first.  Two arrays follow from it:
 * `reach' (the highest end of any function up to here), which tells a search
 * that walks back from an address when to stop, and the table of names, built
 * when a name is first asked for.
 *
 * Invariant: after symtab_of() nothing moves; names and symbols are borrowed
 * until the object is destroyed.
 */
#include <stdlib.h>
#include <string.h>

#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "dlang/base/sorted.h"
#include "dlang/base/vec.h"
#include "symbols/elf/parts.h"

/* The most symbols of a table: the largest known (a browser with all its debug
 * information) has two million. */
#define SYMS_MOST (1 << 24)

/* In a longer group of aliases (templates that the linker has merged) a name
 * may occur twice. */
#define ALIASES_MOST 256

struct symtab {
	VEC(struct sym) funcs;
	VEC(struct sym) data;
	uint64_t *reach;
	struct hash by_name;
	bool by_name_built;
	bool full;          /* not of exported names alone */
	struct arena names; /* of names that end before an '@' */
};

/* A symbol table in a file, and what is needed to read it. */
struct table {
	const Elf64_Sym *syms;
	size_t count;
	const char *names;
	size_t names_size;
	const Elf64_Half *versions; /* NULL, or `count' of them */
	bool dynamic;
};

/* The string, or NULL if it does not end inside its table. */
static const char *
table_name(const struct table *t, uint32_t off)
{
	if (off == 0 || off >= t->names_size ||
	    memchr(t->names + off, '\0', t->names_size - off) == NULL)
		return NULL;
	return t->names + off;
}

/* Is addr in a section of code?  The linker's names for the begin and the end
 * of segments are not. */
static bool
in_code(const struct object *o, uint64_t addr)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(o->file.elf, scn)) != NULL) {
		Elf64_Shdr h;

		if (elf_file_shdr(scn, &h) && (h.sh_flags & SHF_EXECINSTR) &&
		    addr >= h.sh_addr && addr - h.sh_addr < h.sh_size)
			return true;
	}
	return false;
}

/* Is the symbol defined in this file, and of a kind that is listed? */
static bool
sym_wanted(const struct object *o, const Elf64_Sym *s, enum sym_kind *kind)
{
	if (s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS ||
	    s->st_shndx == SHN_COMMON)
		return false;
	if (ELF64_ST_TYPE(s->st_info) == STT_TLS) {
		*kind = SYM_TLS;
		return true;
	}
	if (s->st_value == 0)
		return false;
	switch (ELF64_ST_TYPE(s->st_info)) {
	case STT_FUNC: *kind = SYM_FUNC; return object_is_text(o, s->st_value);
	case STT_GNU_IFUNC:
		*kind = SYM_IFUNC;
		return object_is_text(o, s->st_value);
	case STT_OBJECT: *kind = SYM_OBJECT; return true;
	case STT_NOTYPE: /* nasm writes types only on request */
		*kind = SYM_FUNC;
		return ELF64_ST_BIND(s->st_info) != STB_LOCAL &&
		    in_code(o, s->st_value);
	default: return false;
	}
}

/* The number of bytes from addr to the end of its segment. */
static uint64_t
segment_left(const struct object *o, uint64_t addr)
{
	for (size_t i = 0; i < o->seg_count; i++) {
		const struct segment *s = &o->segs[i];

		if (addr >= s->addr && addr - s->addr < s->mem_size)
			return s->mem_size - (addr - s->addr);
	}
	return 0;
}

static void
sym_add(
    struct symtab *tab, const struct object *o, const struct table *t, size_t i)
{
	const Elf64_Sym *s = &t->syms[i];
	const char *name = table_name(t, s->st_name), *at;
	struct sym sym = { 0 };
	unsigned bind = ELF64_ST_BIND(s->st_info);

	if (name == NULL || !sym_wanted(o, s, &sym.kind))
		return;
	at = strchr(name, '@');
	if (at == name)
		return;
	if (at != NULL) {
		sym.old_version = at[1] != '@';
		name = arena_strndup(&tab->names, name, (size_t)(at - name));
	}
	/* Bit 15 of a version means hidden: it is not the default version. */
	if (t->versions != NULL && (t->versions[i] & 0x8000))
		sym.old_version = true;
	sym.name = name;
	sym.addr = s->st_value;
	sym.size = MIN(s->st_size, segment_left(o, s->st_value));
	sym.global = bind != STB_LOCAL;
	sym.dynamic = t->dynamic;
	sym.untyped = ELF64_ST_TYPE(s->st_info) == STT_NOTYPE;
	if (sym.kind == SYM_OBJECT || sym.kind == SYM_TLS)
		*vec_push(&tab->data) = sym;
	else
		*vec_push(&tab->funcs) = sym;
}

/* Find the table of the given type, and its strings. */
static bool
table_find(const struct elf_file *f, uint32_t type, struct table *t)
{
	Elf_Scn *scn = NULL, *strscn;
	Elf64_Shdr h, sh;
	Elf_Data *d, *strd;

	while ((scn = elf_nextscn(f->elf, scn)) != NULL)
		if (elf_file_shdr(scn, &h) && h.sh_type == type)
			break;
	if (scn == NULL || (d = elf_file_data(scn, &h)) == NULL)
		return false;
	strscn = elf_getscn(f->elf, h.sh_link);
	if (!elf_file_shdr(strscn, &sh) ||
	    (strd = elf_file_data(strscn, &sh)) == NULL)
		return false;
	*t = (struct table){
		.syms = d->d_buf,
		.count = MIN(d->d_size / sizeof(Elf64_Sym), SYMS_MOST),
		.names = strd->d_buf,
		.names_size = strd->d_size,
		.dynamic = type == SHT_DYNSYM,
	};
	return true;
}

static void
table_find_versions(const struct elf_file *f, struct table *t)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(f->elf, scn)) != NULL) {
		Elf64_Shdr h;
		Elf_Data *d;

		if (!elf_file_shdr(scn, &h) || h.sh_type != SHT_GNU_versym)
			continue;
		d = elf_file_data(scn, &h);
		if (d != NULL && d->d_size / sizeof(Elf64_Half) >= t->count)
			t->versions = d->d_buf;
		return;
	}
}

/* The number of symbols to which a DT_GNU_HASH table refers: the end of the
 * longest chain. */
static size_t
gnu_hash_count(const struct object *o, uint64_t addr)
{
	uint32_t head[4], last = 0, word;
	size_t avail;
	const uint8_t *p = object_bytes(o, addr, &avail);
	uint64_t buckets, chains;

	if (p == NULL || avail < sizeof(head))
		return 0;
	memcpy(head, p, sizeof(head));
	buckets = sizeof(head) + 8ULL * head[2];
	chains = buckets + 4ULL * head[0];
	if (chains > avail)
		return 0;
	for (uint32_t i = 0; i < head[0]; i++) {
		memcpy(&word, p + buckets + 4ULL * i, sizeof(word));
		last = MAX(last, word);
	}
	if (last < head[1])
		return head[1];
	for (;; last++) {
		uint64_t at = chains + 4ULL * (last - head[1]);

		if (at + 4 > avail)
			return 0;
		memcpy(&word, p + at, sizeof(word));
		if (word & 1)
			return (size_t)last + 1;
	}
}

/* If there are no section headers (an image read back from memory, or a file
 * stripped of them), the dynamic section has the address of the symbols. */
static bool
table_find_dynamic(const struct object *o, struct table *t)
{
	uint64_t syms, names, size, hash, versions;
	size_t avail, name_avail, count = 0;
	const uint8_t *p, *s;
	uint32_t nchain[2];

	if (object_dynamic(o, DT_SYMTAB, &syms) != 0 ||
	    object_dynamic(o, DT_STRTAB, &names) != 0 ||
	    object_dynamic(o, DT_STRSZ, &size) != 0 || syms % 8 != 0)
		return false;
	p = object_bytes(o, syms, &avail);
	s = object_bytes(o, names, &name_avail);
	if (p == NULL || s == NULL || ((uintptr_t)p & 7) != 0)
		return false;
	if (object_dynamic(o, DT_GNU_HASH, &hash) == 0)
		count = gnu_hash_count(o, hash);
	else if (object_dynamic(o, DT_HASH, &hash) == 0 &&
	    object_read((struct object *)(uintptr_t)o, hash, nchain,
		sizeof(nchain)) == 0)
		count = nchain[1];
	*t = (struct table){
		.syms = (const void *)p,
		.count = MIN(count, avail / sizeof(Elf64_Sym)),
		.names = (const char *)s,
		.names_size = MIN(size, name_avail),
		.dynamic = true,
	};
	if (object_dynamic(o, DT_VERSYM, &versions) == 0) {
		p = object_bytes(o, versions, &avail);
		if (p != NULL && ((uintptr_t)p & 1) == 0 &&
		    avail / sizeof(Elf64_Half) >= t->count)
			t->versions = (const void *)p;
	}
	return true;
}

static unsigned
underscores(const char *s)
{
	return (unsigned)strspn(s, "_");
}

/* The order of names at one address: the most readable name is first. */
static int
alias_compare(const struct sym *a, const struct sym *b)
{
	size_t la, lb;
	int c;

	if (a->global != b->global)
		return a->global ? -1 : 1;
	la = underscores(a->name);
	lb = underscores(b->name);
	if (la != lb)
		return la < lb ? -1 : 1;
	la = strlen(a->name);
	lb = strlen(b->name);
	if (la != lb)
		return la < lb ? -1 : 1;
	c = strcmp(a->name, b->name);
	if (c != 0)
		return c;
	return (int)a->dynamic - (int)b->dynamic;
}

static int
sym_compare(const void *va, const void *vb)
{
	const struct sym *a = va, *b = vb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return alias_compare(a, b);
}

/* Merge b into *a, which is the same symbol. */
static void
sym_merge(struct sym *a, const struct sym *b)
{
	a->dynamic = a->dynamic && b->dynamic;
	a->global = a->global || b->global;
	a->untyped = a->untyped && b->untyped;
	/* Either table may show that a version is the default one, or that it
	 * is not. But the name of the default one may be without '@'. */
	a->old_version = a->old_version && b->old_version;
	if (a->size == 0)
		a->size = b->size;
	if (b->kind == SYM_IFUNC)
		a->kind = SYM_IFUNC;
}

/* One entry per name and address. */
static void
funcs_unique(struct symtab *tab)
{
	size_t out = 0, group = 0;

	for (size_t i = 0; i < tab->funcs.len; i++) {
		const struct sym *s = &tab->funcs.at[i];
		size_t j;

		if (out == 0 || tab->funcs.at[group].addr != s->addr)
			group = out;
		j = out - group > ALIASES_MOST ? out - ALIASES_MOST : group;
		while (j < out && strcmp(tab->funcs.at[j].name, s->name) != 0)
			j++;
		if (j < out)
			sym_merge(&tab->funcs.at[j], s);
		else
			tab->funcs.at[out++] = *s;
	}
	tab->funcs.len = out;
}

/* A symbol without a type that is inside of a function is a label. */
static void
funcs_without_labels(struct symtab *tab)
{
	uint64_t end = 0, at = UINT64_MAX;
	size_t out = 0;

	for (size_t i = 0; i < tab->funcs.len; i++) {
		const struct sym *s = &tab->funcs.at[i];

		for (size_t j = i; s->addr != at && j < tab->funcs.len &&
		     tab->funcs.at[j].addr == s->addr;
		     j++)
			if (!tab->funcs.at[j].untyped)
				end = MAX(end,
				    s->addr + MAX(tab->funcs.at[j].size, 1));
		at = s->addr;
		if (!s->untyped || s->addr >= end)
			tab->funcs.at[out++] = *s;
	}
	tab->funcs.len = out;
}

/* The end of the section that contains addr, else of the segment. */
static uint64_t
section_end(const struct object *o, uint64_t addr)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(o->file.elf, scn)) != NULL) {
		Elf64_Shdr h;

		if (elf_file_shdr(scn, &h) && (h.sh_flags & SHF_ALLOC) &&
		    addr >= h.sh_addr && addr - h.sh_addr < h.sh_size)
			return h.sh_addr + h.sh_size;
	}
	return addr + segment_left(o, addr);
}

/* Give a size to symbols that have none (hand-written assembly). */
static void
funcs_size(struct symtab *tab, struct object *o)
{
	uint64_t next = 0, next_at = UINT64_MAX;

	for (size_t i = tab->funcs.len; i-- > 0;) {
		struct sym *s = &tab->funcs.at[i];
		uint64_t start, end;

		if (s->addr != next_at) {
			next = next_at;
			next_at = s->addr;
		}
		if (s->size != 0)
			continue;
		s->size_guessed = true;
		if (object_fde_range(o, s->addr, &start, &end) != 0)
			end = MIN(
			    section_end(o, s->addr), ehframe_next(o, s->addr));
		end = MIN(end, next);
		s->size = end > s->addr ? end - s->addr : 0;
	}
}

static void
funcs_reach(struct symtab *tab)
{
	uint64_t high = 0;

	tab->reach = mem_alloc(tab->funcs.len * sizeof(*tab->reach));
	for (size_t i = 0; i < tab->funcs.len; i++) {
		const struct sym *s = &tab->funcs.at[i];

		high = MAX(high, s->addr + s->size);
		tab->reach[i] = high;
	}
}

static void
func_add(void *ctx, const struct sym *s)
{
	struct symtab *tab = ctx;

	*vec_push(&tab->funcs) = *s;
}

/* All symbols, from the first of the files that has any. */
static bool
table_find_all(struct object *o, struct table *t)
{
	const struct elf_file *f;

	if (table_find(&o->file, SHT_SYMTAB, t))
		return true;
	f = debuglink_of(o);
	if (f != NULL && table_find(f, SHT_SYMTAB, t))
		return true;
	f = debugdata_of(o);
	return f != NULL && table_find(f, SHT_SYMTAB, t);
}

static void
tables_read(struct symtab *tab, struct object *o)
{
	struct table t;

	if (table_find(&o->file, SHT_DYNSYM, &t))
		table_find_versions(&o->file, &t);
	else if (!table_find_dynamic(o, &t))
		t.count = 0;
	for (size_t i = 1; i < t.count; i++)
		sym_add(tab, o, &t, i);
	if (!table_find_all(o, &t)) {
		size_t exported = tab->funcs.len;

		gosym_each(o, &tab->names, func_add, tab);
		tab->full = tab->funcs.len > exported;
		return;
	}
	tab->full = true;
	for (size_t i = 1; i < t.count; i++)
		sym_add(tab, o, &t, i);
}

static void
symtab_fini(void *part)
{
	struct symtab *t = part;

	vec_fini(&t->funcs);
	vec_fini(&t->data);
	mem_free(t->reach);
	hash_fini(&t->by_name);
	arena_fini(&t->names);
}

static struct symtab *
symtab_of(struct object *o)
{
	struct symtab *tab = object_part(o, PART_SYMTAB);

	if (tab != NULL)
		return tab;
	tab = object_part_new(o, PART_SYMTAB, sizeof(*tab), symtab_fini);
	arena_init(&tab->names);
	tables_read(tab, o);
	if (tab->funcs.len > 0)
		qsort(tab->funcs.at, tab->funcs.len, sizeof(*tab->funcs.at),
		    sym_compare);
	funcs_unique(tab);
	funcs_without_labels(tab);
	funcs_size(tab, o);
	funcs_reach(tab);
	LOG("symbols", "%s: %zu functions, %zu variables", o->path,
	    tab->funcs.len, tab->data.len);
	return tab;
}

size_t
object_funcs(struct object *o, const struct sym **syms)
{
	const struct symtab *tab = symtab_of(o);

	*syms = tab->funcs.at;
	return tab->funcs.len;
}

size_t
syms_to(const struct sym *syms, size_t n, uint64_t addr)
{
	return sorted_count(n, i, syms[i].addr <= addr);
}

size_t
object_funcs_from(struct object *o, uint64_t addr)
{
	const struct symtab *tab = symtab_of(o);

	return addr == 0 ? 0 : syms_to(tab->funcs.at, tab->funcs.len, addr - 1);
}

bool
object_has_symtab(struct object *o)
{
	return symtab_of(o)->full;
}

bool
sym_is_piece(const char *name)
{
	static const char *const marks[] = { ".cold", ".warm", ".__part" };

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		const char *at = strstr(name, marks[i]);
		if (at == NULL || at == name)
			continue;
		at += strlen(marks[i]);
		at += *at == '.' && at[1] != '\0';
		if (at[strspn(at, "0123456789")] == '\0')
			return true;
	}
	return false;
}

bool
object_is_piece(const struct object *o, const char *name)
{
	return sym_is_piece(name) && !object_is_go(o);
}

const struct sym *
object_func_at(struct object *o, uint64_t addr)
{
	const struct symtab *tab = symtab_of(o);

	for (size_t i = syms_to(tab->funcs.at, tab->funcs.len, addr);
	     i-- > 0 && tab->reach[i] > addr;) {
		const struct sym *s = &tab->funcs.at[i];

		if (addr - s->addr >= s->size)
			continue;
		/* The best name is the first one at its address that covers
		 * addr. */
		for (; i > 0 && s[-1].addr == s->addr; i--, s--)
			;
		while (addr - s->addr >= s->size)
			s++;
		return s;
	}
	return NULL;
}

/* Is a the better name of the two? */
static bool
data_better(const struct sym *a, const struct sym *b)
{
	if (b == NULL || a->global != b->global)
		return b == NULL || a->global;
	return strlen(a->name) < strlen(b->name);
}

/* They are not sorted, because few addresses are looked up. */
const struct sym *
object_data_at(struct object *o, uint64_t addr)
{
	const struct symtab *tab = symtab_of(o);
	const struct sym *found = NULL;

	vec_foreach(s, &tab->data)
		if (s->kind == SYM_OBJECT && addr >= s->addr &&
		    addr - s->addr < MAX(s->size, 1) && data_better(s, found))
			found = s;
	return found;
}

/* Which of two symbols with this name is meant? */
static bool
name_means(const struct sym *a, const struct sym *b)
{
	if (a->old_version != b->old_version)
		return !a->old_version;
	return a->global && !b->global;
}

static void
name_add(struct symtab *tab, struct sym *s)
{
	const struct sym *old = hash_get_str(&tab->by_name, s->name);

	if (old != NULL && !name_means(s, old))
		return;
	/* The key is replaced together with the value, because both belong to
	 * the symbol. */
	hash_set_str(&tab->by_name, s->name, s);
}

const struct sym *
object_sym(struct object *o, const char *name)
{
	struct symtab *tab = symtab_of(o);

	if (!tab->by_name_built) {
		vec_foreach(s, &tab->funcs)
			name_add(tab, s);
		vec_foreach(s, &tab->data)
			name_add(tab, s);
		tab->by_name_built = true;
	}
	return hash_get_str(&tab->by_name, name);
}
