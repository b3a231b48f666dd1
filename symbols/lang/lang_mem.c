/*
 * Services for languages during a walk: a memory cache, and a list for the
 * frames that they find; see lang_impl.h.
 */
#include <string.h>

#include "dlang/base/base.h"
#include "symbols/lang/lang_impl.h"

static struct lang_line *
line_at(struct lang_walk *w, uint64_t addr)
{
	uint64_t at = addr & ~(uint64_t)(LANG_LINE - 1);
	/* Objects in heaps often have the same low address bits.  With these as
	 * index, or with one line for each index, they would evict each other:
	 * the address is hashed. */
	uint64_t spread = at / LANG_LINE * 0x9e3779b97f4a7c15ULL >> 32;
	struct lang_line *set =
	    &w->lines[spread % (LANG_LINES / LANG_WAYS) * LANG_WAYS];
	struct lang_line *l = set;

	for (size_t i = 0; i < LANG_WAYS; i++) {
		if (set[i].addr == at) {
			set[i].used = ++w->reads;
			return &set[i];
		}
		if (set[i].used < l->used)
			l = &set[i];
	}
	/* A line is a part of a page, so either all of it can be read or
	 * nothing. */
	l->addr = UINT64_MAX;
	if (reader_read(w->mem, at, l->bytes, sizeof(l->bytes)) != 0)
		return NULL;
	l->addr = at;
	l->used = ++w->reads;
	return l;
}

bool
lang_read(struct lang_walk *w, uint64_t addr, void *buf, size_t len)
{
	uint8_t *to = buf;

	for (size_t done = 0; done < len;) {
		uint64_t at = addr + done;
		size_t off = at % LANG_LINE,
		       n = MIN(len - done, LANG_LINE - off);
		const struct lang_line *l = line_at(w, at);

		if (l == NULL) {
			memset(buf, 0, len);
			return false;
		}
		memcpy(to + done, l->bytes + off, n);
		done += n;
	}
	return true;
}

/* Read the lowest bytes of a word.  The target has the byte order of dtrap
 * (x86-64). */
static uint64_t
word(struct lang_walk *w, uint64_t addr, size_t size)
{
	uint64_t v = 0;

	lang_read(w, addr, &v, size);
	return v;
}

uint64_t
lang_u64(struct lang_walk *w, uint64_t addr)
{
	return word(w, addr, 8);
}

uint32_t
lang_u32(struct lang_walk *w, uint64_t addr)
{
	return (uint32_t)word(w, addr, 4);
}

uint16_t
lang_u16(struct lang_walk *w, uint64_t addr)
{
	return (uint16_t)word(w, addr, 2);
}

uint8_t
lang_u8(struct lang_walk *w, uint64_t addr)
{
	return (uint8_t)word(w, addr, 1);
}

char *
lang_text(
    struct lang_walk *w, uint64_t addr, uint64_t len, char *buf, size_t size)
{
	size_t n = MIN(len, size - 1);

	if (!lang_read(w, addr, buf, n))
		n = 0;
	buf[n] = '\0';
	return buf;
}

uint64_t
lang_sym(const struct load *l, const char *name)
{
	const struct sym *s = object_sym(l->object, name);

	return s != NULL && s->kind != SYM_TLS ? l->bias + s->addr : 0;
}

void
lang_push(struct lang_walk *w, const char *function, const char *file, int line,
    bool note)
{
	const struct lang_name name = {
		.function = function, .file = file, .line = line, .note = note
	};
	uint64_t word = langname_word(&name);

	if (word != 0)
		*vec_push(&w->pushed) = word;
	else
		w->lost += function[0] != '\0';
}
