/*
 * One corpus through both builds of dlang/vm/: each case is a program in an
 * image; it is fired through the hosted machine and, from the same state,
 * through the one in the blob for inside the target, and the two stores and the
 * two fake targets must be equal to the byte.  Then hits are made as in a target:
 * on a lane's stack, with the registers in the lane, and what a thread has of its
 * own is looked at from both homes.
 *
 * usage: corpus BLOB
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/base.h"
#include "dlang/base/mem.h"
#include "dlang/vm/agg.h"
#include "dlang/vm/buf.h"
#include "inject/agent/agent.h"
#include "t/fake/gen.h"

static void
die(const char *what)
{
	fprintf(stderr, "corpus: %s\n", what);
	exit(1);
}

/* ---- the loader ---- */

static void *
read_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t n = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

	if (n <= 0)
		die("cannot read the blob");
	void *p = mem_alloc((size_t)n);
	if (pread(fd, p, (size_t)n, 0) != n)
		die("cannot read the blob");
	close(fd);
	*size = (size_t)n;
	return p;
}

static void
relocate(uint8_t *base, const Elf64_Dyn *dyn)
{
	const Elf64_Rela *rela = NULL;
	size_t size = 0;

	for (; dyn->d_tag != DT_NULL; dyn++) {
		if (dyn->d_tag == DT_RELA)
			rela = (const void *)(base + dyn->d_un.d_ptr);
		if (dyn->d_tag == DT_RELASZ)
			size = dyn->d_un.d_val;
	}
	for (size_t i = 0; i < size / sizeof(*rela); i++) {
		uint64_t v = (uint64_t)(uintptr_t)base + rela[i].r_addend;
		if (ELF64_R_TYPE(rela[i].r_info) != R_X86_64_RELATIVE)
			die("a relocation of another kind");
		memcpy(base + rela[i].r_offset, &v, sizeof(v));
	}
}

/* Map the blob as the target will have it; its table. */
static const struct agent_table *
load_blob(const char *path)
{
	size_t size, span = 0;
	uint8_t *file = read_file(path, &size);
	const Elf64_Ehdr *eh = (const void *)file;
	const Elf64_Phdr *ph = (const void *)(file + eh->e_phoff);
	const Elf64_Dyn *dyn = NULL;

	for (int i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD)
			span = MAX(span, ph[i].p_vaddr + ph[i].p_memsz);
	uint8_t *base = mmap(NULL, span, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		die("mmap");
	for (int i = 0; i < eh->e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD)
			memcpy(base + ph[i].p_vaddr, file + ph[i].p_offset,
			    ph[i].p_filesz);
		if (ph[i].p_type == PT_DYNAMIC)
			dyn = (const void *)(base + ph[i].p_vaddr);
	}
	if (dyn == NULL)
		die("no PT_DYNAMIC");
	relocate(base, dyn);
	for (int i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_flags & PF_X &&
		    mprotect(base + ph[i].p_vaddr,
			ROUND_UP(ph[i].p_memsz, 4096),
			PROT_READ | PROT_EXEC) != 0)
			die("mprotect");
	const struct agent_table *t = (const void *)(base + eh->e_entry);
	mem_free(file);
	if (t->magic != AGENT_MAGIC || t->version != AGENT_VERSION)
		die("the blob has no table");
	return t;
}

/* ---- comparing ---- */

static const struct agent_table *blob;
static unsigned ncases, nrecords, nfaults, nentries;

typedef void (*fire_fn)(struct vm_env *, uint32_t);

struct probes {
	uint32_t probe;
	uint64_t hits[8][VM_ARGS];
	unsigned nhits;
};

static void
fire(struct kit *k, const struct probes *p, fire_fn fn)
{
	for (unsigned i = 0; i < p->nhits; i++) {
		memcpy(k->env.hit, p->hits[i], sizeof(k->env.hit));
		k->env.timestamp += 1000;
		k->env.thread = 0x10001 + (i & 1);
		fn(&k->env, p->probe);
	}
}

static void
count(struct kit *k)
{
	const struct rec_hdr *r;
	uint32_t cookie = 0;

	while ((r = kit_record(k)) != NULL) {
		nrecords++;
		nfaults += r->epid == EPID_FAULT;
	}
	while (agg_next(kit_view(k), 0, &cookie) != NULL)
		nentries++;
}

static void
compare(struct kit *k, const struct probes *p, const char *what)
{
	uint8_t *before = mem_alloc(k->store.size);
	uint8_t *after = mem_alloc(k->store.size);
	struct vm_env env = k->env, env_after;
	struct fake_env target = k->target, target_after;

	memcpy(before, k->store.base, k->store.size);
	fire(k, p, ecb_fire_probe);
	memcpy(after, k->store.base, k->store.size);
	env_after = k->env;
	target_after = k->target;

	memcpy(k->store.base, before, k->store.size);
	k->env = env;
	k->target = target;
	fire(k, p, blob->fire_probe);

	for (uint32_t i = 0; i < k->store.size; i++)
		if (k->store.base[i] != after[i]) {
			fprintf(stderr, "corpus: %s: stores differ at %u\n",
			    what, i);
			exit(1);
		}
	if (memcmp(&target_after, &k->target, sizeof(target_after)) != 0 ||
	    memcmp(&env_after.fault, &k->env.fault, sizeof(env.fault)) != 0)
		die(what);
	count(k);
	ncases++;
	mem_free(before);
	mem_free(after);
}

/* ---- the corpus ---- */

/* Every arithmetic opcode on values of the hit. */
static void
case_arithmetic(void)
{
	static const uint64_t edge[] = { 0, 1, 5, 63, 64, -1ULL, INT64_MAX,
		(uint64_t)INT64_MIN };
	struct probes p = { .nhits = 8 };
	struct kit k;

	kit_init(&k);
	k.sizes.bufsize = 1 << 16;
	for (uint32_t op = DIF_OP_OR; op <= DIF_OP_SRA; op++) {
		if (op > DIF_OP_UREM && op != DIF_OP_SRA)
			continue;
		kit_clause(&k, NULL, 32);
		kit_rec(&k,
		    kit_difo(&k,
			KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_LDGS, DIF_VAR_ARG0, 1),
			    DIF_INSTR_INDEX(DIF_OP_LDGS, DIF_VAR_ARG1, 2),
			    DIF_INSTR(op, 1, 2, 3),
			    DIF_INSTR(DIF_OP_RET, 0, 0, 3)),
			NULL, 0, NULL, 0),
		    24, 8, 0);
	}
	kit_publish(&k);
	p.probe =
	    kit_probe(&k, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, -1);
	for (unsigned i = 0; i < 8; i++) {
		p.hits[i][0] = edge[i];
		p.hits[i][1] = edge[(i * 3 + 1) % 8];
	}
	compare(&k, &p, "arithmetic");
	kit_fini(&k);
}

/* Every subroutine on a string and up to two more arguments. */
static void
case_subroutines(void)
{
	static const char strs[] = "/usr//lib/../x\0a.b\0{\"a\":{\"b\":[7]}}";
	static const uint64_t ints[] = { FAKE_MEM_BASE, 3, 10 };

	for (uint32_t id = 0; id < DIF_SUBR_COUNT; id++)
		for (uint32_t kind = 0; kind < 8; kind++) {
			struct probes p = { .nhits = 2 };
			struct kit k;
			const char *why;
			uint32_t at;

			kit_init(&k);
			kit_clause(&k, NULL, 24 + 64);
#define ARG(bit, str, n)                                          \
	(kind >> (bit)&1 ? DIF_INSTR_INDEX(DIF_OP_SETS, str, 1) : \
			   DIF_INSTR_INDEX(DIF_OP_SETX, n, 1))
			struct difo *d = kit_difo(&k,
			    KIT_TEXT(ARG(0, 0, 0),
				DIF_INSTR(DIF_OP_PUSHTR, DIF_TYPE_STRING, 0, 1),
				ARG(1, 15, 1),
				DIF_INSTR(DIF_OP_PUSHTR, DIF_TYPE_STRING, 0, 1),
				ARG(2, 19, 2),
				DIF_INSTR(DIF_OP_PUSHTV, DIF_TYPE_CTF, 0, 1),
				DIF_INSTR_INDEX(DIF_OP_CALL, id, 2),
				DIF_INSTR(DIF_OP_RET, 0, 0, 2)),
			    ints, 3, strs, sizeof(strs));
#undef ARG
			if (verify_difo(&k.arena, d, &k.globals, &why, &at) !=
			    0) {
				kit_fini(&k);
				continue;
			}
			kit_rec(&k, d, 24, 8, 0);
			kit_rec(&k, d, 32, 56, ACT_F_STRING);
			kit_publish(&k);
			fake_env_str(&k.target, 0, "target/text, a.b");
			p.probe = kit_probe(&k, 0, 0, -1);
			compare(&k, &p, "subroutine");
			kit_fini(&k);
		}
}

/* Aggregating functions over a range of values, with stack and string keys. */
static void
case_aggregations(void)
{
	static const int64_t values[] = { 0, 1, -1, 1000, -70000, INT64_MAX,
		INT64_MIN, 12 };
	struct probes p = { .nhits = 8 };
	struct kit k;

	kit_init(&k);
	k.sizes.aggsize = 1 << 16;
	for (int f = AGG_COUNT; f <= AGG_QUANTIZE; f++)
		kit_agg(&k, (enum dif_agg)f, 16 + 40, 0);
	kit_agg(&k, AGG_LQUANTIZE, 56, LQUANTIZE_ENCODE(-5, 10, 7));
	kit_agg(&k, AGG_LLQUANTIZE, 56, LLQUANTIZE_ENCODE(10, 0, 3, 20));
	kit_clause(&k, NULL, 0);
	for (uint32_t i = 0; i < k.globals.aggs.len; i++) {
		kit_rec(
		    &k, kit_string(&k, "key"), 0, 16, ACT_F_KEY | ACT_F_STRING);
		struct prog_act *a = kit_act(&k, OP_STACK, NULL);
		a->off = 16;
		a->arg = 4;
		a->flags = ACT_F_KEY;
		a = kit_act(
		    &k, OP_AGG, i == 0 ? NULL : kit_load(&k, DIF_VAR_ARG0));
		a->arg = i + 1;
	}
	kit_publish(&k);
	k.target.nstack = 3;
	p.probe = kit_probe(&k, 0, 0, -1);
	for (unsigned i = 0; i < 8; i++)
		p.hits[i][0] = (uint64_t)values[i];
	compare(&k, &p, "aggregations");
	kit_fini(&k);
}

/* Programs from a fixed stream of random bytes. */
static void
case_generated(uint64_t seed)
{
	uint8_t bytes[1200];
	struct gen g = { bytes, sizeof(bytes) };
	struct probes p = { .nhits = 6 };
	struct kit k;

	for (size_t i = 0; i < sizeof(bytes); i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		bytes[i] = (uint8_t)(seed >> 32);
	}
	kit_init(&k);
	gen_globals(&k);
	k.sizes.policy = bytes[0] & 1 ? POLICY_RING : POLICY_SWITCH;
	gen_clause(&k, &g);
	gen_clause(&k, &g);
	kit_publish(&k);
	k.target.nstack = 4;
	p.probe = kit_probe(&k, 0, 0, 1, -1);
	kit_probe(&k, IMG_PROBE_ERROR, 1, -1);
	for (unsigned i = 0; i < p.nhits; i++)
		p.hits[i][0] = gen_u32(&g);
	fake_env_put(&k.target, 0, bytes, 512);
	compare(&k, &p, "generated");
	kit_fini(&k);
}

/* ---- hits as in a target ---- */

/* 4. of inject/agent/agent.h: on the lane's stack. */
static void
on_stack(struct lane *l, uint32_t tp_id)
{
	uint64_t saved;

	__asm__ volatile(
	    "movq %%rsp, %0\n\t"
	    "movq %1, %%rsp\n\t"
	    "cld\n\t"
	    "call *%3\n\t"
	    "movq %0, %%rsp"
	    : "=&b"(saved), "+D"(l), "+S"(tp_id)
	    : "r"(blob->hit)
	    : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
}

/* What a trampoline does; 0x1234 stands for the site. */
static void
hit(struct lane *l, uint32_t tp_id, uint64_t arg0)
{
	if (l->busy != 0) {
		l->lost++;
		return;
	}
	l->busy = (uint64_t)(uintptr_t)&arg0;
	memset(&l->regs, 0, sizeof(l->regs));
	l->regs.r[UREG_RDI] = arg0;
	l->regs.r[UREG_RIP] = 0x1234;
	l->regs.r[UREG_RSP] = l->busy;
	on_stack(l, tp_id);
	l->busy = 0;
}

static struct region
map_shared(int fd, uint32_t size, int prot)
{
	struct region r = { mmap(NULL, size, prot, MAP_SHARED, fd, 0), size };

	if ((void *)r.base == MAP_FAILED)
		die("mmap");
	return r;
}

/* A region that the tracer and the target have at two addresses. */
struct twice {
	struct region here, there;
};

static struct twice
map_twice(const struct region *from, int prot)
{
	int fd = memfd_create("corpus", MFD_CLOEXEC);
	struct twice t;

	if (fd < 0 || ftruncate(fd, from->size) != 0)
		die("memfd");
	t.here = map_shared(fd, from->size, PROT_READ | PROT_WRITE);
	memcpy(t.here.base, from->base, from->size);
	t.there = map_shared(fd, from->size, prot);
	close(fd);
	return t;
}

static void
unmap_twice(const struct twice *t)
{
	munmap(t->here.base, t->here.size);
	munmap(t->there.base, t->there.size);
}

/* Every firing's: in the clauses below arg0 is rdi, arg1 the site. */
static void
add_site(struct kit *k, uint32_t probe, uint32_t tp_id)
{
	static const struct argloc args[] = {
		{ ARGLOC_REG, 8, 0, UREG_RDI, 0, 0, 0, 0, 0 },
		{ ARGLOC_REG, 8, 0, UREG_RIP, 0, 0, 0, 0, 0 },
	};

	image_add_site(k->im, probe, tp_id, image_add_args(k->im, args, 2), 2);
}

#define WORD 0x500 /* self->word = arg0 */
#define TEXT 0x501 /* self->text = "..." */

static struct difo *
assign(struct kit *k)
{
	static const char text[] = "in the lane";

	return kit_difo(k,
	    KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_LDGS, DIF_VAR_ARG0, 1),
		DIF_INSTR_INDEX(DIF_OP_STTS, WORD, 1),
		DIF_INSTR_INDEX(DIF_OP_SETS, 0, 2),
		DIF_INSTR_INDEX(DIF_OP_STTS, TEXT, 2),
		DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
	    NULL, 0, text, sizeof(text));
}

static struct difo *
load_self(struct kit *k, uint32_t id)
{
	struct difo *d = kit_difo(k,
	    KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_LDTS, id, 1),
		DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
	    NULL, 0, NULL, 0);

	if (id == TEXT)
		d->rtype = (struct dif_type){ DIF_TYPE_STRING, CTF_UNKNOWN,
			DIF_BY_REF, 0, 64 };
	return d;
}

/* A program, and a thread store as the tracer has it and as the target has it. */
struct inside {
	struct kit k;
	struct twice image, store;
	struct lane_view v;
	uint32_t probe[4];
};

/* Clauses: 0 records and counts, 1 assigns, 2 records what was assigned, 3 asks
 * for memory of the target. */
static void
inside_program(struct inside *in)
{
	static const uint32_t vars[] = { DIF_VAR_ARG0, DIF_VAR_ARG1,
		DIF_VAR_PID, DIF_VAR_TID, DIF_VAR_TIMESTAMP,
		DIF_VAR_WALLTIMESTAMP };
	struct kit *k = &in->k;

	kit_init(k);
	kit_var(k, DIF_THREAD, DIF_SCALAR, WORD);
	kit_ref_var(k, DIF_THREAD, DIF_SCALAR, TEXT, true, 64);
	struct prog_agg *a = kit_agg(k, AGG_COUNT, 0, 0);
	kit_clause(k, NULL, 24 + 48);
	for (uint32_t i = 0; i < 6; i++)
		kit_rec(k, kit_load(k, vars[i]), 24 + 8 * i, 8, 0);
	kit_act(k, OP_AGG, NULL)->arg = a->id;
	kit_clause(k, NULL, 0);
	kit_act(k, OP_EXPR, assign(k));
	kit_clause(k, NULL, 24 + 8 + 32);
	kit_rec(k, load_self(k, WORD), 24, 8, 0);
	kit_rec(k, load_self(k, TEXT), 32, 32, ACT_F_STRING);
	kit_clause(k, NULL, 32);
	kit_rec(k, kit_const(k, FAKE_MEM_BASE), 24, 8, ACT_F_BYREF);
	kit_publish(k);
	for (uint32_t i = 0; i < 4; i++) {
		in->probe[i] = kit_probe(k, 0, (int)i, -1);
		add_site(k, in->probe[i], 10 + i);
	}
	kit_threads(k, 2);
}

static void
inside_begin(struct inside *in)
{
	struct lane_owner owner = { .thread = 77, .pid = 1234, .tid = 1235 };

	memset(in, 0, sizeof(*in));
	inside_program(in);
	in->image = map_twice(&in->k.image, PROT_READ);
	in->store = map_twice(&in->k.threads, PROT_READ | PROT_WRITE);
	if (!store_view(&in->image.here, &in->store.here, 1, &in->v))
		die("no lane");
	lane_give(&in->v, &owner);
	*blob->agent = (struct agent){
		.magic = AGENT_MAGIC,
		.version = AGENT_VERSION,
		.image_base = (uint64_t)(uintptr_t)in->image.there.base,
		.image_size = image_hdr(in->k.im)->used,
		.store_base = (uint64_t)(uintptr_t)in->store.there.base,
		.store_size = in->store.there.size,
		.clock = (uint64_t)(uintptr_t)clock_gettime,
	};
}

static void
inside_end(struct inside *in)
{
	unmap_twice(&in->image);
	unmap_twice(&in->store);
	kit_fini(&in->k);
}

/* A hit in the lane, where the target has it. */
static void
come_by(struct inside *in, uint32_t tp_id, uint64_t arg0)
{
	hit((void *)(in->store.there.base +
		((uint8_t *)in->v.lane - in->store.here.base)),
	    tp_id, arg0);
}

static const void *
next_of(const struct inside *in)
{
	uint32_t avail;
	const void *rec = buf_peek(&in->v, &avail);
	uint32_t size =
	    rec != NULL ? buf_rec_size(&in->k.image, rec, avail) : 0;

	if (size == 0)
		die("a record is not there");
	buf_advance(&in->v, size);
	return rec;
}

static uint64_t
clock_now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Registers, ids and times are those of the hit. */
static void
check_record(struct inside *in)
{
	uint64_t before = clock_now(CLOCK_MONOTONIC);
	uint64_t real = clock_now(CLOCK_REALTIME), w[6];
	const struct lane *l = in->v.lane;

	come_by(in, 10, 0x11);
	const struct rec_hdr *r = next_of(in);
	uint64_t after = clock_now(CLOCK_MONOTONIC);
	memcpy(w, r + 1, sizeof(w));
	if (r->epid != 1 || r->pid != 1234 || r->tid != 1235 ||
	    r->timestamp < before || r->timestamp > after ||
	    r->cpu >= (uint32_t)sysconf(_SC_NPROCESSORS_CONF))
		die("the header of a record from inside is wrong");
	if (w[0] != 0x11 || w[1] != 0x1234 || w[2] != 1234 || w[3] != 1235 ||
	    w[4] != r->timestamp || w[5] < real)
		die("values from inside are wrong");
	uint32_t cookie = 0;
	const struct agg_entry *e = agg_next(&in->v, 0, &cookie);
	if (e == NULL || *(const uint64_t *)(const void *)e->data != 1)
		die("an aggregation from inside is wrong");
	if (l->hits != 1 || l->lost != 0 || l->busy != 0)
		die("a hit is not counted");
}

static void
check_self(const struct rec_hdr *r, uint64_t word, const char *what)
{
	uint64_t w;

	if (r == NULL || r->epid != 3)
		die(what);
	memcpy(&w, r + 1, sizeof(w));
	if (w != word || strcmp((const char *)(r + 1) + 8, "in the lane") != 0)
		die(what);
}

/* self-> set inside is what the tracer sees, which has the store elsewhere; and
 * the other way round. */
static void
check_selves(struct inside *in)
{
	struct kit *k = &in->k;

	come_by(in, 11, 42);
	k->env.own = &in->v;
	k->env.thread = 77;
	ecb_fire_probe(&k->env, in->probe[2]);
	check_self(kit_record(k), 42, "self-> from inside, for the tracer");
	k->env.hit[0] = 43;
	ecb_fire_probe(&k->env, in->probe[1]);
	come_by(in, 12, 0);
	check_self(next_of(in), 43, "self-> from the tracer, inside");
	k->env.own = NULL;
	ecb_fire_probe(&k->env, in->probe[2]);
	const struct rec_hdr *r = kit_record(k);
	if (r != NULL && r->epid == 3)
		die("self-> of a lane is seen without the lane");
}

/* What cannot be had inside is a fault, what comes in between is lost, and a lane
 * that is nobody's is left alone. */
static void
check_refused(struct inside *in)
{
	struct lane *l = in->v.lane;

	come_by(in, 13, 0);
	const struct rec_fault *f = next_of(in);
	if (f->hdr.epid != EPID_FAULT || f->code != FLT_BADADDR)
		die("memory of the target, inside, is no fault");
	uint64_t hits = l->hits, head = l->head;
	l->busy = 8;
	come_by(in, 10, 0);
	l->busy = 0;
	if (l->lost != 1 || l->hits != hits)
		die("a hit in the middle of another is not lost");
	lane_take(&in->v);
	come_by(in, 10, 0);
	if (l->lost != 2 || l->hits != hits || l->head != head)
		die("a lane that is nobody's fires");
	if (blob->agent->broken)
		die("broken");
}

/* A lane that the target has written over does no harm, and is lost. */
static void
check_broken(struct inside *in)
{
	struct lane_owner owner = { .thread = 78 };

	lane_give(&in->v, &owner);
	in->v.lane->scratch_ref = 0xfffffff0;
	come_by(in, 10, 0);
	if (!blob->agent->broken || in->v.lane->hits != 0)
		die("a lane that makes no sense fires");
}

/* Below what a firing needs of the lane's stack nothing has been written: the
 * pages there have been given zero. */
static void
check_stack(const struct inside *in)
{
	const uint8_t *top = (const uint8_t *)in->v.lane;
	uint32_t unused = 0;

	while (unused < LANE_STACK + LANE_GAP &&
	    top[-(int64_t)(LANE_STACK + LANE_GAP) + unused] == 0)
		unused++;
	printf("%u bytes of a lane's stack were used\n",
	    LANE_STACK + LANE_GAP - unused);
	if (unused < LANE_GAP + LANE_STACK / 2)
		die("a hit uses more than half of its stack");
	if (unused == LANE_STACK + LANE_GAP)
		die("a hit did not use the lane's stack");
}

static void
hits_inside(void)
{
	struct inside *in = mem_alloc(sizeof(*in));

	inside_begin(in);
	check_record(in);
	check_selves(in);
	check_refused(in);
	check_stack(in);
	check_broken(in);
	inside_end(in);
	mem_free(in);
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		die("usage: corpus BLOB");
	blob = load_blob(argv[1]);
	case_arithmetic();
	case_subroutines();
	case_aggregations();
	for (uint64_t seed = 1; seed <= 2000; seed++)
		case_generated(seed * 0x9e3779b97f4a7c15ULL);
	hits_inside();
	printf("%u programs alike in both builds: %u records, %u of them "
	       "faults, %u aggregation entries\n",
	    ncases, nrecords, nfaults, nentries);
	if (nrecords == 0 || nfaults == 0 || nfaults == nrecords ||
	    nentries == 0)
		die("the corpus does not exercise what it should");
	return 0;
}
