/*
 * CTF; see ctf.h.
 *
 * libctf reads copies of what ctf_check.c has accepted. So it does no harm if
 * the file is truncated later. A struct in a damaged file may contain itself:
 * the depth is limited, as in dwarf_types.c.
 */
#include "symbols/ctf.h"

#include <errno.h>
#include <string.h>

#include <ctf-api.h>

#include "dlang/base/hash.h"
#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "dlang/base/vec.h"
#include "symbols/dwarf/ctf_impl.h"
#include "symbols/elf/parts.h"

/* As in dwarf_types.c. */
#define DEPTH_MOST   64
#define MEMBERS_MOST 65536
#define SIZE_MOST    (1ULL << 31)
/* Compilation units whose types conflict have dictionaries of their own. */
#define DICTS_MOST 10000

/* One object's section, opened. */
struct ctffile {
	struct object *object; /* held */
	VEC(ctf_dict_t *) dicts;
	VEC(uint8_t *) bytes;  /* what they read */
	ctf_sect_t syms, strs; /* copies */
};

/* The types of one dictionary. */
struct ctfdict {
	ctf_dict_t *dict;
	struct hash by_id; /* struct type */
};

struct ctftypes {
	struct types *ts;
	VEC(struct ctffile *) files;
	VEC(struct ctfdict *) dicts;
	struct arena arena;
	unsigned depth;
};

/* A struct, union or enum whose definition was not read yet. */
struct pending {
	struct ctftypes *c;
	struct ctffile *f;
	ctf_dict_t *dict;
	ctf_id_t id;
};

/* ---- opening ---- */

static bool
section_at(const struct elf_file *f, const char *name, ctf_sect_t *out)
{
	Elf64_Shdr sh;
	Elf_Scn *scn = elf_file_section(f, name, &sh);
	Elf_Data *d = scn != NULL ? elf_file_data(scn, &sh) : NULL;

	if (d == NULL || d->d_size == 0)
		return false;
	out->cts_name = name;
	out->cts_data = d->d_buf;
	out->cts_size = d->d_size;
	out->cts_entsize = sh.sh_entsize;
	return true;
}

static void
own(ctf_sect_t *s)
{
	void *copy = mem_alloc(s->cts_size);

	memcpy(copy, s->cts_data, s->cts_size);
	s->cts_data = copy;
}

static const struct elf_file *
file_with_ctf(struct object *o)
{
	const struct elf_file *debug;
	ctf_sect_t s;

	if (section_at(&o->file, ".ctf", &s))
		return &o->file;
	debug = debuglink_of(o);
	return debug != NULL && section_at(debug, ".ctf", &s) ? debug : NULL;
}

/* The first dictionary says to which symbols its types belong. The others say
 * the same. */
static unsigned
flags_of(const ctf_sect_t *s)
{
	ctf_preamble_t p;
	const uint8_t *dict;
	size_t size;

	if (!ctfcheck_member(s->cts_data, s->cts_size, 0, &dict, &size) ||
	    size < sizeof(p))
		return 0;
	memcpy(&p, dict, sizeof(p));
	return p.ctp_flags;
}

static bool
take_symbols(struct ctffile *f, const ctf_sect_t *ctf)
{
	bool dynamic = (flags_of(ctf) & CTF_F_DYNSTR) != 0;
	const struct elf_file *file = &f->object->file;
	ctf_sect_t syms, strs;

	if (!section_at(file, dynamic ? ".dynsym" : ".symtab", &syms) ||
	    !section_at(file, dynamic ? ".dynstr" : ".strtab", &strs) ||
	    syms.cts_entsize != sizeof(Elf64_Sym) ||
	    syms.cts_size % sizeof(Elf64_Sym) != 0 ||
	    ((const char *)strs.cts_data)[strs.cts_size - 1] != '\0')
		return false;
	f->syms = syms;
	f->strs = strs;
	own(&f->syms);
	own(&f->strs);
	return true;
}

/* `parent': the dictionary to which the types of the others refer. */
static void
open_dict(struct ctffile *f, const uint8_t *bytes, size_t size,
    uint32_t *parent_types)
{
	bool symbols = f->strs.cts_data != NULL;
	struct ctfbytes dict;
	int error = 0;

	if (!ctfcheck_dict(bytes, size, f->strs.cts_size, *parent_types, &dict))
		return;
	const ctf_sect_t s = { .cts_name = ".ctf",
		.cts_data = dict.bytes,
		.cts_size = dict.size };
	ctf_dict_t *d = ctf_bufopen(
	    &s, symbols ? &f->syms : NULL, symbols ? &f->strs : NULL, &error);
	if (d == NULL) {
		LOG("symbols", "CTF: %s", ctf_errmsg(error));
		mem_free(dict.bytes);
		return;
	}
	*vec_push(&f->bytes) = dict.bytes;
	*vec_push(&f->dicts) = d;
	if (f->dicts.len == 1)
		*parent_types = dict.ntypes;
	else if (ctf_parent_name(d) != NULL)
		ctf_import(d, f->dicts.at[0]);
}

/* Open the dictionary without a parent first. The others cannot be used without
 * it. */
static void
open_dicts(struct ctffile *f, const ctf_sect_t *ctf)
{
	const uint8_t *dict;
	size_t size;
	uint32_t parent_types = 0;

	for (int children = 0; children < 2; children++) {
		if (children == 1 && f->dicts.len == 0)
			return;
		for (size_t i = 0; i < DICTS_MOST &&
		     ctfcheck_member(
			 ctf->cts_data, ctf->cts_size, i, &dict, &size);
		     i++)
			if (ctfcheck_is_child(dict, size) == children &&
			    (children == 1 || f->dicts.len == 0))
				open_dict(f, dict, size, &parent_types);
	}
}

static struct ctffile *
file_open(struct object *o)
{
	struct ctffile *f = mem_zalloc(sizeof(*f));
	const struct elf_file *file = file_with_ctf(o);
	ctf_sect_t ctf;

	f->object = object_get(o);
	if (file == NULL || !section_at(file, ".ctf", &ctf))
		return f;
	take_symbols(f, &ctf);
	open_dicts(f, &ctf);
	LOG("symbols", "%s: CTF: %zu dictionaries", object_path(o),
	    f->dicts.len);
	return f;
}

static void
file_close(struct ctffile *f)
{
	/* Children hold their parent. */
	for (size_t i = f->dicts.len; i-- > 0;)
		ctf_dict_close(f->dicts.at[i]);
	vec_fini(&f->dicts);
	vec_foreach(b, &f->bytes)
		mem_free(*b);
	vec_fini(&f->bytes);
	mem_free((void *)(uintptr_t)f->syms.cts_data);
	mem_free((void *)(uintptr_t)f->strs.cts_data);
	object_put(f->object);
	mem_free(f);
}

static struct ctffile *
file_of(struct ctftypes *c, struct object *o)
{
	vec_foreach(f, &c->files)
		if ((*f)->object == o)
			return *f;
	struct ctffile *f = file_open(o);
	*vec_push(&c->files) = f;
	return f;
}

bool
ctftypes_present(struct object *o)
{
	return file_with_ctf(o) != NULL;
}

struct ctftypes *
ctftypes_create(struct types *ts)
{
	struct ctftypes *c = mem_zalloc(sizeof(*c));

	c->ts = ts;
	arena_init(&c->arena);
	return c;
}

void
ctftypes_destroy(struct ctftypes *c)
{
	if (c == NULL)
		return;
	vec_foreach(d, &c->dicts) {
		hash_fini(&(*d)->by_id);
		mem_free(*d);
	}
	vec_fini(&c->dicts);
	vec_foreach(f, &c->files)
		file_close(*f);
	vec_fini(&c->files);
	arena_fini(&c->arena);
	mem_free(c);
}

/* ---- types ---- */

static struct type *type_of(
    struct ctftypes *c, struct ctffile *f, ctf_dict_t *d, ctf_id_t id);

static struct type *
t_void(struct ctftypes *c)
{
	return types_lookup(c->ts, "void");
}

static struct hash *
types_in(struct ctftypes *c, ctf_dict_t *d)
{
	vec_foreach(e, &c->dicts)
		if ((*e)->dict == d)
			return &(*e)->by_id;
	struct ctfdict *e = mem_zalloc(sizeof(*e));
	e->dict = d;
	*vec_push(&c->dicts) = e;
	return &e->by_id;
}

static const char *
name_of(struct ctftypes *c, ctf_dict_t *d, ctf_id_t id)
{
	const char *s = ctf_type_name_raw(d, id);

	return s != NULL && s[0] != '\0' ? arena_strdup(&c->arena, s) : NULL;
}

/* The size of a type that refers to no other. */
static uint64_t
size_of(ctf_dict_t *d, ctf_id_t id)
{
	ssize_t n = ctf_type_size(d, id);

	return n > 0 && (uint64_t)n <= SIZE_MOST ? (uint64_t)n : 0;
}

static struct type *
base_type(struct ctftypes *c, ctf_dict_t *d, ctf_id_t id, enum type_kind kind)
{
	const char *name = name_of(c, d, id);
	uint64_t size = size_of(d, id);
	ctf_encoding_t e = { 0 };

	if (ctf_type_encoding(d, id, &e) != 0 || size == 0)
		return t_void(c);
	if (kind == TYPE_FLOAT && e.cte_format >= CTF_FP_CPLX &&
	    e.cte_format <= CTF_FP_LDCPLX)
		return types_array(c->ts,
		    types_lookup(c->ts,
			size == 8      ? "float" :
			    size == 16 ? "double" :
					 "long double"),
		    2);
	bool is_signed =
	    kind == TYPE_FLOAT || (e.cte_format & CTF_INT_SIGNED) != 0;
	struct type *t = name != NULL ? types_lookup(c->ts, name) : NULL;
	if (t != NULL && t->kind == kind && t->size == size &&
	    t->is_signed == is_signed)
		return t;
	t = types_new(c->ts, kind);
	t->name = name;
	t->size = size;
	t->is_signed = is_signed;
	t->boolean = kind == TYPE_INT && (e.cte_format & CTF_INT_BOOL) != 0;
	return t;
}

/* A bit-field: the member has fewer bits than its type. */
static void
bit_member(ctf_dict_t *d, ctf_id_t id, uint64_t bits, struct type_member *m,
    struct types *ts)
{
	ctf_encoding_t e;

	if (!type_is_integer(m->type) || m->type->size == 0 ||
	    ctf_type_encoding(d, id, &e) != 0 || e.cte_bits == 0 ||
	    e.cte_bits > 64 ||
	    (e.cte_offset == 0 &&
		e.cte_bits == type_resolve(m->type)->size * 8))
		return;
	type_member_bits(ts, m, bits + e.cte_offset, e.cte_bits);
}

/* The whole integer type of which a bit-field's type is a part. */
static struct type *
unsliced(struct ctftypes *c, struct ctffile *f, ctf_dict_t *d, ctf_id_t id)
{
	int kind = ctf_type_kind(d, id);
	ctf_id_t base = kind == CTF_K_INTEGER || kind == CTF_K_ENUM ?
	    ctf_type_reference(d, id) :
	    CTF_ERR;

	return type_of(c, f, d, base != CTF_ERR ? base : id);
}

static void
define_members(struct pending *p, struct type *t)
{
	VEC(struct type_member) all = { 0 };
	ctf_next_t *it = NULL;
	const char *name;
	ctf_id_t id;
	ssize_t bits;

	while (
	    (bits = ctf_member_next(p->dict, p->id, &it, &name, &id, 0)) >= 0) {
		struct type_member m = {
			.name = name != NULL && name[0] != '\0' ?
			    arena_strdup(&p->c->arena, name) :
			    NULL,
			.type = unsliced(p->c, p->f, p->dict, id),
			.offset = (uint64_t)bits / 8,
		};
		bit_member(p->dict, id, (uint64_t)bits, &m, p->c->ts);
		if ((uint64_t)bits / 8 <= SIZE_MOST)
			*vec_push(&all) = m;
		if (all.len == MEMBERS_MOST) {
			ctf_next_destroy(it);
			break;
		}
	}
	t->members =
	    arena_alloc(&p->c->arena, (all.len + 1) * sizeof(*t->members));
	t->nmembers = all.len;
	for (size_t i = 0; i < all.len; i++)
		t->members[i] = all.at[i];
	vec_fini(&all);
}

static void
define_enum(struct pending *p, struct type *t)
{
	VEC(struct type_enumerator) all = { 0 };
	ctf_next_t *it = NULL;
	const char *name;
	bool negative = false;
	int value;

	while ((name = ctf_enum_next(p->dict, p->id, &it, &value)) != NULL) {
		*vec_push(&all) =
		    (struct type_enumerator){ arena_strdup(&p->c->arena, name),
			    value };
		negative |= value < 0;
		if (all.len == MEMBERS_MOST) {
			ctf_next_destroy(it);
			break;
		}
	}
	t->is_signed = negative || t->size == 4;
	t->enumerators =
	    arena_alloc(&p->c->arena, (all.len + 1) * sizeof(*t->enumerators));
	t->nenumerators = all.len;
	for (size_t i = 0; i < all.len; i++)
		t->enumerators[i] = all.at[i];
	vec_fini(&all);
}

static enum type_kind
tag_kind(int kind)
{
	return kind == CTF_K_UNION ? TYPE_UNION :
	    kind == CTF_K_ENUM     ? TYPE_ENUM :
				     TYPE_STRUCT;
}

/*
 * Find the definition of a type that one dictionary only declares. If files
 * define the type differently, the shared dictionary has only the declaration,
 * and it is not known which definition is meant: then there is none.
 */
static bool
definition(struct ctffile *f, enum type_kind kind, const char *name,
    ctf_dict_t **dict, ctf_id_t *id)
{
	char *full = mem_printf("%s %s",
	    kind == TYPE_UNION    ? "union" :
		kind == TYPE_ENUM ? "enum" :
				    "struct",
	    name);
	unsigned found = 0;

	vec_foreach(d, &f->dicts) {
		ctf_id_t at = ctf_lookup_by_name(*d, full);
		if (at == CTF_ERR || ctf_type_kind(*d, at) == CTF_K_FORWARD)
			continue;
		/* The lookup in a child also finds the types of its parent. */
		if (found > 0 && ctf_type_isparent(*d, at))
			continue;
		*dict = *d;
		*id = at;
		found++;
	}
	mem_free(full);
	return found == 1;
}

/* The hook of type_resolve(): read the definition of a forward type, if there
 * is one. */
static void
complete(struct type *t)
{
	struct pending *p = t->more;
	int kind = ctf_type_kind(p->dict, p->id);

	t->complete = NULL;
	if (kind == CTF_K_FORWARD) {
		if (t->name == NULL ||
		    !definition(p->f, t->forward_of, t->name, &p->dict, &p->id))
			return; /* a forward it stays */
		kind = ctf_type_kind(p->dict, p->id);
	}
	if (kind != CTF_K_STRUCT && kind != CTF_K_UNION && kind != CTF_K_ENUM)
		return;
	t->size = size_of(p->dict, p->id);
	t->kind = tag_kind(kind);
	if (t->kind == TYPE_ENUM)
		define_enum(p, t);
	else
		define_members(p, t);
}

static struct type *
tagged_type(
    struct ctftypes *c, struct ctffile *f, ctf_dict_t *d, ctf_id_t id, int kind)
{
	struct type *t = types_new(c->ts, TYPE_FORWARD);
	struct pending *p = arena_alloc(&c->arena, sizeof(*p));

	*p = (struct pending){ c, f, d, id };
	t->name = name_of(c, d, id);
	t->forward_of = tag_kind(
	    kind == CTF_K_FORWARD ? ctf_type_kind_forwarded(d, id) : kind);
	t->size = kind == CTF_K_FORWARD ? 0 : size_of(d, id);
	t->foreign = true;
	t->complete = complete;
	t->more = p;
	return t;
}

static struct type *
array_type(struct ctftypes *c, struct ctffile *f, ctf_dict_t *d, ctf_id_t id)
{
	ctf_arinfo_t a;

	if (ctf_array_info(d, id, &a) != 0)
		return t_void(c);
	struct type *of = type_of(c, f, d, a.ctr_contents);
	if (of->size == 0)
		type_resolve(of);
	uint64_t n = a.ctr_nelems;
	if (of->size != 0 && n > SIZE_MOST / of->size)
		n = 0;
	return types_array(c->ts, of, n);
}

static struct type *
func_type(struct ctftypes *c, struct ctffile *f, ctf_dict_t *d, ctf_id_t id)
{
	struct type *t = types_new(c->ts, TYPE_FUNC);
	ctf_funcinfo_t info;

	t->base = t_void(c);
	if (ctf_func_type_info(d, id, &info) != 0 ||
	    info.ctc_argc > MEMBERS_MOST)
		return t;
	ctf_id_t *args = mem_alloc((info.ctc_argc + 1) * sizeof(*args));
	t->base = type_of(c, f, d, info.ctc_return);
	t->varargs = (info.ctc_flags & CTF_FUNC_VARARG) != 0;
	if (ctf_func_type_args(d, id, info.ctc_argc, args) == 0) {
		t->nmembers = info.ctc_argc;
		t->members = arena_alloc(
		    &c->arena, (t->nmembers + 1) * sizeof(*t->members));
		for (size_t i = 0; i < t->nmembers; i++)
			t->members[i] = (struct type_member){
				.type = type_of(c, f, d, args[i])
			};
	}
	mem_free(args);
	return t;
}

/* A typedef or qualifier; see alias_type() in dwarf_types.c. */
static struct type *
alias_type(struct ctftypes *c, struct ctffile *f, ctf_dict_t *d, ctf_id_t id,
    enum type_kind kind)
{
	struct type *t = types_new(c->ts, kind);

	t->name = kind == TYPE_TYPEDEF ? name_of(c, d, id) : NULL;
	t->base = t_void(c);
	hash_set(types_in(c, d), (uint64_t)id, t);
	t->base = type_of(c, f, d, ctf_type_reference(d, id));
	t->size = t->base->size;
	return t;
}

static struct type *
make_type(struct ctftypes *c, struct ctffile *f, ctf_dict_t *d, ctf_id_t id)
{
	int kind = ctf_type_kind(d, id);

	switch (kind) {
	case CTF_K_INTEGER: return base_type(c, d, id, TYPE_INT);
	case CTF_K_FLOAT: return base_type(c, d, id, TYPE_FLOAT);
	case CTF_K_STRUCT:
	case CTF_K_UNION:
	case CTF_K_ENUM:
	case CTF_K_FORWARD: return tagged_type(c, f, d, id, kind);
	case CTF_K_POINTER:
		return types_pointer(
		    c->ts, type_of(c, f, d, ctf_type_reference(d, id)));
	case CTF_K_ARRAY: return array_type(c, f, d, id);
	case CTF_K_FUNCTION: return func_type(c, f, d, id);
	case CTF_K_TYPEDEF: return alias_type(c, f, d, id, TYPE_TYPEDEF);
	case CTF_K_CONST: return alias_type(c, f, d, id, TYPE_CONST);
	case CTF_K_VOLATILE: return alias_type(c, f, d, id, TYPE_VOLATILE);
	case CTF_K_RESTRICT: return alias_type(c, f, d, id, TYPE_RESTRICT);
	default: return t_void(c);
	}
}

static struct type *
type_of(struct ctftypes *c, struct ctffile *f, ctf_dict_t *d, ctf_id_t id)
{
	ctf_dict_t *parent = ctf_parent_dict(d);

	/* GCC 12 writes id 0 for types that CTF cannot express, such as
	 * vectors. They become void, which has no size. */
	if (id == CTF_ERR || id == 0 || c->depth >= DEPTH_MOST)
		return t_void(c);
	if (parent != NULL && ctf_type_isparent(d, id))
		d = parent;
	struct type *t = hash_get(types_in(c, d), (uint64_t)id);
	if (t != NULL)
		return t;
	c->depth++;
	t = make_type(c, f, d, id);
	c->depth--;
	hash_set(types_in(c, d), (uint64_t)id, t);
	return t;
}

/* ---- the door ---- */

/* The type of the symbol of this name; NULL: none. */
static struct type *
symbol_type(struct ctftypes *c, struct ctffile *f, const char *name)
{
	ctf_id_t id;

	if (name[0] == '\0')
		return NULL;
	vec_foreach(d, &f->dicts) {
		id = ctf_lookup_by_symbol_name(*d, name);
		if (id == CTF_ERR)
			id = ctf_lookup_variable(*d, name);
		if (id != CTF_ERR)
			return type_of(c, f, *d, id);
	}
	return NULL;
}

int
ctftypes_var(struct ctftypes *c, struct object *o, const char *name,
    uint64_t addr, struct dwarf_var *out)
{
	struct type *t = symbol_type(c, file_of(c, o), name);

	*out = (struct dwarf_var){ .type = t, .addr = addr };
	out->place = addr != UINT64_MAX ? DWARF_AT : DWARF_ELSEWHERE;
	return t != NULL ? 0 : -ENOENT;
}

int
ctftypes_proto(struct ctftypes *c, struct object *o, const char *name,
    struct dwarf_proto *out)
{
	struct type *t = symbol_type(c, file_of(c, o), name);

	if (t == NULL || t->kind != TYPE_FUNC)
		return -ENOENT;
	*out = (struct dwarf_proto){ .type = t, .calls = DWARF_CALLS_C };
	return 0;
}

int
ctftypes_type(
    struct ctftypes *c, struct object *o, const char *name, struct type **out)
{
	struct ctffile *f = file_of(c, o);

	if (name[0] == '\0')
		return -ENOENT;
	vec_foreach(d, &f->dicts) {
		ctf_id_t id = ctf_lookup_by_name(*d, name);
		if (id == CTF_ERR || ctf_type_kind(*d, id) == CTF_K_FORWARD)
			continue;
		*out = type_of(c, f, *d, id);
		return 0;
	}
	return -ENOENT;
}
