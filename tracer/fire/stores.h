/*
 * The memory of the two regions of a run: the image, which only the tracer can
 * write, and the store.  Both are memfds (unless a limit forbids it), so that a
 * target could map them.  The image is sealed against new writable mappings as
 * soon as the tracer has mapped it.
 */
#ifndef TRACER_FIRE_STORES_H
#define TRACER_FIRE_STORES_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/vm/store.h"

struct state;

/* Only stores.c writes this. */
struct stores {
	int image_fd, store_fd; /* -1: there is none */
	struct region image_mem, store_mem;
	struct store_sizes sizes; /* of store_mem */
};

/* Those of a run, which has none yet. */
void stores_init(struct state *st);

/* Create the image region, empty.  0 or -errno. */
int stores_create_image(struct state *st);

/* Do the options leave room for at least one of each kind of object that the
 * image needs? */
bool stores_fit(struct state *st);

/* Create the store, with sizes from the options and the published image.  Sizes
 * that do not fit are lowered, with a message.  end_room bytes are reserved for
 * the records of END.  0 or -errno; -EMSGSIZE: an option leaves no room for a
 * single entry. */
int stores_create_store(struct state *st, uint64_t end_room);

/* After -EMSGSIZE: text for diag_hint(): which option needs how much.  The
 * caller frees it.  NULL: none does. */
char *stores_hint(struct state *st);
/* A size as the value of an option, rounded up: "560", "64k". */
void stores_size_text(uint64_t size, char text[32]);

void stores_destroy(struct state *st);

#endif
