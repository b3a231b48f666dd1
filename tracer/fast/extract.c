/*
 * The copy of the image in a target.  The image has the probes of all processes, also
 * of those that have ended; a process gets what its own tracepoints lead to.  All is
 * at the same place in the copy as in the image, and the rest of the copy is a hole.
 *
 *	+------+-------+-------+----------+- - - - - - - - - - - - - -
 *	| hdr  | words | words | programs | probes, sites, ECBs, text
 *	+------+-------+-------+----------+- - - - - - - - - - - - - -
 *	  all    own     own     all        own
 */
#include <string.h>

#include "inject/tracepoint.h"
#include "tracer/base/state.h"
#include "tracer/fast/fast_impl.h"
#include "tracer/ptrace/proc.h"

static void
copy(struct fast_space *f, const struct img_hdr *im, uint32_t ref, size_t size)
{
	memcpy(f->image.base + ref, (const uint8_t *)im + ref, size);
}

static void
copy_text(struct fast_space *f, const struct img_hdr *im, uint32_t ref)
{
	copy(f, im, ref, strlen((const char *)im + ref) + 1);
}

static void
copy_probe(struct fast_space *f, const struct img_hdr *im, uint32_t ref)
{
	const struct img_probe *p = (const void *)((const uint8_t *)im + ref);

	copy(f, im, ref, sizeof(*p));
	copy_text(f, im, p->prov_ref);
	copy_text(f, im, p->mod_ref);
	copy_text(f, im, p->func_ref);
	copy_text(f, im, p->name_ref);
	for (uint32_t at = p->ecb_ref; at != 0;) {
		const struct img_ecb *e =
		    (const void *)((const uint8_t *)im + at);
		copy(f, im, at, sizeof(*e));
		copy(f, im, im->ecbs_ref + 4 * e->epid, 4);
		at = e->next_ref;
	}
}

/* The word of a tracepoint, and all that it leads to. */
static void
copy_sites(struct fast_space *f, const struct img_hdr *im, uint32_t tp_id)
{
	const uint32_t *word = (const void *)((const uint8_t *)im +
	    im->tps_ref + 4 * (size_t)tp_id);

	copy(f, im, im->tps_ref + 4 * tp_id, 4);
	for (uint32_t at = *word; at != 0;) {
		const struct img_site *s =
		    (const void *)((const uint8_t *)im + at);
		copy(f, im, at, sizeof(*s));
		copy(f, im, s->args_ref, s->nargs * sizeof(struct argloc));
		copy_probe(f, im, s->probe_ref);
		at = s->next_ref;
	}
}

/* Tracepoints that have gone lead nowhere. */
static void
forget_sites(struct fast_space *f, const struct img_hdr *im)
{
	vec_foreach(id, &f->copied)
		memset(f->image.base + im->tps_ref + 4 * *id, 0, 4);
	vec_clear(&f->copied);
}

void
extract_renew(
    const struct state *st, const struct space *sp, struct fast_space *f)
{
	const struct img_hdr *im = (const void *)st->fast->image.base;
	const uint32_t behind = im->ecbs_ref + 4 * im->ecbs_max;
	struct tracepoint *tp = NULL;

	if (f->changes == im->changes)
		return;
	f->changes = im->changes;
	copy(f, im, 0, im->tps_ref);
	copy(f, im, behind, im->programs_end - behind);
	if (im->error_probe_ref != 0)
		copy_probe(f, im, im->error_probe_ref);
	forget_sites(f, im);
	while (sp->tab != NULL && (tp = tracepoint_next(sp->tab, tp)) != NULL) {
		if (tp->id >= im->tps_max)
			continue;
		copy_sites(f, im, tp->id);
		*vec_push(&f->copied) = tp->id;
	}
}
