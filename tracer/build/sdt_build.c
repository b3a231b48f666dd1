/*
 * What -h and -G do; see sdt_build.h.
 */
#include "tracer/build/sdt_build.h"

#include <errno.h>
#include <string.h>

#include "dlang/base/mem.h"
#include "dlang/cc/cc.h"
#include "tracer/base/state.h"

typedef VEC(struct prog_provider *) provider_vec;

static bool
ends_in_d(const char *s)
{
	size_t n = strlen(s);

	return n > 2 && strcmp(s + n - 2, ".d") == 0;
}

/* The script's own name with another ending, in the current directory. */
static char *
renamed(const char *script, const char *ending)
{
	const char *slash = strrchr(script, '/');
	const char *base = slash != NULL ? slash + 1 : script;

	return mem_printf("%.*s%s", (int)strlen(base) - 2, base, ending);
}

static int
build_header(struct state *st, const struct sdt_job *job)
{
	const struct prog_globals *g = cc_globals(st->compiled.cc);
	const struct sdt_program *p = job->programs;
	char *path = NULL;

	if (job->output == NULL &&
	    (job->count != 1 || !p->is_script || !ends_in_d(p->spec))) {
		state_message(st,
		    "-h requires an output file if %s are specified",
		    job->count > 1 ? "multiple scripts" : "no scripts");
		return -EINVAL;
	}
	if (job->output == NULL)
		path = renamed(p->spec, ".h");
	int error = sdt_header(st, path != NULL ? path : job->output,
	    (struct sdt_providers){ g->providers.at, g->providers.len });
	mem_free(path);
	return error;
}

/* What messages about a program begin with. */
static char *
what_of(const struct sdt_program *p)
{
	int len = (int)strlen(p->spec);

	if (p->is_script && ends_in_d(p->spec))
		len -= 2;
	return mem_printf("failed to link %s %.*s",
	    p->is_script ? "script" : "description", len, p->spec);
}

/* Where the n-th program's object goes when -o does not say it. */
static char *
object_path(const struct sdt_job *job, size_t n)
{
	const struct sdt_program *p = &job->programs[n];

	if (p->is_script && ends_in_d(p->spec))
		return renamed(p->spec, ".o");
	return job->count > 1 ? mem_printf("d.out.%zu", n) :
				mem_strdup("d.out");
}

/* The providers that the programs [from, to) declare. */
static void
providers_of(struct state *st, const struct sdt_job *job, size_t from,
    size_t to, provider_vec *out)
{
	vec_foreach(p, &cc_globals(st->compiled.cc)->providers)
		for (size_t i = from; i < to; i++)
			if ((*p)->source == job->programs[i].source)
				*vec_push(out) = *p;
}

static int
build_object(struct state *st, const struct sdt_job *job, size_t from,
    size_t to, const char *path, enum sdt_model *model)
{
	char *what = what_of(&job->programs[from]);
	provider_vec provs = { 0 };

	providers_of(st, job, from, to, &provs);
	int error =
	    sdt_check_objects(st, what, job->objects, job->nobjects, model);
	if (error == 0)
		error = sdt_object(st, what, path,
		    (struct sdt_providers){ provs.at, provs.len }, *model);
	vec_fini(&provs);
	mem_free(what);
	return error == -EINVAL ? -EIO : error;
}

int
sdt_build(struct state *st, const struct sdt_job *job)
{
	enum sdt_model model = job->model;
	int error = 0;

	if (job->header)
		return build_header(st, job);
	if (job->output != NULL)
		return build_object(
		    st, job, 0, job->count, job->output, &model);
	for (size_t i = 0; i < job->count && error == 0; i++) {
		char *path = object_path(job, i);
		error = build_object(st, job, i, i + 1, path, &model);
		mem_free(path);
	}
	return error;
}
