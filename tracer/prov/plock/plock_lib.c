/*
 * The C library of a process: which object it is, and its lock functions.
 */
#include <string.h>

#include "symbols/addrspace.h"
#include "tracer/prov/plock/plock_impl.h"

static const struct plock_lib glibc = { .mutex_word = 0 };
static const struct plock_lib musl = { .mutex_word = 4, .cond_calls = true };

/* The default version of the symbol: the one that a newly linked program
 * gets. */
const struct sym *
plock_function(struct object *o, const char *name)
{
	const struct sym *syms;
	size_t n = object_funcs(o, &syms);

	for (size_t i = 0; i < n; i++)
		if (strcmp(syms[i].name, name) == 0 && !syms[i].old_version &&
		    syms[i].kind == SYM_FUNC && object_is_text(o, syms[i].addr))
			return &syms[i];
	return NULL;
}

static bool
has_locks(const struct load *l)
{
	return l->seen && !l->writable_text && !l->is_vdso &&
	    plock_function(l->object, "pthread_mutex_lock") != NULL &&
	    plock_function(l->object, "pthread_mutex_unlock") != NULL;
}

/* Before glibc 2.34 the functions are in libpthread, and libc has functions of
 * the same names that only call them. A library that interposes its own
 * functions calls these in the end. */
const struct load *
plock_library(const struct addrspace *as)
{
	struct load *const *loads;
	const struct load *found = NULL;
	size_t n = addrspace_loads(as, &loads);

	for (size_t i = 0; i < n; i++) {
		const struct load *l = loads[i];
		bool thread = strncmp(l->module, "libpthread", 10) == 0;
		bool libc = strncmp(l->module, "libc.", 5) == 0 ||
		    strncmp(l->module, "libc-", 5) == 0 ||
		    strncmp(l->module, "ld-musl", 7) == 0;
		if ((!thread && !libc && !l->is_exec) || !has_locks(l))
			continue;
		if (thread)
			return l;
		if (found == NULL || libc)
			found = l;
	}
	return found;
}

static bool
is_glibc(struct object *o)
{
	static const char *const own[] = { "gnu_get_libc_version",
		"__lll_lock_wait", "__lll_lock_wait_private" };

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (object_sym(o, own[i]) != NULL)
			return true;
	return false;
}

struct plock_space *
plock_space_create(const struct addrspace *as, const struct reader *text)
{
	const struct load *l = plock_library(as);

	if (l == NULL)
		return NULL;
	struct plock_space *ps = mem_zalloc(sizeof(*ps));
	ps->refs = 1;
	ps->load = l;
	ps->code = plock_code_create(text, l);
	ps->musl = !is_glibc(l->object);
	ps->lib = ps->musl ? &musl : &glibc;
	ps->funcs = mem_zalloc(plock_nrows * sizeof(ps->funcs[0]));
	for (size_t i = 0; i < plock_nrows; i++) {
		const struct sym *s =
		    plock_function(l->object, plock_rows[i].func);
		if (s == NULL)
			continue;
		ps->funcs[i].start = l->bias + s->addr;
		plock_code_body(
		    ps->code, ps->funcs[i].start, &ps->funcs[i].body);
	}
	ps->unwinds = plock_code_unwinds(ps->code, ps->funcs[0].start);
	return ps;
}

void
plock_space_put(struct plock_space *ps)
{
	if (ps == NULL || --ps->refs > 0)
		return;
	for (size_t i = 0; i < plock_nrows; i++)
		vec_fini(&ps->funcs[i].body);
	hash_foreach(e, &ps->marks)
		mem_free(e->value);
	hash_fini(&ps->marks);
	plock_code_destroy(ps->code);
	mem_free(ps->funcs);
	mem_free(ps);
}

bool
plock_covers(const struct plock_func *f, uint64_t pc)
{
	vec_foreach(fn, &f->body)
		if (pc >= (*fn)->start && pc < (*fn)->end)
			return true;
	return false;
}

bool
plock_find(const struct plock_space *ps, uint32_t verbs, const uint64_t *pcs,
    size_t n, struct plock_found *out)
{
	bool any = false;

	for (size_t i = 0; i + 1 < n; i++) {
		uint64_t pc = pcs[i] - (i > 0);
		if (pc < ps->load->start || pc >= ps->load->end)
			break;
		for (size_t row = 0; row < plock_nrows; row++)
			if ((verbs & PLOCK_BIT(plock_rows[row].verb)) != 0 &&
			    plock_covers(&ps->funcs[row], pc)) {
				*out = (struct plock_found){ row, i + 1 };
				any = true;
				break;
			}
	}
	return any;
}
