/*
 * The two regions of a run: the image, which only the tracer can write, and
 * the store.  Both are memfds (where files of memory are not limited), so that a
 * target can map them later: the image is sealed against any new writable
 * mapping as soon as the tracer has its own.
 */
#ifndef TRACER_STORES_H
#define TRACER_STORES_H

#include <stdbool.h>

struct state;

/* The image region, empty.  0 or -errno. */
int stores_create_image(struct state *st);

/* Has every kind of thing that the published image needs room for one? */
bool stores_fit(struct state *st);

/* The store, sized by the options and the published image; lowers sizes that
 * do not fit and says so.  0 or -errno; -EMSGSIZE: the option of a size does not
 * leave room for a single entry. */
int stores_create_store(struct state *st);

void stores_destroy(struct state *st);

#endif
