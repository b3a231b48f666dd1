/*
 * Checks a CTF dictionary before libctf reads it: every offset, every name and
 * every reference. libctf trusts the compiler that wrote the data, but the
 * files may come from anybody. <ctf.h> describes the layout.
 *
 * binutils 2.40 needs this file. It can be removed when every supported version
 * checks the data itself; t/fuzz/fuzz_section.c, built without it, shows that.
 *
 * Invariant: nothing is read beyond the given size, and a chain of references
 * is followed no further than there are types.
 */
#include <string.h>
#include <zlib.h>

#include "dlang/base/base.h"
#include "dlang/base/mem.h"
#include "dlang/base/vec.h"
#include "symbols/dwarf/ctf_impl.h"

/* The types of a program of 100 MB take 10 MB. */
#define BODY_MOST (256U << 20)
/* The longest chain of typedefs, qualifiers and arrays. */
#define CHAIN_MOST 64

/* The id of a type in a child dictionary has this bit. */
#define CHILD_BIT 0x80000000U

struct check {
	const uint8_t *body;
	ctf_header_t h;
	size_t strings; /* of the external table */
	bool child;
	uint32_t parent_types;
	/* For each type, from 1: the type whose size it has; 0: none. */
	VEC(uint32_t) of;
};

static uint32_t
word(const struct check *c, size_t at)
{
	uint32_t v;

	memcpy(&v, c->body + at, sizeof(v));
	return v;
}

/* ---- parts ---- */

static bool
good_name(const struct check *c, uint32_t name)
{
	return CTF_NAME_STID(name) == CTF_STRTAB_0 ?
	    CTF_NAME_OFFSET(name) < c->h.cth_strlen :
	    CTF_NAME_OFFSET(name) < c->strings;
}

/* Set when all types have been counted. */
static bool
good_type(const struct check *c, uint32_t id)
{
	if (c->child && (id & CHILD_BIT) == 0)
		return id <= c->parent_types;
	return (id & CHILD_BIT) == (c->child ? CHILD_BIT : 0) &&
	    (id & ~CHILD_BIT) <= c->of.len;
}

static bool
names_at(const struct check *c, size_t at, size_t n, size_t step)
{
	for (size_t i = 0; i < n; i++)
		if (!good_name(c, word(c, at + i * step)))
			return false;
	return true;
}

static bool
types_at(const struct check *c, size_t at, size_t n, size_t step)
{
	for (size_t i = 0; i < n; i++)
		if (!good_type(c, word(c, at + i * step)))
			return false;
	return true;
}

/* The sections follow each other, aligned to words, within the body. */
static bool
good_header(const struct check *c, size_t body)
{
	const ctf_header_t *h = &c->h;
	const uint32_t at[] = { h->cth_lbloff, h->cth_objtoff, h->cth_funcoff,
		h->cth_objtidxoff, h->cth_funcidxoff, h->cth_varoff,
		h->cth_typeoff, h->cth_stroff };

	for (size_t i = 0; i < ARRAY_SIZE(at); i++)
		if (at[i] > body || (i > 0 && at[i] < at[i - 1]) ||
		    (i + 1 < ARRAY_SIZE(at) && at[i] % 4 != 0))
			return false;
	return h->cth_strlen > 0 && h->cth_strlen <= body - h->cth_stroff &&
	    c->body[h->cth_stroff + h->cth_strlen - 1] == '\0' &&
	    good_name(c, h->cth_parname) && good_name(c, h->cth_parlabel) &&
	    good_name(c, h->cth_cuname);
}

/* The types of symbols, and an index of names of the same length or none. */
static bool
good_symbols(const struct check *c, uint32_t at, uint32_t end, uint32_t index,
    uint32_t to)
{
	size_t n = (end - at) / 4, nindex = (to - index) / 4;

	return (nindex == 0 || nindex == n) && (end - at) % 4 == 0 &&
	    types_at(c, at, n, 4) && names_at(c, index, nindex, 4);
}

static bool
good_sections(const struct check *c)
{
	const ctf_header_t *h = &c->h;
	size_t nvars = (h->cth_typeoff - h->cth_varoff) / sizeof(ctf_varent_t);
	size_t nlabels =
	    (h->cth_objtoff - h->cth_lbloff) / sizeof(ctf_lblent_t);

	return (h->cth_typeoff - h->cth_varoff) % sizeof(ctf_varent_t) == 0 &&
	    (h->cth_objtoff - h->cth_lbloff) % sizeof(ctf_lblent_t) == 0 &&
	    names_at(c, h->cth_varoff, nvars, sizeof(ctf_varent_t)) &&
	    types_at(c, h->cth_varoff + 4, nvars, sizeof(ctf_varent_t)) &&
	    names_at(c, h->cth_lbloff, nlabels, sizeof(ctf_lblent_t)) &&
	    types_at(c, h->cth_lbloff + 4, nlabels, sizeof(ctf_lblent_t)) &&
	    good_symbols(c, h->cth_objtoff, h->cth_funcoff, h->cth_objtidxoff,
		h->cth_funcidxoff) &&
	    good_symbols(c, h->cth_funcoff, h->cth_objtidxoff,
		h->cth_funcidxoff, h->cth_varoff);
}

/* ---- types ---- */

/* One type: where the data behind its head begins, and its size. */
struct item {
	size_t at, rest, end;
	uint32_t name, kind, vlen, ref; /* ref: type, or size */
	uint64_t size;
};

static bool
read_item(const struct check *c, size_t at, struct item *i)
{
	uint32_t end = c->h.cth_stroff;
	size_t rest;

	if (end - at < sizeof(ctf_stype_t))
		return false;
	uint32_t info = word(c, at + 4);
	*i = (struct item){ .at = at,
		.rest = at + sizeof(ctf_stype_t),
		.name = word(c, at),
		.kind = CTF_V2_INFO_KIND(info),
		.vlen = CTF_V2_INFO_VLEN(info),
		.ref = word(c, at + 8) };
	i->size = i->ref;
	if (i->ref == CTF_LSIZE_SENT) {
		if (end - at < sizeof(ctf_type_t))
			return false;
		i->rest = at + sizeof(ctf_type_t);
		i->size = (uint64_t)word(c, at + 12) << 32 | word(c, at + 16);
	}
	switch (i->kind) {
	case CTF_K_INTEGER:
	case CTF_K_FLOAT: rest = 4; break;
	case CTF_K_ARRAY: rest = sizeof(ctf_array_t); break;
	case CTF_K_SLICE: rest = sizeof(ctf_slice_t); break;
	case CTF_K_FUNCTION:
		rest = 4 * (size_t)(i->vlen + (i->vlen & 1));
		break;
	case CTF_K_STRUCT:
	case CTF_K_UNION:
		rest = i->vlen *
		    (i->size < CTF_LSTRUCT_THRESH ? sizeof(ctf_member_t) :
						    sizeof(ctf_lmember_t));
		break;
	case CTF_K_ENUM: rest = i->vlen * sizeof(ctf_enum_t); break;
	case CTF_K_UNKNOWN:
	case CTF_K_FORWARD:
	case CTF_K_POINTER:
	case CTF_K_TYPEDEF:
	case CTF_K_VOLATILE:
	case CTF_K_CONST:
	case CTF_K_RESTRICT: rest = 0; break;
	default: return false;
	}
	i->end = i->rest + rest;
	return i->end <= end && good_name(c, i->name);
}

static bool
count_types(struct check *c)
{
	struct item i;

	for (size_t at = c->h.cth_typeoff; at < c->h.cth_stroff; at = i.end) {
		if (!read_item(c, at, &i))
			return false;
		uint32_t of = 0;
		if (i.kind == CTF_K_ARRAY || i.kind == CTF_K_SLICE)
			of = word(c, i.rest);
		else if (i.kind == CTF_K_TYPEDEF || i.kind == CTF_K_CONST ||
		    i.kind == CTF_K_VOLATILE || i.kind == CTF_K_RESTRICT)
			of = i.ref;
		*vec_push(&c->of) = of;
	}
	return c->of.len < CHILD_BIT;
}

static bool
good_item(const struct check *c, const struct item *i)
{
	size_t step = i->size < CTF_LSTRUCT_THRESH ? sizeof(ctf_member_t) :
						     sizeof(ctf_lmember_t);

	switch (i->kind) {
	case CTF_K_ARRAY: return types_at(c, i->rest, 2, 4);
	case CTF_K_SLICE: return types_at(c, i->rest, 1, 4);
	case CTF_K_FUNCTION:
		return good_type(c, i->ref) && types_at(c, i->rest, i->vlen, 4);
	case CTF_K_STRUCT:
	case CTF_K_UNION: /* name, offset, type */
		return names_at(c, i->rest, i->vlen, step) &&
		    types_at(c, i->rest + 8, i->vlen, step);
	case CTF_K_ENUM:
		return names_at(c, i->rest, i->vlen, sizeof(ctf_enum_t));
	case CTF_K_FORWARD: /* which kind it is a forward of */
		return i->ref == CTF_K_UNKNOWN || i->ref == CTF_K_STRUCT ||
		    i->ref == CTF_K_UNION || i->ref == CTF_K_ENUM;
	case CTF_K_POINTER:
	case CTF_K_TYPEDEF:
	case CTF_K_VOLATILE:
	case CTF_K_CONST:
	case CTF_K_RESTRICT: return good_type(c, i->ref);
	default: return true;
	}
}

/* Does the chain of the types that give this type its size end?  It may lead to
 * types that come later and are not checked yet. */
static bool
ends(const struct check *c, uint32_t nth)
{
	for (int i = 0; i < CHAIN_MOST; i++) {
		if (nth > c->of.len)
			return false;
		uint32_t id = c->of.at[nth - 1];

		/* The type of a parent was checked with the parent. */
		if (id == 0 || (c->child && (id & CHILD_BIT) == 0))
			return true;
		nth = id & ~CHILD_BIT;
		if (nth == 0)
			return true;
	}
	return false;
}

static bool
good_types(const struct check *c)
{
	struct item i;
	size_t at = c->h.cth_typeoff;

	for (uint32_t n = 1; n <= c->of.len; n++, at = i.end)
		if (!read_item(c, at, &i) || !good_item(c, &i) || !ends(c, n))
			return false;
	return true;
}

/* ---- a dictionary ---- */

static bool
read_header(const uint8_t *bytes, size_t size, ctf_header_t *h)
{
	if (size < sizeof(*h))
		return false;
	memcpy(h, bytes, sizeof(*h));
	return h->cth_magic == CTF_MAGIC && h->cth_version == CTF_VERSION_3 &&
	    (h->cth_flags & ~CTF_F_MAX) == 0;
}

bool
ctfcheck_is_child(const uint8_t *bytes, size_t size)
{
	ctf_header_t h;

	return read_header(bytes, size, &h) && h.cth_parname != 0;
}

/* Copy the header and the body; the body is decompressed. */
static bool
copy_dict(
    const uint8_t *bytes, size_t size, ctf_header_t *h, struct ctfbytes *out)
{
	uint64_t body = (uint64_t)h->cth_stroff + h->cth_strlen;
	uLongf got = (uLongf)body;

	if (body > BODY_MOST)
		return false;
	size -= sizeof(*h);
	if ((h->cth_flags & CTF_F_COMPRESS) == 0 && size < body)
		return false;
	out->size = sizeof(*h) + body;
	out->bytes = mem_alloc(out->size);
	if ((h->cth_flags & CTF_F_COMPRESS) == 0)
		memcpy(out->bytes + sizeof(*h), bytes + sizeof(*h), body);
	else if (uncompress(out->bytes + sizeof(*h), &got, bytes + sizeof(*h),
		     size) != Z_OK ||
	    got != body)
		return false;
	h->cth_flags &= (unsigned char)~CTF_F_COMPRESS;
	memcpy(out->bytes, h, sizeof(*h));
	return true;
}

bool
ctfcheck_dict(const uint8_t *bytes, size_t size, size_t strings,
    uint32_t parent_types, struct ctfbytes *out)
{
	struct check c = { .strings = strings, .parent_types = parent_types };

	*out = (struct ctfbytes){ 0 };
	if (!read_header(bytes, size, &c.h))
		return false;
	bool good = copy_dict(bytes, size, &c.h, out);
	if (good) {
		c.body = out->bytes + sizeof(c.h);
		c.child = c.h.cth_parname != 0;
		good = good_header(&c, out->size - sizeof(c.h)) &&
		    count_types(&c) && good_types(&c) && good_sections(&c);
		out->ntypes = (uint32_t)c.of.len;
	}
	vec_fini(&c.of);
	if (!good) {
		mem_free(out->bytes);
		*out = (struct ctfbytes){ 0 };
	}
	return good;
}

/* ---- an archive ---- */

bool
ctfcheck_member(const uint8_t *bytes, size_t size, size_t n,
    const uint8_t **dict, size_t *dict_size)
{
	struct ctf_archive a;
	ctf_archive_modent_t m;
	uint64_t at, len;

	*dict = bytes;
	*dict_size = size;
	if (size < sizeof(a))
		return n == 0;
	memcpy(&a, bytes, sizeof(a));
	if (a.ctfa_magic != CTFA_MAGIC)
		return n == 0;
	if (n >= a.ctfa_ndicts || n >= (size - sizeof(a)) / sizeof(m))
		return false;
	memcpy(&m, bytes + sizeof(a) + n * sizeof(m), sizeof(m));
	*dict_size = 0;
	if (a.ctfa_ctfs > size || m.ctf_offset > size - a.ctfa_ctfs)
		return true; /* of no use, but others may follow */
	at = a.ctfa_ctfs + m.ctf_offset;
	if (size - at < sizeof(len))
		return true;
	memcpy(&len, bytes + at, sizeof(len));
	at += sizeof(len);
	*dict = bytes + at;
	*dict_size = MIN(len, size - at);
	return true;
}
