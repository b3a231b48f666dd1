/*
 * The client of debuginfod; see debuginfod.h.
 *
 * The library is loaded when it is needed, because it loads a dozen others, and
 * dtrap works without it.
 */
#include "symbols/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/debuginfod.h>

#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "dlang/base/vec.h"

/* What is used of the library. */
struct library {
	__typeof__(debuginfod_begin) *begin;
	__typeof__(debuginfod_find_debuginfo) *find;
	__typeof__(debuginfod_set_progressfn) *set_progress;
};

/* The library's callback gets no argument of the caller. */
static debuginfod_progress *told;
static void *told_ctx;

struct copy {
	char *build_id, *path;
};

static VEC(struct copy) copies;

bool
debuginfod_wanted(void)
{
	const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR);

	return urls != NULL && urls[strspn(urls, " ")] != '\0';
}

static bool
library_load(struct library *l)
{
	void *so = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL);

	if (so == NULL) {
		LOG("symbols", "debuginfod: %s", dlerror());
		return false;
	}
	*(void **)&l->begin = dlsym(so, "debuginfod_begin");
	*(void **)&l->find = dlsym(so, "debuginfod_find_debuginfo");
	*(void **)&l->set_progress = dlsym(so, "debuginfod_set_progressfn");
	return l->begin != NULL && l->find != NULL && l->set_progress != NULL;
}

/* 0: go on. */
static int
on_progress(debuginfod_client *client, long done, long all)
{
	told(told_ctx, MAX(done, 0), MAX(all, 0));
	return 0;
}

int
debuginfod_fetch(
    const char *build_id, debuginfod_progress *progress, void *ctx, char **path)
{
	static struct library library;
	static debuginfod_client *client;

	if (client == NULL &&
	    (!library_load(&library) || (client = library.begin()) == NULL))
		return -ELIBACC;
	told = progress;
	told_ctx = ctx;
	library.set_progress(client, on_progress);
	*path = NULL;
	/* Of length 0: it is text. */
	int fd = library.find(client, (const unsigned char *)build_id, 0, path);
	if (fd < 0)
		return fd;
	close(fd); /* the caller opens it by its path */
	return *path != NULL ? 0 : -ENOENT;
}

void
debuginfod_add(const char *build_id, const char *path)
{
	*vec_push(&copies) = (struct copy){ .build_id = mem_strdup(build_id),
		.path = mem_strdup(path) };
}

const char *
debuginfod_path(const char *build_id)
{
	vec_foreach(c, &copies)
		if (strcmp(c->build_id, build_id) == 0)
			return c->path;
	return NULL;
}
