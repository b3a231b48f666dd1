/*
 * The two regions of a run: the image, which only the tracer can write, and
 * the store.  Both are memfds (where files of memory are not limited), so that a
 * target can map them later: the image is sealed against any new writable
 * mapping as soon as the tracer has its own.
 */
#ifndef TRACER_FIRE_STORES_H
#define TRACER_FIRE_STORES_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/vm/region.h"

struct state;

/* Only stores.c writes this. */
struct stores {
	int image_fd, store_fd; /* -1: there is none */
	struct region image_mem, store_mem;
};

/* Those of a run, which has none yet. */
void stores_init(struct state *st);

/* The image region, empty.  0 or -errno. */
int stores_create_image(struct state *st);

/* Has every kind of thing that the published image needs room for one? */
bool stores_fit(struct state *st);

/* The store, sized by the options and the published image; lowers sizes that
 * do not fit and says so.  end_room bytes are kept for the records of END.  0 or
 * -errno; -EMSGSIZE: the option of a size does not
 * leave room for a single entry. */
int stores_create_store(struct state *st, uint64_t end_room);

/* After that: which option needs how much, as words for diag_hint(); to be freed.
 * NULL: none does. */
char *stores_hint(struct state *st);
/* A size as one would give it to an option, not less: "560", "64k". */
void stores_size_text(uint64_t size, char text[32]);

void stores_destroy(struct state *st);

#endif
