/*
 * Fire a probe.  For each of its ECBs: evaluate the predicate, reserve the
 * record, run the actions, commit. tracer/fire/ and inject/agent/ call it.
 */
#ifndef DLANG_VM_ECB_H
#define DLANG_VM_ECB_H

#include "dlang/vm/vm.h"

/* All sites of a tracepoint, in the order they were added. */
void ecb_fire_tracepoint(struct vm_env *env, uint32_t tp_id);

/* One site: when only some of a tracepoint's sites apply (a conditional
 * jump's return probe). */
void ecb_fire_site(struct vm_env *env, uint32_t site_ref);

/* The actions of one ECB of the site's probe, whose predicate was true within a
 * firing in the target that waits for them (struct vm_ops, rest).  Nothing
 * happens if the probe has no such ECB, or it may not fire. */
void ecb_fire_rest(struct vm_env *env, uint32_t site_ref, uint32_t ecb_ref);

/* A probe that has no site (BEGIN, END, tick, a process event): arg0 .. arg9
 * are the words of env->hit. */
void ecb_fire_probe(struct vm_env *env, uint32_t probe_ref);

/*
 * A fault in any of these records a struct rec_fault and then fires the ERROR
 * probe of the image, with hit[1] EPID, [2] action, [3] offset, [4] code, [5]
 * value.  A fault inside ERROR is only counted (DROP_DBLERROR). exit() sets
 * store_hdr.exit_called, and the activity to ACTIVITY_DRAINING.
 */

#endif
