/*
 * The shared object of a provider, as bytes.
 */
#ifndef SDT_IMAGE_H
#define SDT_IMAGE_H

#include <stddef.h>

#include "sdt/bytes.h"
#include "sdt/probes.h"

/* Addresses are offsets in the file and, when it is loaded, from its base. */
struct image {
	struct bytes bytes;
	size_t text;       /* of the first probe's function */
	size_t semaphores; /* of the first probe's semaphore */
};

/* The distances from one probe's to the next one's. */
#define IMAGE_SEMAPHORE 2
size_t image_code_bytes(void);

/* 0; -ENOMEM; -ENOSYS if no probe can be made for this machine. */
int image_make(const struct probes *probes, struct image *out);
void image_fini(struct image *image);

#endif
