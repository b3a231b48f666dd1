/*
 * The compiler: D text to programs.  tracer/program/ calls it; it asks a struct
 * world about probes, types and symbols.
 */
#ifndef DLANG_CC_CC_H
#define DLANG_CC_CC_H

#include <stdio.h>

#include "dlang/base/diag.h"
#include "dlang/options.h"
#include "dlang/prog.h"
#include "dlang/world.h"

struct cc; /* a session: programs that share variables and aggregations */

/* `w' and `opts' are borrowed and outlive the session. */
struct cc *cc_create(const struct world *w, struct options *opts);
void cc_destroy(struct cc *cc);

/* What a description with fewer than four fields means. */
enum cc_level { CC_PROV, CC_MOD, CC_FUNC, CC_NAME, CC_ID, CC_SCRIPT };

struct cc_input {
	const struct source *source; /* outlives the program */
	enum cc_level level;
	int argc; /* $0 .. $n */
	char *const *argv;
	bool library; /* a D library: messages name its file, it may depend on
		       * other libraries and may be empty, and its clauses are
		       * checked but not enabled */
	/* Is a clause with this description of no concern here?  It is read
	 * and left out.  NULL: none is. */
	bool (*elsewhere)(const char *desc);
	/* This host, of many: descriptions may have hosts in front, and those of
	 * others are left out.  NULL: they have none.  is_provider() tells
	 * whether a field names a provider. */
	const char *host;
	bool (*is_provider)(const char *field);
	FILE *listing; /* -S: DIFOs as text, or NULL */
};

/*
 * Compile.  0 with a program whose DIF is verified; or -EINVAL with the first
 * error in `d'.
 */
int cc_compile(struct cc *cc, const struct cc_input *in, struct prog **out,
    struct diags *d);

/* Make an aggregation known that programs may print and add to: a copy of *from,
 * with the next id.  NULL: there is one of that name, or there are too many. */
const struct prog_agg *cc_declare_agg(
    struct cc *cc, const struct prog_agg *from);

/* Variables, aggregations and clauses of all programs of the session; valid
 * until cc_destroy(). */
const struct prog_globals *cc_globals(const struct cc *cc);
struct types *cc_types(struct cc *cc);

#endif
