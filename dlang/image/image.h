/*
 * Writes the image: the region with verified programs, probes, sites and ECBs,
 * which the VM reads.  tracer/program/ adds programs once, and probes, sites
 * and ECBs as they appear.  The region contains offsets only, no pointers.
 * dif.h has its layout.
 */
#ifndef DLANG_IMAGE_H
#define DLANG_IMAGE_H

#include "dlang/options.h"
#include "dlang/prog.h"
#include "dlang/vm/region.h"

struct image;

/* Can only the tracer carry out the clause's actions (IMG_CLAUSE_OUTSIDE)?  It
 * alone has a buffer that is kept to the end (bufpolicy fill and ring).  It alone
 * makes room when a buffer is full, so with fastpath=auto it records: nothing is
 * lost because the program has become faster. */
bool image_is_outside(const struct prog_clause *c, const struct options *opts);

/* The region is zeroed memory of any size up to 4 GiB (it may be sparse).  It
 * is borrowed and must outlive the image. */
struct image *image_create(struct region r);
void image_destroy(struct image *im);

/*
 * Write variables, aggregations and clauses of all programs, and compute every
 * size in img_hdr.  Call once, after all programs are compiled.  0, or -ENOSPC
 * if the region is full.
 */
int image_publish(
    struct image *im, const struct prog_globals *g, const struct options *opts);

/* Each returns a reference, or 0 when the region is full. */
uint32_t image_add_probe(struct image *im, uint32_t id, const char *prov,
    const char *mod, const char *func, const char *name, uint32_t flags);
uint32_t image_add_args(struct image *im, const struct argloc *args,
    uint32_t nargs); /* equal tables are stored once */
/* Add a site of a probe, and append it to the list of tracepoint tp_id; 0: to
 * no list. */
uint32_t image_add_site(struct image *im, uint32_t probe_ref, uint32_t tp_id,
    uint32_t args_ref, uint32_t nargs);
void image_remove_site(struct image *im, uint32_t site_ref, uint32_t tp_id);
/* Enable a clause (its global_index) on a probe, behind the ECBs that the probe
 * has; flags are IMG_ECB_*. Returns the EPID, or 0 if the region is full. */
uint32_t image_add_ecb(struct image *im, uint32_t probe_ref,
    unsigned clause_index, uint32_t flags);
void image_probe_off(struct image *im, uint32_t probe_ref);

const struct img_hdr *image_hdr(const struct image *im);

#endif
