/*
 * Providers that the threads of a program share.
 *
 * Each worker of Node runs the code of a module once more, and would make its
 * provider once more.  A tracer is to see it once: who loads a provider that is the
 * same as one that another thread has loaded, with its probes, gets that one.
 *
 * Errors are those of dtrap-provider.h.
 */
#ifndef SDT_NODE_SHARED_H
#define SDT_NODE_SHARED_H

#include "include/dtrap-provider.h"

/* A provider of one thread. */
struct provider;

/* 0, and a provider without probes in *out. */
int provider_new(const char *name, struct provider **out);

/* 0, and the number of the probe in *out.  -EBUSY after the first load. */
int provider_add(struct provider *p, const char *name, unsigned nargs,
    const enum dtrap_arg *types, unsigned *out);

int provider_load(struct provider *p);

/* The thread is in no probe of it.  Others that have loaded it still have it. */
void provider_unload(struct provider *p);
void provider_free(struct provider *p);

/* The probe of this number.  It is another one after the first load. */
dtrap_probe *provider_probe(const struct provider *p, unsigned number);

#endif
