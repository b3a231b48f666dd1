/*
 * Lay verified programs into the image region, and probes, sites and ECBs
 * beside them, as they come.  Offsets only.  The host half of the image; what
 * the VM reads is in dif.h.
 */
#ifndef DLANG_IMAGE_H
#define DLANG_IMAGE_H

#include "dlang/options.h"
#include "dlang/prog.h"
#include "dlang/vm/region.h"

struct image;

/* The region is zeroed memory of any size up to 4 GiB (sparse is fine); it is
 * borrowed and outlives the image. */
struct image *image_create(struct region r);
void image_destroy(struct image *im);

/*
 * After all programs are compiled: variables, aggregations, clauses.  Computes
 * every size in img_hdr.  Call once.  -ENOSPC when the region is full.
 */
int image_publish(
    struct image *im, const struct prog_globals *g, const struct options *opts);

/* Each returns a reference, or 0 when the region is full. */
uint32_t image_add_probe(struct image *im, uint32_t id, const char *prov,
    const char *mod, const char *func, const char *name, uint32_t flags);
uint32_t image_add_args(struct image *im, const struct argloc *args,
    uint32_t nargs); /* equal tables are stored once */
/* The site is appended to tracepoint tp_id's list; tp_id 0: to none. */
uint32_t image_add_site(struct image *im, uint32_t probe_ref, uint32_t tp_id,
    uint32_t args_ref, uint32_t nargs);
void image_remove_site(struct image *im, uint32_t site_ref, uint32_t tp_id);
/* Clause number (global_index) on a probe, after the ECBs it already has;
 * flags are IMG_ECB_*.  Returns the EPID, or 0. */
uint32_t image_add_ecb(struct image *im, uint32_t probe_ref,
    unsigned clause_index, uint32_t flags);
void image_probe_off(struct image *im, uint32_t probe_ref);

const struct img_hdr *image_hdr(const struct image *im);

#endif
