/*
 * Converts entries of debug information to types; see dwarf.h.
 *
 * Invariant: an entry becomes one type, however often it is converted, so that
 * a comparison of types ends at the first pointer. Damaged debug information
 * may refer to itself: the depth is limited, and a type below that depth is
 * void.
 */
#include <string.h>

#include <dwarf.h>

#include "dlang/base/hash.h"
#include "dlang/base/mem.h"
#include "dlang/base/vec.h"
#include "symbols/dwarf/entries.h"

/* More than the nesting of pointers and arrays in any known program. */
#define DEPTH_MOST 64
/* A struct with more members is damaged debug information. */
#define MEMBERS_MOST 65536
/* The largest object. No larger one can be recorded, and products of sizes up
 * to it do not overflow. */
#define SIZE_MOST (1ULL << 31)

struct dwtypes {
	struct types *ts;
	struct hash by_die; /* address of the entry -> struct type */
	VEC(struct object *) held;
	struct arena arena;
	unsigned depth;
};

/* A struct, union or enum whose definition was not read yet. */
struct pending {
	struct dwtypes *dw;
	struct object *o;
	Dwarf_Die die;
};

struct dwtypes *
dwtypes_create(struct types *ts)
{
	struct dwtypes *dw = mem_zalloc(sizeof(*dw));

	dw->ts = ts;
	arena_init(&dw->arena);
	return dw;
}

void
dwtypes_destroy(struct dwtypes *dw)
{
	if (dw == NULL)
		return;
	vec_foreach(o, &dw->held)
		object_put(*o);
	vec_fini(&dw->held);
	hash_fini(&dw->by_die);
	arena_fini(&dw->arena);
	mem_free(dw);
}

static void
hold(struct dwtypes *dw, struct object *o)
{
	vec_foreach(h, &dw->held)
		if (*h == o)
			return;
	*vec_push(&dw->held) = object_get(o);
}

/* ---- attributes ---- */

static bool
number(Dwarf_Die *die, unsigned name, uint64_t *out)
{
	Dwarf_Attribute attr;
	Dwarf_Word v;

	if (dwarf_attr_integrate(die, name, &attr) == NULL ||
	    dwarf_formudata(&attr, &v) != 0)
		return false;
	*out = v;
	return true;
}

static uint64_t
byte_size(Dwarf_Die *die)
{
	uint64_t size = 0;

	return number(die, DW_AT_byte_size, &size) && size <= SIZE_MOST ? size :
									  0;
}

/* Copy the name into the table's memory, because the file may be closed before
 * a record is printed. */
static const char *
name_of(struct dwtypes *dw, Dwarf_Die *die)
{
	const char *s = dwarf_diename(die);

	return s != NULL && s[0] != '\0' ? arena_strdup(&dw->arena, s) : NULL;
}

static bool
referred(Dwarf_Die *die, unsigned name, Dwarf_Die *out)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) != NULL &&
	    dwarf_formref_die(&attr, out) != NULL;
}

void *
dwtypes_alloc(struct dwtypes *dw, size_t size)
{
	return arena_alloc(&dw->arena, size);
}

struct type *
dwtype_named_by(struct dwtypes *dw, struct object *o, Dwarf_Die *die)
{
	Dwarf_Die to;

	if (!referred(die, DW_AT_type, &to))
		return types_lookup(dw->ts, "void");
	return dwtype_of(dw, o, &to);
}

/* ---- base types ---- */

/* A complex number is two numbers, one after the other (C11 6.2.5p13). */
static struct type *
complex_type(struct dwtypes *dw, uint64_t size)
{
	const char *half = size == 8 ? "float" :
	    size == 16               ? "double" :
				       "long double";

	struct type *t = types_array(dw->ts, types_lookup(dw->ts, half), 2);

	t->complex = true;
	return t;
}

static struct type *
base_type(struct dwtypes *dw, Dwarf_Die *die)
{
	const char *name = name_of(dw, die);
	uint64_t size = byte_size(die), encoding = 0;
	enum type_kind kind = TYPE_INT;
	bool is_signed = false;

	number(die, DW_AT_encoding, &encoding);
	switch (encoding) {
	case DW_ATE_complex_float: return complex_type(dw, size);
	case DW_ATE_signed:
	case DW_ATE_signed_char: is_signed = true; break;
	case DW_ATE_float:
	case DW_ATE_imaginary_float:
		kind = TYPE_FLOAT;
		is_signed = true;
		break;
	default: break;
	}
	struct type *t = name != NULL ? types_lookup(dw->ts, name) : NULL;
	if (t != NULL && t->kind == kind && t->size == size &&
	    t->is_signed == is_signed)
		return t;
	t = types_new(dw->ts, kind);
	t->name = name;
	t->size = size;
	t->is_signed = is_signed;
	t->boolean = encoding == DW_ATE_boolean;
	return t;
}

/* ---- structs, unions, enums ---- */

/* The offset of a member in bits; false if it has none, or one that is computed
 * at run time. */
static bool
member_bits(Dwarf_Die *die, uint64_t *bits)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	uint64_t n = 0;
	size_t len;

	*bits = 0;
	if (number(die, DW_AT_data_bit_offset, bits))
		return *bits <= SIZE_MOST * 8;
	if (dwarf_attr(die, DW_AT_data_member_location, &attr) == NULL)
		return true; /* of a union, or first */
	if (!number(die, DW_AT_data_member_location, &n)) {
		if (dwarf_getlocation(&attr, &ops, &len) != 0 || len != 1 ||
		    ops[0].atom != DW_OP_plus_uconst)
			return false;
		n = ops[0].number;
	}
	*bits = n * 8;
	return n <= SIZE_MOST;
}

/* Place a bit-field in a storage unit as wide as its type. */
static void
bit_member(struct dwtypes *dw, Dwarf_Die *die, uint64_t bits, uint64_t width,
    struct type_member *m)
{
	const struct type *t = type_resolve(m->type);
	uint64_t high, storage = t->size * 8;
	Dwarf_Attribute attr;

	/* DWARF 2 counts from the most significant bit of the storage unit. */
	if (dwarf_attr(die, DW_AT_data_bit_offset, &attr) == NULL &&
	    number(die, DW_AT_bit_offset, &high)) {
		if (number(die, DW_AT_byte_size, &storage))
			storage *= 8;
		bits += storage - high - width;
	}
	type_member_bits(dw->ts, m, bits, width);
}

static bool
member_of(
    struct dwtypes *dw, struct object *o, Dwarf_Die *die, struct type_member *m)
{
	uint64_t bits = 0, width = 0;
	int tag = dwarf_tag(die);

	/* A base class is like a member without a name. Static members are not
	 * in the object. */
	if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
	    dwarf_flag(die, DW_AT_external) ||
	    dwarf_flag(die, DW_AT_declaration) || !member_bits(die, &bits))
		return false;
	*m = (struct type_member){
		.name = tag == DW_TAG_member ? name_of(dw, die) : NULL,
		.type = dwtype_named_by(dw, o, die),
		.offset = bits / 8,
	};
	if (!number(die, DW_AT_bit_size, &width) || width == 0)
		return true;
	if (!type_is_integer(m->type) || m->type->size == 0 || width > 64)
		return false;
	bit_member(dw, die, bits, width, m);
	return true;
}

static void
define_members(
    struct dwtypes *dw, struct object *o, Dwarf_Die *die, struct type *t)
{
	VEC(struct type_member) members = { 0 };
	struct type_member m;
	Dwarf_Die child;

	if (dwarf_child(die, &child) == 0) {
		do {
			if (member_of(dw, o, &child, &m))
				*vec_push(&members) = m;
		} while (members.len < MEMBERS_MOST &&
		    dwarf_siblingof(&child, &child) == 0);
	}
	t->members =
	    arena_alloc(&dw->arena, (members.len + 1) * sizeof(*t->members));
	t->nmembers = members.len;
	for (size_t i = 0; i < members.len; i++)
		t->members[i] = members.at[i];
	vec_fini(&members);
}

static void
define_enum(struct dwtypes *dw, Dwarf_Die *die, struct type *t)
{
	VEC(struct type_enumerator) all = { 0 };
	bool negative = false;
	Dwarf_Die child;

	if (dwarf_child(die, &child) == 0) {
		do {
			Dwarf_Attribute attr;
			Dwarf_Sword v;
			if (dwarf_tag(&child) != DW_TAG_enumerator ||
			    dwarf_attr(&child, DW_AT_const_value, &attr) ==
				NULL ||
			    dwarf_formsdata(&attr, &v) != 0)
				continue;
			const char *name = name_of(dw, &child);
			if (name == NULL)
				continue;
			negative |= v < 0;
			*vec_push(&all) =
			    (struct type_enumerator){ name, (int64_t)v };
		} while (all.len < MEMBERS_MOST &&
		    dwarf_siblingof(&child, &child) == 0);
	}
	t->is_signed = negative || t->size == 4;
	t->enumerators =
	    arena_alloc(&dw->arena, (all.len + 1) * sizeof(*t->enumerators));
	t->nenumerators = all.len;
	for (size_t i = 0; i < all.len; i++)
		t->enumerators[i] = all.at[i];
	vec_fini(&all);
}

static enum type_kind
tag_kind(int tag)
{
	return tag == DW_TAG_union_type    ? TYPE_UNION :
	    tag == DW_TAG_enumeration_type ? TYPE_ENUM :
					     TYPE_STRUCT;
}

/* The hook of type_resolve(): read the definition of a forward type. */
static void
complete(struct type *t)
{
	struct pending *p = t->more;
	Dwarf_Die die = p->die, full;
	struct dwtypes *dw = p->dw;

	t->complete = NULL;
	if (dwarf_flag(&die, DW_AT_declaration)) {
		if (t->name == NULL ||
		    !dwarf_definition(p->o, dwarf_tag(&die), t->name, &full))
			return; /* a forward it stays */
		die = full;
	}
	t->size = byte_size(&die);
	t->kind = tag_kind(dwarf_tag(&die));
	if (t->kind == TYPE_ENUM) {
		define_enum(dw, &die, t);
		return;
	}
	define_members(dw, p->o, &die, t);
	t->indirect = dwarf_is_indirect(&die);
}

static struct type *
tagged_type(struct dwtypes *dw, struct object *o, Dwarf_Die *die)
{
	Dwarf_Die full;

	/* The entry may only refer to a type unit. */
	if (referred(die, DW_AT_signature, &full) && full.addr != die->addr)
		return dwtype_of(dw, o, &full);
	struct type *t = types_new(dw->ts, TYPE_FORWARD);
	struct pending *p = arena_alloc(&dw->arena, sizeof(*p));

	*p = (struct pending){ .dw = dw, .o = o, .die = *die };
	t->name = name_of(dw, die);
	t->forward_of = tag_kind(dwarf_tag(die));
	t->size = byte_size(die);
	t->foreign = true;
	t->complete = complete;
	t->more = p;
	return t;
}

/* ---- derived types ---- */

static uint64_t
dimension(Dwarf_Die *range)
{
	uint64_t n = 0;

	if (number(range, DW_AT_count, &n))
		return n;
	/* The number of elements: unknown without an upper bound (`[]'), or if
	 * the bound is computed at run time (`[n]'). The bound of `[0]' may be
	 * -1. */
	if (!number(range, DW_AT_upper_bound, &n) || n >= SIZE_MOST)
		return 0;
	return n + 1;
}

static struct type *
array_type(struct dwtypes *dw, struct object *o, Dwarf_Die *die)
{
	struct type *t = dwtype_named_by(dw, o, die);
	uint64_t dims[DEPTH_MOST];
	unsigned n = 0;
	Dwarf_Die child;

	if (dwarf_child(die, &child) == 0) {
		do {
			if (dwarf_tag(&child) == DW_TAG_subrange_type)
				dims[n++] = dimension(&child);
		} while (
		    n < DEPTH_MOST && dwarf_siblingof(&child, &child) == 0);
	}
	/* The size of a forward type is known when it has been resolved. */
	if (t->size == 0)
		type_resolve(t);
	while (n-- > 0) {
		if (t->size != 0 && dims[n] > SIZE_MOST / t->size)
			dims[n] = 0;
		t = types_array(dw->ts, t, dims[n]);
	}
	t->vector |= dwarf_flag(die, DW_AT_GNU_vector) && t->kind == TYPE_ARRAY;
	return t;
}

/* Itanium C++ ABI 2.3: a pointer to a member is an offset; a pointer to a
 * member function is a pointer and an adjustment. */
static struct type *
member_pointer(struct dwtypes *dw, Dwarf_Die *die)
{
	struct type *t = types_lookup(dw->ts, "unsigned long");
	Dwarf_Die to;

	return referred(die, DW_AT_type, &to) &&
		dwarf_tag(&to) == DW_TAG_subroutine_type ?
	    types_array(dw->ts, t, 2) :
	    t;
}

/* ---- functions ---- */

/* Go's compiler may list a parameter twice. */
static bool
is_told(const Dwarf_Die *all, size_t n, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die), *other;

	for (size_t i = 0; name != NULL && i < n; i++) {
		Dwarf_Die of = all[i];
		other = dwarf_diename(&of);
		if (other != NULL && strcmp(name, other) == 0)
			return true;
	}
	return false;
}

static bool
is_result(Dwarf_Die *param)
{
	Dwarf_Attribute attr;
	bool set = false;

	return dwarf_attr_integrate(param, DW_AT_variable_parameter, &attr) !=
	    NULL &&
	    dwarf_formflag(&attr, &set) == 0 && set;
}

size_t
dwarf_params(Dwarf_Die *fn, bool results, Dwarf_Die **out)
{
	VEC(Dwarf_Die) list = { 0 };
	bool go = dwarf_is_go(fn);
	Dwarf_Die child;

	if (dwarf_child(fn, &child) == 0) {
		do {
			if (dwarf_tag(&child) == DW_TAG_formal_parameter &&
			    results == (go && is_result(&child)) &&
			    !(go && is_told(list.at, list.len, &child)))
				*vec_push(&list) = child;
		} while (list.len < MEMBERS_MOST &&
		    dwarf_siblingof(&child, &child) == 0);
	}
	*out = list.at;
	return list.len;
}

struct type_member *
dwtype_params(struct dwtypes *dw, struct object *o, Dwarf_Die *dies, size_t n)
{
	struct type_member *m = arena_alloc(&dw->arena, (n + 1) * sizeof(*m));

	for (size_t i = 0; i < n; i++)
		m[i] = (struct type_member){
			.name = name_of(dw, &dies[i]),
			.type = dwtype_named_by(dw, o, &dies[i]),
		};
	return m;
}

static bool
has_varargs(Dwarf_Die *fn)
{
	Dwarf_Die child;

	if (dwarf_child(fn, &child) != 0)
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_unspecified_parameters)
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

struct type *
dwtype_func(struct dwtypes *dw, struct object *o, Dwarf_Die *die)
{
	struct type *t = types_new(dw->ts, TYPE_FUNC);
	Dwarf_Die *dies;

	t->base = dwtype_named_by(dw, o, die);
	t->nmembers = dwarf_params(die, false, &dies);
	t->members = dwtype_params(dw, o, dies, t->nmembers);
	mem_free(dies);
	t->varargs = has_varargs(die);
	/* The entries of Go's results are among the parameters. */
	if (dwarf_params(die, true, &dies) == 1)
		t->base = dwtype_named_by(dw, o, &dies[0]);
	mem_free(dies);
	return t;
}

/* The value of a Go function is its address. */
static struct type *
subroutine_type(struct dwtypes *dw, struct object *o, Dwarf_Die *die)
{
	struct type *t = dwtype_func(dw, o, die);

	return dwarf_is_go(die) ? types_pointer(dw->ts, t) : t;
}

/* A typedef or a qualifier. It is entered in the table before its target is
 * read, because the target may refer to it. */
static struct type *
alias_type(struct dwtypes *dw, struct object *o, Dwarf_Die *die, int tag)
{
	struct type *t = types_new(dw->ts,
	    tag == DW_TAG_typedef           ? TYPE_TYPEDEF :
		tag == DW_TAG_const_type    ? TYPE_CONST :
		tag == DW_TAG_restrict_type ? TYPE_RESTRICT :
					      TYPE_VOLATILE);

	t->name = tag == DW_TAG_typedef ? name_of(dw, die) : NULL;
	t->base = types_lookup(dw->ts, "void");
	hash_set(&dw->by_die, (uintptr_t)die->addr, t);
	t->base = dwtype_named_by(dw, o, die);
	t->size = t->base->size;
	return t;
}

static struct type *
make_type(struct dwtypes *dw, struct object *o, Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	switch (tag) {
	case DW_TAG_base_type: return base_type(dw, die);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type: return tagged_type(dw, o, die);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return types_pointer(dw->ts, dwtype_named_by(dw, o, die));
	case DW_TAG_unspecified_type: /* nullptr_t */
		return types_pointer(dw->ts, types_lookup(dw->ts, "void"));
	case DW_TAG_ptr_to_member_type: return member_pointer(dw, die);
	case DW_TAG_array_type: return array_type(dw, o, die);
	case DW_TAG_subroutine_type: return subroutine_type(dw, o, die);
	case DW_TAG_typedef:
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type: return alias_type(dw, o, die, tag);
	case DW_TAG_atomic_type: return alias_type(dw, o, die, tag);
	default: return types_lookup(dw->ts, "void");
	}
}

struct type *
dwtype_of(struct dwtypes *dw, struct object *o, Dwarf_Die *die)
{
	struct type *t = hash_get(&dw->by_die, (uintptr_t)die->addr);

	if (t != NULL)
		return t;
	if (dw->depth >= DEPTH_MOST)
		return types_lookup(dw->ts, "void");
	hold(dw, o);
	dw->depth++;
	t = make_type(dw, o, die);
	dw->depth--;
	hash_set(&dw->by_die, (uintptr_t)die->addr, t);
	return t;
}
