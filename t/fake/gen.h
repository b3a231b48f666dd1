/*
 * Programs from bytes: for the fuzzer, and for the corpus that both builds of
 * dlang/vm/ run.
 */
#ifndef T_FAKE_GEN_H
#define T_FAKE_GEN_H

#include "t/fake/env.h"

/* The bytes that decide; past their end everything is 0. */
struct gen {
	const uint8_t *p;
	size_t left;
};

uint32_t gen_u8(struct gen *g);
uint32_t gen_u32(struct gen *g);

/* Declare the variables and aggregations that gen_difo() and gen_clause() use.
 * Before kit_publish(). */
void gen_globals(struct kit *k);

/* A DIFO of which most pass the verifier; raw: any words at all. */
struct difo *gen_difo(struct kit *k, struct gen *g, bool raw);

/* A clause of a few actions over such DIFOs; those that the verifier refuses
 * are left out. */
void gen_clause(struct kit *k, struct gen *g);

#endif
