/*
 * A target of byte arrays; see target.h.
 */
#include "t/fake/target.h"

#include <errno.h>
#include <string.h>

#include "dlang/base/mem.h"

static struct fake_target *
fake_of(struct target *t)
{
	return (struct fake_target *)t;
}

static struct fake_region *
region_of(struct fake_target *ft, uint64_t addr)
{
	for (unsigned i = 0; i < ft->regions; i++)
		if (addr - ft->region[i].start < ft->region[i].size)
			return &ft->region[i];
	return NULL;
}

uint8_t *
fake_target_at(struct fake_target *ft, uint64_t addr)
{
	struct fake_region *r = region_of(ft, addr);

	return r != NULL ? r->bytes + (addr - r->start) : NULL;
}

/* The bytes of [addr, addr + len), which must be in one region. */
static uint8_t *
bytes_of(struct fake_target *ft, uint64_t addr, size_t len)
{
	struct fake_region *r = region_of(ft, addr);

	if (r == NULL || len > r->size - (addr - r->start))
		return NULL;
	return r->bytes + (addr - r->start);
}

static int
fake_read(struct target *t, uint64_t addr, void *buf, size_t len)
{
	struct fake_target *ft = fake_of(t);
	uint8_t *p = bytes_of(ft, addr, len);

	ft->reads++;
	if (p == NULL)
		return -EFAULT;
	memcpy(buf, p, len);
	return 0;
}

static int
fake_write(struct target *t, uint64_t addr, const void *buf, size_t len)
{
	struct fake_target *ft = fake_of(t);
	uint8_t *p = bytes_of(ft, addr, len);

	ft->writes++;
	ft->bytes_written += len;
	if (p == NULL || region_of(ft, addr)->read_only)
		return -EFAULT;
	if (ft->fail_write != 0 && --ft->fail_write == 0) {
		/* Half of it arrives. */
		memcpy(p, buf, len / 2);
		return -EFAULT;
	}
	memcpy(p, buf, len);
	return 0;
}

static int
fake_map_near(struct target *t, uint64_t near, size_t size, uint64_t *addr)
{
	struct fake_target *ft = fake_of(t);
	uint64_t at = near & ~UINT64_C(4095);

	ft->maps++;
	if (ft->map_error != 0)
		return ft->map_error;
	at += ft->map_bias != 0 ? (uint64_t)ft->map_bias : 1U << 20;
	while (region_of(ft, at) != NULL || region_of(ft, at + size - 1))
		at += size;
	fake_target_map(ft, at, size);
	*addr = at;
	return 0;
}

/* As much of [addr, addr + size) as one region has.  What lies before and behind
 * stays. */
static size_t
unmap_part(struct fake_target *ft, uint64_t addr, size_t size)
{
	struct fake_region *r = region_of(ft, addr);

	if (r == NULL)
		return 0;
	const struct fake_region whole = *r;
	*r = ft->region[--ft->regions];
	size_t front = addr - whole.start;
	size_t end = MIN(front + size, whole.size), back = whole.size - end;
	if (front > 0)
		memcpy(fake_target_map(ft, whole.start, front)->bytes,
		    whole.bytes, front);
	if (back > 0)
		memcpy(fake_target_map(ft, whole.start + end, back)->bytes,
		    whole.bytes + end, back);
	mem_free(whole.bytes);
	return end - front;
}

static int
fake_unmap(struct target *t, uint64_t addr, size_t size)
{
	struct fake_target *ft = fake_of(t);
	size_t n = 1;

	ft->unmaps++;
	for (; size > 0 && n > 0; addr += n, size -= n)
		n = unmap_part(ft, addr, size);
	return n > 0 ? 0 : -EINVAL;
}

static int
fake_cave(struct target *t, uint64_t near, unsigned *cookie, uint64_t *addr,
    size_t *size)
{
	struct fake_target *ft = fake_of(t);

	ft->caves++;
	while (*cookie < ft->regions) {
		struct fake_region *r = &ft->region[(*cookie)++];
		if (!r->cave)
			continue;
		*addr = r->cave_at;
		*size = r->start + r->size - r->cave_at;
		return 0;
	}
	return -ENOENT;
}

static int
fake_thread_pc(struct target *t, unsigned n, uint64_t *pc)
{
	struct fake_target *ft = fake_of(t);

	if (n >= ft->threads)
		return -ENOENT;
	*pc = ft->pc[n];
	return *pc == FAKE_ANYWHERE ? -EAGAIN : 0;
}

static const struct target_ops fake_ops = {
	.read = fake_read,
	.write = fake_write,
	.map_near = fake_map_near,
	.unmap = fake_unmap,
	.cave = fake_cave,
	.thread_pc = fake_thread_pc,
};

void
fake_target_init(struct fake_target *ft)
{
	memset(ft, 0, sizeof(*ft));
	ft->target.ops = &fake_ops;
}

void
fake_target_fini(struct fake_target *ft)
{
	for (unsigned i = 0; i < ft->regions; i++)
		mem_free(ft->region[i].bytes);
	ft->regions = 0;
}

struct fake_region *
fake_target_map(struct fake_target *ft, uint64_t start, uint64_t size)
{
	ASSERT(ft->regions < FAKE_REGIONS);
	struct fake_region *r = &ft->region[ft->regions++];

	*r = (struct fake_region){
		.start = start, .size = size, .bytes = mem_zalloc(size)
	};
	return r;
}

void
fake_target_fork(const struct fake_target *ft, struct fake_target *child)
{
	*child = *ft;
	for (unsigned i = 0; i < ft->regions; i++) {
		child->region[i].bytes = mem_alloc(ft->region[i].size);
		memcpy(child->region[i].bytes, ft->region[i].bytes,
		    ft->region[i].size);
	}
}
