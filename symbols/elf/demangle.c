/*
 * Names as their authors wrote them, by libiberty: C++ (Itanium), Rust (both
 * manglings) and D.
 *
 * Its work is bounded here, as it is not there:
 *	Rust	text is taken piece by piece, and no more than there is room for;
 *		of names that are not ASCII the references are counted instead
 *	C++	as Rust; but the search for a parameter pack (d_find_pack) walks
 *		the type once for each way to each part of it before any text is
 *		written: so these ways are counted first
 *	D	text comes as a whole: references are counted
 */
#include "symbols/demangle.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>
#undef ARRAY_SIZE /* libiberty.h's */

#include "dlang/base/base.h"
#include "dlang/base/mem.h"

/* libiberty itself refuses a C++ name that has more than 2048 parts, counted as
 * two for each byte (DEMANGLE_RECURSION_LIMIT). */
#define CXX_LONGEST 1024
/* Rust and D: longer than any name that a compiler writes. */
#define NAME_LONGEST 32768
/* The most ways through the type of a C++ name: some milliseconds. */
#define WAYS_MOST 100000
/* The most bytes of the text of a name whose references are counted. */
#define TEXT_LONGEST (2 << 20)

/* ---- memory ---- */

/* libiberty uses these in place of its own functions, which exit when there is
 * no memory: the breakpoints would stay in the targets. */
void *
xmalloc(size_t size)
{
	return mem_alloc(size);
}

void *
xrealloc(void *p, size_t size)
{
	return mem_realloc(p, size);
}

/* ---- text ---- */

struct text {
	char *buf;
	size_t size, len;
	bool whole; /* the rest has to be heard, too */
	jmp_buf full;
};

/* libiberty's callback. It cannot tell libiberty to stop, so it leaves by
 * longjmp() when there is enough text. libiberty has allocated no memory at
 * that time, except what the comment at demangled_rust() describes. */
static void
put(const char *s, size_t n, void *arg)
{
	struct text *t = arg;
	size_t room = t->size - 1 - t->len;

	if (n == 0)
		return; /* s may be NULL */
	memcpy(t->buf + t->len, s, MIN(n, room));
	t->len += MIN(n, room);
	t->buf[t->len] = '\0';
	if (n >= room && !t->whole)
		longjmp(t->full, 1);
}

typedef int by(const char *name, int options, demangle_callbackref, void *);

/* Is it a name of this kind?  If so, its text is in buf. */
static bool
demangled(
    by *fn, const char *name, int options, bool whole, char *buf, size_t size)
{
	struct text t = { .buf = buf, .size = size, .whole = whole };

	if (setjmp(t.full) != 0)
		return true;
	/* The text of a Rust name may be empty: then the mangled name is
	 * shown. */
	return fn(name, options | DMGL_ANSI | DMGL_AUTO, put, &t) != 0 &&
	    t.len > 0;
}

/* ---- references ---- */

/* Is the length of the text limited, whatever the references that begin with
 * `ref' repeat?  The text is longest if each group of three references repeats
 * everything before it three times. */
static bool
is_bounded(const char *name, char ref)
{
	uint64_t most = strlen(name);
	unsigned refs = 0;

	for (const char *p = name; *p != '\0'; p++)
		if (*p == ref && ++refs % 3 == 0 && (most *= 3) > TEXT_LONGEST)
			return false;
	return true;
}

/* ---- Rust ---- */

/* Does the name have an identifier that is not ASCII ("u3abc")? */
static bool
is_beyond_ascii(const char *name)
{
	for (const char *u = strchr(name, 'u'); u != NULL;
	     u = strchr(u + 1, 'u'))
		if (u[1] >= '0' && u[1] <= '9')
			return true;
	return false;
}

/* libiberty writes such an identifier from memory that it frees afterwards. */
static bool
demangled_rust(
    const char *name, enum demangle_form form, char *buf, size_t size)
{
	bool whole = is_beyond_ascii(name);
	int options = form == DEMANGLE_FULL ? DMGL_VERBOSE : 0;

	return (!whole || is_bounded(name, 'B')) &&
	    demangled(rust_demangle_callback, name, options, whole, buf, size);
}

/* ---- C++ ---- */

/*
 * The parts of a name, in one array. The other members of a part (a string, a
 * number) depend on its type, and new versions add types. So a pointer counts
 * as a part only if it points into the array.
 */
struct parts {
	const struct demangle_component *at;
	size_t n;
	uint32_t *ways; /* ways from each part down; 0: not counted yet */
};

/* Does the part contain no others?  Its memory may still contain pointers of an
 * earlier name. */
static bool
is_leaf(enum demangle_component_type type)
{
	switch ((int)type) {
	case DEMANGLE_COMPONENT_NAME:
	case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
	case DEMANGLE_COMPONENT_FUNCTION_PARAM:
	case DEMANGLE_COMPONENT_CTOR:
	case DEMANGLE_COMPONENT_DTOR:
	case DEMANGLE_COMPONENT_SUB_STD:
	case DEMANGLE_COMPONENT_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_FIXED_TYPE:
	case DEMANGLE_COMPONENT_OPERATOR:
	case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
	case DEMANGLE_COMPONENT_CHARACTER:
	case DEMANGLE_COMPONENT_NUMBER:
	case DEMANGLE_COMPONENT_LAMBDA:
	case DEMANGLE_COMPONENT_DEFAULT_ARG:
	case DEMANGLE_COMPONENT_UNNAMED_TYPE: return true;
	default: return false;
	}
}

static uint32_t
ways(const struct parts *ps, const void *part)
{
	uintptr_t off = (uintptr_t)part - (uintptr_t)ps->at;
	size_t i = off / sizeof(*ps->at);

	if (i >= ps->n || off % sizeof(*ps->at) != 0)
		return 0;
	if (ps->ways[i] != 0)
		return ps->ways[i];
	ps->ways[i] = 1; /* also if a part leads back to itself */
	if (!is_leaf(ps->at[i].type)) {
		uint32_t n = 1 + ways(ps, ps->at[i].u.s_binary.left) +
		    ways(ps, ps->at[i].u.s_binary.right);
		ps->ways[i] = MIN(n, WAYS_MOST);
	}
	return ps->ways[i];
}

/* Does the C++ name at `name' take too much work?  No, if it is no C++ name. */
static bool
is_too_much(const char *name)
{
	struct parts ps = { .n = 2 * strlen(name) };
	void *mem = NULL;

	if (ps.n > 2 * CXX_LONGEST)
		return true;
	struct demangle_component *top =
	    cplus_demangle_v3_components(name, DMGL_PARAMS | DMGL_ANSI, &mem);
	if (top == NULL)
		return false;
	ps.at = mem;
	ps.ways = mem_zalloc(ps.n * sizeof(*ps.ways));
	uint32_t n = ways(&ps, top);
	mem_free(ps.ways);
	free(mem);
	return n >= WAYS_MOST;
}

static bool
demangled_cxx(const char *name, enum demangle_form form, char *buf, size_t size)
{
	/* Another name follows _GLOBAL__I_ and similar prefixes. */
	const char *inner = strstr(name, "_Z");
	int options = form == DEMANGLE_BARE ? 0 :
	    form == DEMANGLE_FULL           ? DMGL_PARAMS | DMGL_RET_DROP :
					      DMGL_PARAMS;

	return (inner == NULL || !is_too_much(inner)) &&
	    demangled(
		cplus_demangle_v3_callback, name, options, false, buf, size);
}

/* ---- D ---- */

/* The length of a name without its parameters, that is, without the last
 * outermost parentheses and what follows them. */
static size_t
before_parameters(const char *text)
{
	size_t at = strlen(text);
	int depth = 0;

	for (size_t i = 0; text[i] != '\0'; i++) {
		if (text[i] == '(' && depth++ == 0)
			at = i;
		if (text[i] == ')')
			depth--;
	}
	/* The arguments of a template belong to the name: foo!(int) */
	return at > 0 && text[at - 1] != '!' ? at : strlen(text);
}

static bool
demangled_d(const char *name, enum demangle_form form, char *buf, size_t size)
{
	if (!is_bounded(name, 'Q'))
		return false;
	char *text = dlang_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_DLANG);
	if (text != NULL && form == DEMANGLE_BARE)
		text[before_parameters(text)] = '\0';
	if (text != NULL)
		snprintf(buf, size, "%s", text);
	free(text);
	return text != NULL;
}

/* Mangled names have these prefixes. All others are C names, and the demanglers
 * need not be called. */
bool
demangle_as(const char *name, enum demangle_form form, char *buf, size_t size)
{
	if (name[0] != '_' || strnlen(name, NAME_LONGEST) == NAME_LONGEST)
		return false;
	if (strncmp(name, "_D", 2) == 0)
		return demangled_d(name, form, buf, size);
	if (strncmp(name, "_Z", 2) != 0 && strncmp(name, "__Z", 3) != 0 &&
	    strncmp(name, "_R", 2) != 0 && strncmp(name, "_GLOBAL_", 8) != 0)
		return false;
	/* Rust's demangler first: one of Rust's two manglings is also valid
	 * C++. */
	return demangled_rust(name, form, buf, size) ||
	    demangled_cxx(name, form, buf, size);
}

const char *
demangle_variant(const char *name)
{
	/* For most names the prefix shows that. */
	if (strncmp(name, "_Z", 2) != 0 || strlen(name) > CXX_LONGEST ||
	    (strstr(name, "C2") == NULL && strstr(name, "D0") == NULL &&
		strstr(name, "D2") == NULL))
		return NULL;
	if (is_gnu_v3_mangled_ctor(name) == gnu_v3_base_object_ctor ||
	    is_gnu_v3_mangled_dtor(name) == gnu_v3_base_object_dtor)
		return "base";
	return is_gnu_v3_mangled_dtor(name) == gnu_v3_deleting_dtor ?
	    "deleting" :
	    NULL;
}

char *
demangle(const char *name, char *buf, size_t size)
{
	if (!demangle_as(name, DEMANGLE_TEXT, buf, size))
		snprintf(buf, size, "%s", name);
	return buf;
}
