/*
 * Which load objects are mapped where in one process, now and before.
 *
 * A refresh reads the maps and looks at each executable mapping of a file:
 *
 *	mapping (device, inode, offset, start)
 *	   | held by a load that is known?  --> still there
 *	   | else open its file (mapped.c), find the segment of that
 *	   v offset; bias = start - address of the offset
 *	a load, new or come back to where it was
 *
 * What no mapping held is gone, and stays in the list for the names' sake.
 *
 * Invariant: `by_addr' holds exactly the loads that are mapped now, in address
 * order and without overlap of their starts; a load's pointer is good as long
 * as its address space.
 */
#include "symbols/addrspace.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dlang/base/glob.h"
#include "dlang/base/hash.h"
#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "dlang/base/sorted.h"
#include "dlang/base/vec.h"
#include "symbols/space/addrspace_impl.h"
#include "symbols/epochs.h"
#include "symbols/elf/parts.h"

/* The name the run-time linker gives to the vDSO. */
#define VDSO_NAME "linux-vdso.so.1"

/* The vDSO is two pages today; an image of more than this is not it. */
#define VDSO_MOST (1 << 20)

struct load_entry {
	struct load load;
	uint64_t dev, inode; /* as the maps name its file */
	bool found;          /* by the refresh that runs */
};

/* A mapped file that is no load: not asked again. */
struct foreign {
	uint64_t dev, inode;
};

struct addrspace {
	unsigned refs;
	uint32_t id;
	uint32_t generation;
	pid_t pid;
	struct reader mem;
	bool detached;
	bool has_auxv;
	uint64_t interp_base, phdr_addr; /* of the auxiliary vector, or 0 */
	struct maps maps;
	VEC(struct load_entry *) loads;
	VEC(struct load *) view;    /* the same, as the header gives them */
	VEC(struct load *) by_addr; /* mapped now */
	VEC(struct foreign) foreign;
	struct epochs epochs;
};

static struct hash spaces; /* id -> struct addrspace */
static uint32_t last_id;

static struct addrspace *
space_new(pid_t pid, const struct reader *mem)
{
	struct addrspace *as = mem_zalloc(sizeof(*as));

	as->refs = 1;
	as->id = ++last_id;
	as->pid = pid;
	if (mem != NULL)
		as->mem = *mem;
	hash_set(&spaces, as->id, as);
	epochs_init(&as->epochs, as->id, 0);
	return as;
}

struct addrspace *
addrspace_create(pid_t pid, const struct reader *mem)
{
	return space_new(pid, mem);
}

struct addrspace *
addrspace_get(struct addrspace *as)
{
	as->refs++;
	return as;
}

void
addrspace_put(struct addrspace *as)
{
	if (as == NULL || --as->refs > 0)
		return;
	vec_foreach(ep, &as->epochs.list)
		hash_remove(&spaces, ep->stamp);
	epochs_fini(&as->epochs);
	if (spaces.count == 0)
		hash_fini(&spaces);
	vec_foreach(e, &as->loads) {
		object_put((*e)->load.object);
		mem_free(*e);
	}
	vec_fini(&as->loads);
	vec_fini(&as->view);
	vec_fini(&as->by_addr);
	vec_fini(&as->foreign);
	maps_fini(&as->maps);
	mem_free(as);
}

uint32_t
addrspace_id(const struct addrspace *as)
{
	return as->id;
}

pid_t
addrspace_pid(const struct addrspace *as)
{
	return as->pid;
}

struct addrspace *
addrspace_by_id(uint32_t id)
{
	return hash_get(&spaces, id);
}

void
addrspace_detach(struct addrspace *as)
{
	as->detached = true;
	as->mem = (struct reader){ 0 };
}

static bool
space_read(const struct addrspace *as, uint64_t addr, void *buf, size_t len)
{
	const struct mapped_in p = { .pid = as->pid, .mem = &as->mem };

	return mapped_read(&p, addr, buf, len);
}

static int
load_compare(const void *va, const void *vb)
{
	const struct load *a = *(struct load *const *)va;
	const struct load *b = *(struct load *const *)vb;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void
by_addr_make(struct addrspace *as)
{
	vec_clear(&as->by_addr);
	vec_foreach(e, &as->loads)
		if ((*e)->load.seen)
			*vec_push(&as->by_addr) = &(*e)->load;
	if (as->by_addr.len > 0)
		qsort(as->by_addr.at, as->by_addr.len, sizeof(*as->by_addr.at),
		    load_compare);
}

static struct load_entry *
load_new(struct addrspace *as, struct object *o, uint64_t bias)
{
	struct load_entry *e = mem_zalloc(sizeof(*e));

	e->load.object = o;
	e->load.bias = bias;
	e->load.module = object_basename(o);
	object_extent(o, &e->load.start, &e->load.end);
	e->load.start += bias;
	e->load.end += bias;
	*vec_push(&as->loads) = e;
	*vec_push(&as->view) = &e->load;
	return e;
}

struct addrspace *
addrspace_fork(
    const struct addrspace *as, pid_t child, const struct reader *mem)
{
	struct addrspace *to = space_new(child, mem);

	to->generation = as->generation;
	to->has_auxv = as->has_auxv;
	to->interp_base = as->interp_base;
	to->phdr_addr = as->phdr_addr;
	vec_foreach(e, &as->loads) {
		const struct load_entry *from = *e;
		struct load_entry *c = load_new(
		    to, object_get(from->load.object), from->load.bias);

		*c = *from;
		c->load.user = NULL;
	}
	vec_foreach(m, &as->maps.list) {
		struct map *c = vec_push(&to->maps.list);

		*c = *m;
		c->path = mem_strdup(m->path);
	}
	by_addr_make(to);
	vec_foreach(l, &to->by_addr)
		epochs_came(&to->epochs, *l, to->generation);
	return to;
}

/* What the kernel told the program about itself. */
static void
auxv_read(struct addrspace *as)
{
	char name[64];
	Elf64_auxv_t v[64];
	ssize_t n;
	int fd;

	if (as->has_auxv)
		return;
	snprintf(name, sizeof(name), "/proc/%d/auxv", (int)as->pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, v, sizeof(v));
	close(fd);
	for (ssize_t i = 0; i < n / (ssize_t)sizeof(v[0]); i++) {
		if (v[i].a_type == AT_BASE)
			as->interp_base = v[i].a_un.a_val;
		else if (v[i].a_type == AT_PHDR)
			as->phdr_addr = v[i].a_un.a_val;
	}
	as->has_auxv = n > 0;
}

/* The kind of load that it is among the others. */
static void
load_classify(struct addrspace *as, struct load *l)
{
	char name[64];
	struct stat st, mine;

	l->is_interp = as->interp_base != 0 &&
	    (as->interp_base == l->start || as->interp_base == l->bias);
	if (as->phdr_addr != 0) {
		l->is_exec =
		    as->phdr_addr >= l->start && as->phdr_addr < l->end;
		return;
	}
	snprintf(name, sizeof(name), "/proc/%d/exe", (int)as->pid);
	mine = object_stat(l->object);
	l->is_exec = stat(name, &st) == 0 && st.st_ino == mine.st_ino &&
	    st.st_dev == mine.st_dev && addrspace_exec(as) == NULL;
}

/* A load that was at this place before, or NULL. */
static struct load_entry *
load_former(const struct addrspace *as, const struct object *o, uint64_t bias)
{
	vec_foreach(e, &as->loads)
		if ((*e)->load.object == o && (*e)->load.bias == bias)
			return *e;
	return NULL;
}

/* The object, whose reference is given away, is mapped at this bias. */
static struct load_entry *
load_found(struct addrspace *as, struct object *o, uint64_t bias)
{
	struct load_entry *e = load_former(as, o, bias);

	if (e != NULL)
		object_put(o);
	else
		e = load_new(as, o, bias);
	e->found = true;
	e->load.writable_text = false;
	load_classify(as, &e->load);
	return e;
}

static bool
is_foreign(const struct addrspace *as, const struct map *m)
{
	vec_foreach(f, &as->foreign)
		if (f->dev == m->dev && f->inode == m->inode)
			return true;
	return false;
}

/* The load, found by this refresh or mapped before, that the mapping is a
 * part of: the same file with the same bias. */
static struct load_entry *
load_of_map(const struct addrspace *as, const struct map *m)
{
	uint64_t bias;

	vec_foreach(e, &as->loads) {
		struct load_entry *l = *e;

		if ((l->found || l->load.seen) && l->dev == m->dev &&
		    l->inode == m->inode &&
		    object_mapping_bias(l->load.object, m->start, m->offset,
			true, &bias) == 0 &&
		    bias == l->load.bias)
			return l;
	}
	return NULL;
}

static void
file_map_take(
    struct addrspace *as, const struct maps *maps, const struct map *m)
{
	struct load_entry *e = load_of_map(as, m);
	struct object *o;
	const char *why = NULL;
	uint64_t bias;
	int err;

	if (e == NULL) {
		if (is_foreign(as, m))
			return;
		const struct mapped_in p = { as->pid, &as->mem, maps };

		err = mapped_open(&p, m, &o, &why);
		if (err == 0 &&
		    object_mapping_bias(o, m->start, m->offset, true, &bias)) {
			object_put(o);
			err = -ENOEXEC;
			why = "mapped where it has no text";
		}
		if (err != 0) {
			LOG("symbols", "%s at %#lx is no load object: %s",
			    m->path, (unsigned long)m->start,
			    why != NULL ? why : strerror(-err));
			if (err == -ENOEXEC)
				*vec_push(&as->foreign) =
				    (struct foreign){ m->dev, m->inode };
			return;
		}
		e = load_found(as, o, bias);
		e->dev = m->dev;
		e->inode = m->inode;
	}
	if (!e->found)
		e->load.writable_text = false;
	e->found = true;
	if (m->write || m->shared)
		e->load.writable_text = true;
}

static void
vdso_take(struct addrspace *as, const struct map *m)
{
	size_t size = m->end - m->start;
	struct load_entry *e;
	struct object *o;
	void *bytes;

	vec_foreach(i, &as->loads) {
		if ((*i)->load.is_vdso && (*i)->load.start == m->start) {
			(*i)->found = true;
			return;
		}
	}
	if (size > VDSO_MOST)
		return;
	bytes = mem_alloc(size);
	if (space_read(as, m->start, bytes, size) &&
	    object_open_image(bytes, size, VDSO_NAME, &o) == 0) {
		/* Its addresses begin at 0, or at some place of old. */
		uint64_t lo, hi;

		object_extent(o, &lo, &hi);
		e = load_found(as, o, m->start - lo);
		e->load.is_vdso = true;
		e->load.is_exec = false;
	}
	mem_free(bytes);
}

/* Those of the loads that went, and those that came. */
static void
epochs_apply(struct addrspace *as, struct load *const *news, size_t n)
{
	bool contested = false;

	for (size_t i = 0; i < n; i++)
		if (!news[i]->seen)
			epochs_gone(&as->epochs, news[i], as->generation);
	for (size_t i = 0; i < n && !contested; i++)
		contested =
		    news[i]->seen && epochs_contested(&as->epochs, news[i]);
	if (contested) {
		epochs_begin(&as->epochs, ++last_id, as->generation);
		hash_set(&spaces, last_id, as);
	}
	for (size_t i = 0; i < n; i++)
		if (news[i]->seen)
			epochs_came(&as->epochs, news[i], as->generation);
}

/* Mark what came and went, and count a generation if any did. */
static int
changes_apply(
    struct addrspace *as, void (*changed)(void *, struct load *), void *ctx)
{
	VEC(struct load *) news = { 0 };
	int count;

	vec_foreach(e, &as->loads)
		if ((*e)->found != (*e)->load.seen)
			*vec_push(&news) = &(*e)->load;
	if (news.len > 0)
		as->generation++;
	vec_foreach(n, &news) {
		struct load *l = *n;

		l->seen = !l->seen;
		if (l->seen && l->to == 0)
			l->from = as->generation;
		l->to = l->seen ? UINT32_MAX : as->generation;
	}
	if (news.len > 0)
		by_addr_make(as);
	epochs_apply(as, news.at, news.len);
	/* Those that went first: what came may lie where they were. */
	for (int seen = 0; seen <= 1 && changed != NULL; seen++)
		vec_foreach(n, &news)
			if ((*n)->seen == (seen == 1))
				changed(ctx, *n);
	count = (int)news.len;
	vec_fini(&news);
	return count;
}

int
addrspace_refresh(
    struct addrspace *as, void (*changed)(void *ctx, struct load *), void *ctx)
{
	struct maps maps;
	int err;

	if (as->detached)
		return -ESRCH;
	err = maps_read(as->pid, &maps);
	if (err != 0)
		return err;
	/* A process that has ended has no memory but is still there. */
	if (maps.list.len == 0) {
		maps_fini(&maps);
		return -ESRCH;
	}
	auxv_read(as);
	vec_foreach(e, &as->loads)
		(*e)->found = false;
	vec_foreach(m, &maps.list) {
		if (!m->exec)
			continue;
		if (strcmp(m->path, "[vdso]") == 0)
			vdso_take(as, m);
		else if (m->inode != 0 && m->path[0] == '/')
			file_map_take(as, &maps, m);
	}
	maps_fini(&as->maps);
	as->maps = maps;
	return changes_apply(as, changed, ctx);
}

size_t
addrspace_loads(const struct addrspace *as, struct load *const **out)
{
	*out = as->view.at;
	return as->view.len;
}

struct load *
addrspace_exec(const struct addrspace *as)
{
	vec_foreach(e, &as->loads)
		if ((*e)->load.is_exec)
			return &(*e)->load;
	return NULL;
}

const struct maps *
addrspace_maps(const struct addrspace *as)
{
	return &as->maps;
}

struct load *
addrspace_load_at(const struct addrspace *as, uint64_t addr)
{
	size_t to =
	    sorted_count(as->by_addr.len, i, as->by_addr.at[i]->start <= addr);
	struct load *last = NULL;

	if (to > 0 && addr < as->by_addr.at[to - 1]->end)
		return as->by_addr.at[to - 1];
	vec_foreach(e, &as->loads) {
		struct load *l = &(*e)->load;

		if (!l->seen && addr >= l->start && addr < l->end &&
		    (last == NULL || l->to > last->to))
			last = l;
	}
	return last;
}

uint32_t
addrspace_stamp(const struct addrspace *as)
{
	return epochs_now(&as->epochs);
}

struct load *
addrspace_load_then(uint32_t stamp, uint64_t addr)
{
	struct addrspace *as = addrspace_by_id(stamp);
	struct load *l = NULL;

	if (as == NULL)
		return NULL;
	if (stamp != epochs_now(&as->epochs))
		l = epochs_load(&as->epochs, stamp, addr);
	return l != NULL ? l : addrspace_load_at(as, addr);
}

uint32_t
addrspace_stamp_of(uint32_t stamp, const uint64_t *addrs, size_t n)
{
	struct addrspace *as = addrspace_by_id(stamp);

	if (as == NULL || as->epochs.list.len == 1)
		return stamp;
	uint32_t first = epochs_first(&as->epochs);
	for (size_t i = 0; i < n; i++)
		if (addrspace_load_then(first, addrs[i]) !=
		    addrspace_load_then(stamp, addrs[i]))
			return stamp;
	return first;
}

/* The length of the base name without ".so" and what follows it. */
static size_t
cut_at_so(const char *base)
{
	const char *so = base;

	while (
	    (so = strstr(so, ".so")) != NULL && so[3] != '\0' && so[3] != '.')
		so++;
	return so == NULL || so == base ? strlen(base) : (size_t)(so - base);
}

/* The same without a version before ".so", as in libc-2.31.so. */
static size_t
cut_at_version(const char *base)
{
	size_t n = cut_at_so(base), v = n;

	while (v > 0 && strchr("0123456789.", base[v - 1]) != NULL)
		v--;
	if (v < n && v > 1 && base[v - 1] == '-' && base[n] != '\0')
		return v - 1;
	return n;
}

/* Is `module' the base name up to a '.' somewhere behind ".so"? */
static bool
version_prefix(const char *base, const char *module)
{
	size_t n = strlen(module);
	const char *so = strstr(module, ".so");

	return so != NULL && strncmp(base, module, n) == 0 && base[n] == '.';
}

/* Is it another way to the file: through links (/lib to /usr/lib), or from the
 * current folder? */
static bool
leads_to(const char *name, const char *path)
{
	char real[PATH_MAX];

	return realpath(name, real) != NULL && strcmp(real, path) == 0;
}

bool
load_matches(const struct load *l, const char *module)
{
	const char *base = l->module;
	char cut[256];
	size_t n, len;

	if (module == NULL || module[0] == '\0')
		return true;
	if (strchr(module, '/') != NULL) {
		const char *path = object_path(l->object);

		return strcmp(module, path) == 0 || leads_to(module, path) ||
		    (glob_is(module) && glob_match(module, path));
	}
	if (l->is_exec &&
	    (glob_is(module) ? glob_match(module, "a.out") :
			       strcmp(module, "a.out") == 0))
		return true;
	n = MIN(cut_at_version(base), sizeof(cut) - 1);
	memcpy(cut, base, n);
	cut[n] = '\0';
	len = strlen(module);
	if (strcmp(module, base) == 0 || strcmp(module, cut) == 0 ||
	    (len == cut_at_so(base) && strncmp(module, base, len) == 0) ||
	    version_prefix(base, module))
		return true;
	/* ld-linux-x86-64.so.2, ld-musl-x86_64.so.1: "ld" as elsewhere. */
	if (strcmp(module, "ld") == 0 && strncmp(base, "ld-", 3) == 0)
		return true;
	if (l->is_vdso && strcmp(module, "[vdso]") == 0)
		return true;
	return glob_is(module) &&
	    (glob_match(module, base) || glob_match(module, cut));
}

/* One question to the slots of all loads. */
struct ifunc_ask {
	struct addrspace *as;
	const struct load *home; /* of the IFUNC symbol */
	const struct load *load; /* whose slots are read */
	bool any;                /* a slot that is, or will be, the answer's */
	uint64_t addr;           /* the answer, or 0 */
};

static void
ifunc_slot(void *ctx, uint64_t slot)
{
	struct ifunc_ask *a = ctx;
	uint64_t now = 0, raw = 0;

	if (a->addr != 0)
		return;
	a->any = true;
	if (!space_read(a->as, a->load->bias + slot, &now, sizeof(now)))
		return;
	/* Not relocated yet, or bound lazily: what the file holds, as it is
	 * or moved by the bias, which is the way into the PLT. */
	object_read(a->load->object, slot, &raw, sizeof(raw));
	if (now == 0 || now == raw || now == raw + a->load->bias)
		return;
	/* Elsewhere than at home: another object's function of that name. */
	if (!object_is_text(a->home->object, now - a->home->bias))
		return;
	a->addr = now;
}

int
addrspace_ifunc(struct addrspace *as, const struct load *l,
    const struct sym *resolver, uint64_t *addr)
{
	struct ifunc_ask a = { .as = as, .home = l, .load = l };

	/* At home first: its own slots name the resolver itself, where a slot
	 * elsewhere may mean another version of the name. */
	object_got_slots(
	    l->object, resolver->name, resolver->addr, ifunc_slot, &a);
	vec_foreach(e, &as->by_addr) {
		if (a.addr != 0)
			break;
		a.load = *e;
		if (a.load != l && !resolver->old_version)
			object_got_slots(
			    a.load->object, resolver->name, 0, ifunc_slot, &a);
	}
	if (a.addr == 0)
		return a.any ? -EAGAIN : -ENOENT;
	*addr = a.addr;
	return 0;
}
