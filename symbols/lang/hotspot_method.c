/*
 * A Java method's name, file and lines.
 *
 *	Method -> ConstMethod -> ConstantPool -> class -> its name
 *	          | bytecodes |  | names ...   |
 *	          | lines     |
 *
 * Each method is read once.  Its class may be unloaded and the memory reused
 * for another method, so the pointers that lead to the names are compared at
 * every use.
 */
#include <string.h>

#include "dlang/base/mem.h"
#include "symbols/lang/hotspot_impl.h"

/* The number of methods that are cached; then the cache is emptied. */
#ifdef DTRAP_SHRINK
#define METHODS_MOST 2
#else
#define METHODS_MOST 16384
#endif

/* JVM_ACC_NATIVE of the class file format. */
#define ACC_NATIVE 0x100

struct line {
	uint32_t bci, line;
};

struct hs_method {
	/* The pointers from which it was read: if these are equal, it is the
	 * same method. */
	struct identity {
		uint64_t cm, pool, holder, name, klass;
		uint32_t code_size, flags;
	} id;
	uint64_t code; /* its bytecodes */
	bool native;
	char *function, *file;
	VEC(struct line) lines;
};

static void
method_free(struct hs_method *m)
{
	vec_fini(&m->lines);
	mem_free(m->function);
	mem_free(m->file);
	mem_free(m);
}

void
hs_methods_fini(struct hs_methods *ms)
{
	hash_foreach(e, &ms->by_addr)
		method_free(e->value);
	hash_fini(&ms->by_addr);
}

uint32_t
hs_unsigned5(struct hotspot *hs, struct lang_walk *w, uint64_t *at)
{
	/* Since 20 the byte 0 is not used (unsigned5.hpp of the JDK); before,
	 * all bytes were (compressedStream.cpp). */
	const uint32_t out = hs->l.version >= 20;
	uint32_t sum = 0;

	for (unsigned shift = 0; shift <= 24; shift += 6) {
		uint8_t byte = lang_u8(w, (*at)++);

		sum += (byte - out) << shift;
		if (byte < 192)
			break;
	}
	return sum;
}

/* The symbol in slot i of the pool; 0 if there is none. */
static uint64_t
pool_symbol(struct hotspot *hs, struct lang_walk *w, uint64_t pool, uint64_t i)
{
	if (i == 0 || i >= hs_get(w, pool, &hs->l.pool_length))
		return 0;
	return lang_u64(w, pool + hs->l.pool_size.at + i * 8);
}

/* The text of a symbol; "" if it is not one. */
static char *
symbol_text(struct hotspot *hs, struct lang_walk *w, uint64_t symbol, char *buf,
    size_t size)
{
	const struct hs_layout *l = &hs->l;
	uint64_t len = l->symbol_length.size != 0 ?
	    hs_get(w, symbol, &l->symbol_length) :
	    hs_get(w, symbol, &l->symbol_length_ref) >> 16;

	buf[0] = '\0';
	if (symbol == 0 || len > UINT16_MAX)
		return buf;
	return lang_text(w, symbol + l->symbol_body.at, len, buf, size);
}

/* The name of a class as Java writes it: dots instead of slashes; and for a
 * hidden class a slash before its address, where the symbol has a plus sign
 * (InstanceKlass::external_name() of the JDK). */
static void
class_text(char *s)
{
	char *plus = strrchr(s, '+');

	for (char *p = s; *p != '\0'; p++)
		if (*p == '/')
			*p = '.';
	if (plus != NULL && plus[1] == '0' && plus[2] == 'x')
		*plus = '/';
}

static bool
identity_read(
    struct hotspot *hs, struct lang_walk *w, uint64_t addr, struct identity *id)
{
	const struct hs_layout *l = &hs->l;

	*id = (struct identity){ 0 };
	if (addr == 0 || (addr & 7) != 0)
		return false;
	id->cm = hs_get(w, addr, &l->method_const);
	id->pool = id->cm != 0 ? hs_get(w, id->cm, &l->cm_constants) : 0;
	if (id->pool == 0)
		return false;
	id->name = pool_symbol(hs, w, id->pool, hs_get(w, id->cm, &l->cm_name));
	id->holder = hs_get(w, id->pool, &l->pool_holder);
	id->klass = id->holder != 0 ? hs_get(w, id->holder, &l->klass_name) : 0;
	id->code_size = (uint32_t)hs_get(w, id->cm, &l->cm_code_size);
	id->flags = (uint32_t)hs_get(w, id->cm, &l->cm_flags);
	return id->name != 0 && id->klass != 0;
}

static int32_t
signed5(struct hotspot *hs, struct lang_walk *w, uint64_t *at)
{
	uint32_t v = hs_unsigned5(hs, w, at);

	return (int32_t)((v >> 1) ^ (0 - (v & 1)));
}

/*
 * The line table follows the bytecodes.  Each entry has differences to the
 * entry before: a byte with 5 bits of bci and 3 bits of line, or 0xff and two
 * signed numbers.  0 ends the table (CompressedLineNumberWriteStream of the
 * JDK).
 */
static void
lines_read(struct hotspot *hs, struct lang_walk *w, struct hs_method *m)
{
	uint64_t at = m->code + m->id.code_size;
	uint32_t bci = 0, line = 0;
	uint8_t byte;

	/* A bytecode usually has at most one entry; some have two. */
	for (uint32_t n = 0; n < 2 * m->id.code_size; n++) {
		if (!lang_read(w, at++, &byte, 1) || byte == 0)
			return;
		if (byte == 0xff) {
			bci += (uint32_t)signed5(hs, w, &at);
			line += (uint32_t)signed5(hs, w, &at);
		} else {
			bci += byte >> 3;
			line += byte & 7;
		}
		if (bci > UINT16_MAX || line > UINT16_MAX)
			return;
		*vec_push(&m->lines) = (struct line){ bci, line };
	}
}

static char *
file_of(struct hotspot *hs, struct lang_walk *w, const struct identity *id)
{
	const struct hs_layout *l = &hs->l;
	uint64_t i = l->pool_file.size != 0 ?
	    hs_get(w, id->pool, &l->pool_file) :
	    hs_get(w, id->holder, &l->klass_file);
	char buf[LANG_NAME_BYTES + 1];

	symbol_text(hs, w, pool_symbol(hs, w, id->pool, i), buf, sizeof(buf));
	return mem_strdup(buf);
}

static struct hs_method *
method_read(struct hotspot *hs, struct lang_walk *w, uint64_t addr,
    const struct identity *id)
{
	const struct hs_layout *l = &hs->l;
	const struct hs_field access = {
		l->method_access.at + l->access_flags.at, l->access_flags.size
	};
	char klass[LANG_NAME_BYTES + 1], name[LANG_NAME_BYTES + 1];
	struct hs_method *m;

	symbol_text(hs, w, id->klass, klass, sizeof(klass));
	symbol_text(hs, w, id->name, name, sizeof(name));
	if (klass[0] == '\0' || name[0] == '\0')
		return NULL;
	class_text(klass);
	m = mem_zalloc(sizeof(*m));
	m->id = *id;
	m->code = id->cm + l->cm_size.at;
	m->native = (hs_get(w, addr, &access) & ACC_NATIVE) != 0;
	m->function = mem_printf("%s.%s", klass, name);
	m->file = file_of(hs, w, id);
	if ((id->flags & l->has_lines.at) != 0)
		lines_read(hs, w, m);
	return m;
}

static void
forget(struct hs_methods *ms)
{
	hs_methods_fini(ms);
	*ms = (struct hs_methods){ 0 };
}

struct hs_method *
hs_method_at(struct hotspot *hs, struct lang_walk *w, uint64_t addr)
{
	struct hs_method *m = hash_get(&hs->methods.by_addr, addr);
	struct identity id;

	if (!identity_read(hs, w, addr, &id))
		return NULL;
	if (m != NULL && memcmp(&m->id, &id, sizeof(id)) == 0)
		return m;
	if (hs->methods.by_addr.count >= METHODS_MOST)
		forget(&hs->methods);
	m = method_read(hs, w, addr, &id);
	if (m == NULL)
		return NULL;
	struct hs_method *old = hash_set(&hs->methods.by_addr, addr, m);
	if (old != NULL)
		method_free(old);
	return m;
}

int
hs_method_bci(const struct hs_method *m, uint64_t bcp)
{
	return bcp - m->code < m->id.code_size ? (int)(bcp - m->code) : -1;
}

/* The line of the entry for this bytecode, or else of the last entry before it;
 * the first one of equal entries.  As Method::line_number_from_bci() of the
 * JDK. */
static int
line_of(const struct hs_method *m, int bci)
{
	const struct line *best = NULL;
	uint32_t at = bci < 0 ? 0 : (uint32_t)bci;

	if (bci == HS_NO_BCI)
		return 0;
	vec_foreach(l, &m->lines) {
		if (l->bci == at)
			return (int)l->line;
		if (l->bci < at && (best == NULL || l->bci >= best->bci))
			best = l;
	}
	return best != NULL ? (int)best->line : 0;
}

void
hs_method_push(struct lang_walk *w, const struct hs_method *m, int bci)
{
	if (m->native)
		lang_push(w, m->function, "Native Method", 0, false);
	else if (m->file[0] == '\0')
		lang_push(w, m->function, "Unknown Source", 0, false);
	else
		lang_push(w, m->function, m->file, line_of(m, bci), false);
}
