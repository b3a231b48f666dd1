/*
 * Creating the regions; see stores.h.
 */
#include "tracer/fire/stores.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dlang/image/image.h"
#include "dlang/vm/agg.h"
#include "dlang/vm/store.h"
#include "tracer/base/state.h"

/*
 * This is address space, not memory: a page is allocated when it is first
 * written. It is enough for the probes of several processes with every
 * instruction of libc enabled.
 */
#define IMAGE_SIZE (512U << 20)
/* Where address space is limited (ulimit -v) there are fewer probes, down to
 * some thousand. */
#define IMAGE_LEAST (4U << 20)

/* When sizes are lowered, none goes below this. */
#define SIZE_FLOOR 4096

/* Create a memfd, so that the region can be mapped a second time. *fd is -1 if
 * the file size is limited (ulimit -f). */
static int
region_file(const char *name, uint32_t size, int *fd)
{
	*fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0)
		return -errno;
	if (ftruncate(*fd, size) == 0)
		return 0;
	int error = errno == EFBIG ? 0 : -errno;
	close(*fd);
	*fd = -1;
	return error;
}

static int
region_create(const char *name, uint32_t size, int *fd, struct region *r)
{
	int error = region_file(name, size, fd);

	if (error != 0)
		return error;
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_NORESERVE | (*fd < 0 ? MAP_ANONYMOUS : 0), *fd, 0);
	if (p != MAP_FAILED) {
		*r = (struct region){ .base = p, .size = size };
		return 0;
	}
	error = -errno;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return error;
}

/* Half of the available address space: the files of the targets have to be
 * mapped as well. */
static uint32_t
image_size(void)
{
	uint32_t size = IMAGE_SIZE;

	for (; size > IMAGE_LEAST; size /= 2) {
		void *p = mmap(NULL, 2 * (size_t)size, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p == MAP_FAILED)
			continue;
		munmap(p, 2 * (size_t)size);
		break;
	}
	return size;
}

void
stores_init(struct state *st)
{
	st->stores = mem_zalloc(sizeof(*st->stores));
	st->stores->image_fd = st->stores->store_fd = -1;
}

int
stores_create_image(struct state *st)
{
	int error = region_create("dtrap-image", image_size(),
	    &st->stores->image_fd, &st->stores->image_mem);

	if (error != 0)
		return error;
	/* Since Linux 5.1. On an older kernel a target that maps the image
	 * could map it writable. */
	fcntl(st->stores->image_fd, F_ADD_SEALS,
	    F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW);
	st->image = image_create(st->stores->image_mem);
	return 0;
}

static uint32_t
size_option(struct state *st, enum option_id id)
{
	int64_t v = option_get(&st->opts, id);

	if (v < 0)
		return 0;
	return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

/* Halve a size; false when it cannot go lower. */
static bool
lower(struct state *st, enum option_id id, uint32_t *size, const char *what)
{
	if (*size / 2 < SIZE_FLOOR)
		return false;
	*size = *size / 2 + *size % 2; /* 4g is stored as 4g - 1 */
	st->opts.value[id] = *size;
	if (option_get(&st->opts, OPT_QUIETRESIZE) != 0 || st->testing)
		return true;
	if (*size % (1U << 20) == 0)
		state_message(st, "%s size lowered to %um", what, *size >> 20);
	else if (*size % 1024 == 0)
		state_message(st, "%s size lowered to %uk", what, *size >> 10);
	else
		state_message(st, "%s size lowered to %u bytes", what, *size);
	return true;
}

bool
stores_fit(struct state *st)
{
	const struct img_hdr *im = image_hdr(st->image);

	return store_has_room(im, size_option(st, OPT_DYNVARSIZE));
}

/* ---- too small ---- */

void
stores_size_text(uint64_t size, char text[32])
{
	/* Small sizes are written exactly, others with few digits. */
	if (size <= 1 << 13)
		snprintf(text, 32, "%llu", (unsigned long long)size);
	else if (size <= 1 << 23)
		snprintf(text, 32, "%lluk",
		    (unsigned long long)ROUND_UP(size, 1 << 10) >> 10);
	else
		snprintf(text, 32, "%llum",
		    (unsigned long long)ROUND_UP(size, 1 << 20) >> 20);
}

static bool
has_dynvars(const struct img_hdr *im, uint32_t size)
{
	return store_has_room(im, size);
}

static bool
has_aggs(const struct img_hdr *im, uint32_t size)
{
	return im->naggs == 0 || agg_holds(size, im->agg_data);
}

char *
stores_hint(struct state *st)
{
	static const struct {
		enum option_id id;
		bool (*enough)(const struct img_hdr *im, uint32_t size);
		const char *what;
	} rows[] = {
		{ OPT_DYNVARSIZE, has_dynvars,
		    "an associative array or self->" },
		{ OPT_AGGSIZE, has_aggs, "an aggregation" },
	};
	const struct img_hdr *im = image_hdr(st->image);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t least = 64;
		char size[32];
		if (rows[i].enough(im, size_option(st, rows[i].id)))
			continue;
		while (least < 1U << 31 && !rows[i].enough(im, least))
			least *= 2;
		stores_size_text(least, size);
		return mem_printf("%s needs -x %s=%s or more", rows[i].what,
		    option_name(rows[i].id), size);
	}
	return NULL;
}

/* The size of the scratch memory of a firing. If the user has not set it:
 * enough for a string of strsize and the strings that it is built from. */
static uint32_t
scratch_size(struct state *st)
{
	uint32_t size = size_option(st, OPT_SCRATCHSIZE);
	uint32_t string = size_option(st, OPT_STRSIZE) + 1;

	return st->opts.set[OPT_SCRATCHSIZE] ?
	    size :
	    MAX(size, 4 * ROUND_UP(string, 8));
}

int
stores_create_store(struct state *st, uint64_t end_room)
{
	const struct img_hdr *im = image_hdr(st->image);
	struct store_sizes s = {
		.nlanes = 1,
		.bufsize = size_option(st, OPT_BUFSIZE),
		.aggsize = size_option(st, OPT_AGGSIZE),
		.dynvarsize = size_option(st, OPT_DYNVARSIZE),
		.scratch = scratch_size(st),
		.policy = (uint32_t)option_get(&st->opts, OPT_BUFPOLICY),
		/* The caller has checked that it is less than bufsize. */
		.end_room = (uint32_t)end_room,
	};
	uint32_t size;

	if (im->naggs != 0 && !agg_holds(s.aggsize, im->agg_data))
		return -EMSGSIZE;
	const char *resize = st->opts.text[OPT_BUFRESIZE];
	while ((size = store_size(im, &s)) == 0) {
		if (resize != NULL && strcasecmp(resize, "manual") == 0)
			return -ENOMEM;
		bool could = lower(st, OPT_BUFSIZE, &s.bufsize, "buffer") ||
		    lower(st, OPT_AGGSIZE, &s.aggsize, "aggregation") ||
		    lower(
			st, OPT_DYNVARSIZE, &s.dynvarsize, "dynamic variable");
		if (!could)
			return -ENOMEM;
	}
	int error = region_create(
	    "dtrap-store", size, &st->stores->store_fd, &st->stores->store_mem);
	if (error != 0)
		return error;
	st->stores->sizes = s;
	if (store_init(&st->stores->store_mem, im, &s) != 0)
		return -ENOMEM;
	return 0;
}

void
stores_destroy(struct state *st)
{
	if (st->image != NULL)
		image_destroy(st->image);
	st->image = NULL;
	if (st->stores->image_mem.base != NULL)
		munmap(st->stores->image_mem.base, st->stores->image_mem.size);
	if (st->stores->store_mem.base != NULL)
		munmap(st->stores->store_mem.base, st->stores->store_mem.size);
	if (st->stores->image_fd >= 0)
		close(st->stores->image_fd);
	if (st->stores->store_fd >= 0)
		close(st->stores->store_fd);
	mem_free(st->stores);
	st->stores = NULL;
}
