/*
 * One corpus through both builds of dlang/vm/: each case is a program in an
 * image; it is fired through the hosted machine and, from the same state,
 * through the one in the agent's blob, and the two stores and the two fake
 * targets must be equal to the byte.  Then the blob's own entry is called with
 * known registers.
 *
 * usage: corpus BLOB
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

static const struct agent_table *agent;
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
	fire(k, p, agent->fire_probe);

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

/* ---- the blob's own entry ---- */

/*
 * What a trampoline does (entry.S), with marks in the registers: out[] is what
 * they are afterwards.  0x1234 stands for the place to return to.
 */
void corpus_enter(
    struct agent *a, uint64_t tp_id, void (*entry)(void), uint64_t out[8]);

__asm__(".text\n"
	".type corpus_enter, @function\n"
	".globl corpus_enter\n"
	"corpus_enter:\n"
	"	pushq %rbp; pushq %rbx; pushq %r12\n"
	"	pushq %r13; pushq %r14; pushq %r15\n"
	"	movq %rcx, %r13\n"
	"	movq $0xb, %rbx; movq $0xc, %r12; movq $0xf, %r15\n"
	"	movq $0xb9, %rbp; movq $0xe, %r14; movq $0x8, %r8\n"
	"	leaq -128(%rsp), %rsp\n"
	"	pushq $0x1234; pushq %rdi; pushq %rsi\n"
	"	movq %rdx, %rax\n"
	"	movq $0x11, %rdi; movq $0x22, %rsi; stc\n"
	"	call *%rax\n"
	"	leaq 24+128(%rsp), %rsp\n"
	"	movq %rbx, 0(%r13); movq %r12, 8(%r13)\n"
	"	movq %r15, 16(%r13); movq %rbp, 24(%r13)\n"
	"	movq %rdi, 32(%r13); movq %rsi, 40(%r13)\n"
	"	movq %r8, 48(%r13); setc %al; movzbl %al, %eax\n"
	"	movq %rax, 56(%r13)\n"
	"	popq %r15; popq %r14; popq %r13\n"
	"	popq %r12; popq %rbx; popq %rbp\n"
	"	ret\n"
	".size corpus_enter, . - corpus_enter\n");

/* A hit that comes by the entry, with the blob's own environment: registers,
 * a word of the stack, a string in memory. */
static void
entry(void)
{
	static const char text[] = "text of the target";
	static const uint64_t after[8] = { 0xb, 0xc, 0xf, 0xb9, 0x11, 0x22, 8,
		1 };
	static const struct argloc args[] = {
		{ ARGLOC_REG, 8, 0, UREG_RDI, 0, 0, 0, 0, 0 },
		{ ARGLOC_REG, 8, 0, UREG_RIP, 0, 0, 0, 0, 0 },
		{ ARGLOC_STACK, 8, 0, 0, 0, 0, 0, 0, 40 }, /* saved rbp */
		{ ARGLOC_STACK, 8, 0, 0, 0, 0, 0, 0, INT64_MIN },
	};
	uint64_t out[8], string = (uint64_t)(uintptr_t)text;
	struct agent a = { .pid = (uint32_t)getpid(), .nlanes = 1 };
	struct kit k;

	kit_init(&k);
	kit_clause(&k, NULL, 24 + 32 + 32);
	for (uint32_t i = 0; i < 4; i++)
		kit_rec(&k, kit_load(&k, DIF_VAR_ARG0 + i), 24 + 8 * i, 8, 0);
	kit_rec(&k, kit_const(&k, string), 56, 32, ACT_F_STRING);
	kit_clause(&k, NULL, 32);
	kit_rec(&k, kit_const(&k, 1), 24, 8, ACT_F_STRING); /* faults */
	kit_publish(&k);
	uint32_t probe = kit_probe(&k, 0, 0, 1, -1);
	image_add_site(k.im, probe, 9, image_add_args(k.im, args, 4), 4);
	a.image_base = (uint64_t)(uintptr_t)k.image.base;
	a.image_size = k.image.size;
	a.store_base = (uint64_t)(uintptr_t)k.store.base;
	a.store_size = k.store.size;
	corpus_enter(&a, 9, agent->hit, out);
	if (memcmp(out, after, sizeof(out)) != 0)
		die("the entry does not restore registers");

	const struct rec_hdr *r = kit_record(&k);
	uint64_t v[4];
	if (r == NULL || r->epid != 1 || r->tid != (uint32_t)gettid() ||
	    a.lost != 0)
		die("the entry records nothing");
	memcpy(v, r + 1, sizeof(v));
	if (v[0] != 0x11 || v[1] != 0x1234 || v[3] != 0 ||
	    strcmp((const char *)(r + 1) + 32, text) != 0)
		die("the blob's environment gives wrong values");
	r = kit_record(&k);
	if (r == NULL || r->epid != EPID_FAULT)
		die("a bad address is no fault in the blob");
	kit_fini(&k);
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		die("usage: corpus BLOB");
	agent = load_blob(argv[1]);
	case_arithmetic();
	case_subroutines();
	case_aggregations();
	for (uint64_t seed = 1; seed <= 2000; seed++)
		case_generated(seed * 0x9e3779b97f4a7c15ULL);
	entry();
	printf("%u programs alike in both builds: %u records, %u of them "
	       "faults, %u aggregation entries\n",
	    ncases, nrecords, nfaults, nentries);
	if (nrecords == 0 || nfaults == 0 || nfaults == nrecords ||
	    nentries == 0)
		die("the corpus does not exercise what it should");
	return 0;
}
