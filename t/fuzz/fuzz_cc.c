/*
 * The compiler on any text: a program or one diagnostic, never an internal
 * error (the verifier refusing what the code generator wrote), and records
 * whose values lie inside them.
 *
 * The first byte chooses how the text is given and two options.
 */
#include <stdlib.h>
#include <string.h>

#include "dlang/cc/cc.h"
#include "t/fake/world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_clause(const struct prog_clause *c)
{
	uint32_t end = c->rec_size;

	for (size_t i = 0; i < c->nacts; i++) {
		const struct prog_act *a = &c->acts[i];
		if ((a->flags & ACT_F_KEY) == 0 && a->size != 0 &&
		    (a->off < sizeof(struct rec_hdr) || a->off > end ||
			a->size > end - a->off))
			abort();
		if (a->difo != NULL && !a->difo->verified)
			abort();
	}
	for (size_t i = 0; i < c->nstmts; i++)
		for (size_t k = 0; k < c->stmts[i].nrecs; k++)
			if (c->stmts[i].recs[k].off % 8 != 0 &&
			    c->stmts[i].recs[k].size >= 8)
				abort();
}

static void
check_diagnostic(const struct diags *d)
{
	FILE *null = fopen("/dev/null", "w");

	if (!d->any || strncmp(d->first.text, "internal error", 14) == 0)
		abort();
	if (null == NULL)
		return;
	diag_render(null, &d->first, "fuzz: ", true, false);
	fclose(null);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char *argv[] = { (char *)"x.d", (char *)"-12", (char *)"word",
		(char *)"two words" };
	struct options opts;
	struct diags d;
	struct prog *p = NULL;

	if (size < 1)
		return 0;
	options_init(&opts);
	opts.value[OPT_DEFAULTARGS] = data[0] >> 7;
	opts.value[OPT_ZDEFS] = data[0] >> 6 & 1;
	struct cc *cc = cc_create(&fake_world, &opts);
	char *text = mem_strndup((const char *)data + 1, size - 1);
	struct source source = { "-n", text, data[0] >> 5 & 1 };
	struct cc_input in = { .source = &source,
		.level = (enum cc_level)(data[0] % (CC_SCRIPT + 1)),
		.argc = 4,
		.argv = argv };
	diags_init(&d);
	if (cc_compile(cc, &in, &p, &d) == 0) {
		for (size_t i = 0; i < p->nclauses; i++)
			check_clause(p->clauses[i]);
	} else
		check_diagnostic(&d);
	diags_fini(&d);
	prog_destroy(p);
	cc_destroy(cc);
	options_fini(&opts);
	mem_free(text);
	return 0;
}
