/*
 * Names of frames of languages; see langname.h.
 *
 * Invariant: a word, once given out, means the same until langname_reset().
 */
#include "symbols/langname.h"

#include <stdio.h>
#include <string.h>

#include "dlang/base/arena.h"
#include "dlang/base/hash.h"
#include "dlang/base/vec.h"

/* Names that differ, and bytes of text, of one run.  A large Java program has
 * some ten thousand methods, a name for each line that is seen in them. */
#define NAMES_MOST (1u << 20)
#define BYTES_MOST (128u << 20)

static struct {
	struct arena arena;
	struct hash by_text; /* the key of a name -> its index + 1 */
	VEC(const struct lang_name *) list;
	size_t bytes;
} names;

/* Append a text, cut and on one line: newlines part the members of a key. */
static size_t
key_text(char *key, size_t at, const char *text, size_t most)
{
	size_t n = strnlen(text, most);

	for (size_t i = 0; i < n; i++)
		key[at++] = text[i] == '\n' ? '?' : text[i];
	key[at++] = '\n';
	return at;
}

static size_t
key_of(const struct lang_name *n, char *key, size_t size)
{
	size_t at = key_text(key, 0, n->function,
	    n->native ? LANG_NATIVE_BYTES : LANG_NAME_BYTES);

	at = key_text(key, at, n->file != NULL ? n->file : "", LANG_NAME_BYTES);
	return at +
	    (size_t)snprintf(key + at, size - at, "%d %d", n->line,
		(n->note ? 1 : 0) + (n->native ? 2 : 0));
}

/* A name, and its key as the table has it, whose texts are parts of the key. */
static const struct lang_name *
name_keep(const struct lang_name *n, char *key)
{
	struct lang_name *own = arena_alloc(&names.arena, sizeof(*own));
	size_t func = strcspn(key, "\n"), file = strcspn(key + func + 1, "\n");

	*own = *n;
	own->function = arena_strndup(&names.arena, key, func);
	if (n->file != NULL)
		own->file = arena_strndup(&names.arena, key + func + 1, file);
	return own;
}

uint64_t
langname_word(const struct lang_name *n)
{
	char key[LANG_NATIVE_BYTES + LANG_NAME_BYTES + 32];
	uintptr_t index;
	size_t len;

	if (n->function[0] == '\0')
		return 0;
	len = key_of(n, key, sizeof(key));
	index = (uintptr_t)hash_get_str(&names.by_text, key);
	if (index == 0) {
		if (names.list.len >= NAMES_MOST || names.bytes > BYTES_MOST)
			return 0;
		char *own = arena_strndup(&names.arena, key, len);
		*vec_push(&names.list) = name_keep(n, own);
		names.bytes += 2 * len + sizeof(*n);
		index = names.list.len;
		hash_set_str(&names.by_text, own, (void *)index);
	}
	return LANG_FRAME | index;
}

const struct lang_name *
langname_of(uint64_t word)
{
	uint64_t index = word & ~LANG_FRAME;

	if (!(word & LANG_FRAME) || index == 0 || index > names.list.len)
		return NULL;
	return names.list.at[index - 1];
}

void
langname_reset(void)
{
	hash_fini(&names.by_text);
	vec_fini(&names.list);
	arena_fini(&names.arena);
	names.bytes = 0;
}
