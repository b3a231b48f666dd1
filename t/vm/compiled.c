/*
 * Compiled DIFOs (dlang/jit/) beside the interpreter: compiled N SEED FILE...
 *
 * Each of N generated DIFOs, and each DIFO of the D programs in the files, runs
 * twice from one state: by vm_run() and as machine code.  The result, the
 * fault, the environment, the store and the double of the target must be the
 * same.  Registers, places of arguments and memory of the target are random.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "dlang/base/mem.h"
#include "dlang/cc/cc.h"
#include "dlang/jit/jit.h"
#include "t/fake/gen.h"
#include "t/fake/world.h"

#define CODE_SIZE (4U << 20)
#define ROUNDS    16 /* DIFOs of one program */

static uint64_t nrun, nfaults, nrefused, nbytes, ninstrs;

/* ---- random numbers ---- */

static uint64_t state;

static uint64_t
draw(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static uint32_t
below(uint32_t n)
{
	return (uint32_t)(draw() % n);
}

/* ---- memory for code ---- */

/* Near the helpers, so that calls reach them, and far from them. */
static uint8_t *places[2];

static uint8_t *
map_code(uint64_t hint)
{
	uint8_t *p = mmap((void *)(uintptr_t)hint, CODE_SIZE,
	    PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	    0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(77);
	}
	return p;
}

/* ---- one DIFO, both ways ---- */

/* All that a run can change. */
struct snapshot {
	struct vm_env env;
	struct fake_env target;
	uint8_t *store, *threads;
	uint64_t value;
	int result;
};

static uint8_t *
copy_of(const struct region *r)
{
	uint8_t *p = r->size > 0 ? mem_alloc(r->size) : NULL;

	if (p != NULL)
		memcpy(p, r->base, r->size);
	return p;
}

static void
take(struct snapshot *s, const struct kit *k)
{
	s->env = k->env;
	s->target = k->target;
	s->store = copy_of(&k->store);
	s->threads = copy_of(&k->threads);
}

static void
restore(struct kit *k, const struct snapshot *s)
{
	k->env = s->env;
	k->target = s->target;
	memcpy(k->store.base, s->store, k->store.size);
	if (k->threads.size > 0)
		memcpy(k->threads.base, s->threads, k->threads.size);
}

static void
drop(struct snapshot *s)
{
	mem_free(s->store);
	mem_free(s->threads);
}

static bool
differs(const char *what, const void *a, const void *b, size_t n)
{
	const uint8_t *x = a, *y = b;

	for (size_t i = 0; i < n; i++)
		if (x[i] != y[i]) {
			printf("%s: the byte at %zu is %02x, and %02x when "
			       "compiled\n",
			    what, i, x[i], y[i]);
			return true;
		}
	return false;
}

static void
show(const struct kit *k, const struct img_difo *i, const uint8_t *code,
    size_t size)
{
	struct difo d = {
		.text = (void *)(k->image.base + i->text_ref),
		.len = i->len,
		.ints = (void *)(k->image.base + i->ints_ref),
		.nints = i->nints,
		.strs = (void *)(k->image.base + i->strs_ref),
		.strs_len = i->strs_len,
		.rtype = i->rtype,
	};
	FILE *f = fopen("/dev/stdout", "a");

	dis_difo(f != NULL ? f : stdout, &d);
	if (f != NULL)
		fclose(f);
	printf("code:");
	for (size_t n = 0; n < size; n++)
		printf(" %02x", code[n]);
	printf("\n");
}

static void
compare(const struct kit *k, const struct snapshot *a, const struct snapshot *b,
    const char *name, const struct img_difo *d, const uint8_t *code,
    size_t size)
{
	bool bad = a->result != b->result || a->value != b->value;

	if (bad)
		printf("result %d %#" PRIx64 ", when compiled %d %#" PRIx64
		       "\n",
		    a->result, a->value, b->result, b->value);
	if (a->env.fault.code != b->env.fault.code ||
	    a->env.fault.offset != b->env.fault.offset ||
	    a->env.fault.value != b->env.fault.value) {
		printf("fault %d at %d of %#" PRIx64
		       ", when compiled %d at %d of %#" PRIx64 "\n",
		    a->env.fault.code, a->env.fault.offset, a->env.fault.value,
		    b->env.fault.code, b->env.fault.offset, b->env.fault.value);
		bad = true;
	}
	bad |= differs("environment", &a->env, &b->env, sizeof(a->env));
	bad |= differs("target", &a->target, &b->target, sizeof(a->target));
	bad |= differs("store", a->store, b->store, k->store.size);
	bad |= differs("thread store", a->threads, b->threads, k->threads.size);
	if (!bad)
		return;
	printf("%s:", name);
	show(k, d, code, size);
	exit(1);
}

static void
run_both(struct kit *k, const struct img_difo *d, const char *name)
{
	uint8_t *code = places[nrun % 2];
	struct jit_place place = { (uintptr_t)code, &vm_helpers };
	struct snapshot before, after[2];
	const char *why;
	size_t size =
	    jit_difo(&k->image, d, &place, code, CODE_SIZE, NULL, &why);

	if (size == 0) {
		nrefused++;
		return;
	}
	take(&before, k);
	after[0].value = after[1].value = 0x5ca1ab1e;
	after[0].result = vm_run(&k->env, d, &after[0].value);
	take(&after[0], k);
	restore(k, &before);
	after[1].result =
	    ((jit_fn *)(uintptr_t)code)(&k->env, d, &after[1].value);
	take(&after[1], k);
	compare(k, &after[0], &after[1], name, d, code, size);
	nrun++;
	nfaults += after[0].result != 0;
	nbytes += size;
	ninstrs += d->len;
	drop(&before);
	drop(&after[0]);
	drop(&after[1]);
}

/* ---- random states ---- */

static uint64_t
any_word(void)
{
	static const uint64_t edges[] = { 0, 1, (uint64_t)-1, (uint64_t)-2,
		(uint64_t)INT64_MIN, INT64_MAX };

	switch (below(8)) {
	case 0: return below(16);
	case 5:
	case 6: return edges[below(6)];
	case 1: return -(uint64_t)below(16);
	case 2: return FAKE_MEM_BASE + below(FAKE_MEM_SIZE + 16);
	case 3: return VMA((uint64_t)below(4), below(40000));
	case 4: return 1ULL << below(64);
	default: return draw();
	}
}

static struct uregs regs;
static struct argloc args[ARGLOC_MAX];

static void
any_arguments(void)
{
	static const uint8_t sizes[] = { 1, 2, 4, 8, 8, 8 };

	for (unsigned i = 0; i < ARGLOC_MAX; i++)
		args[i] = (struct argloc){
			.kind = below(3) == 0 ? (uint8_t)below(10) : ARGLOC_REG,
			.size = sizes[below(6)],
			.is_signed = below(2) == 0,
			.reg = (uint8_t)below(UREG_COUNT),
			.index = below(2) == 0 ? ARGLOC_NOREG : 3,
			.scale = 8,
			.shift = below(8) == 0 ? 8 : 0,
			.disp = (int64_t)any_word(),
		};
}

static void
any_state(struct kit *k)
{
	struct vm_env *env = &k->env;

	for (unsigned i = 0; i < UREG_COUNT; i++) {
		regs.r[i] = any_word();
		k->target.regs[i] = any_word();
	}
	any_arguments();
	for (unsigned i = 0; i < VM_ARGS; i++)
		env->hit[i] = any_word();
	for (unsigned i = 0; i < 64; i++) {
		uint64_t w = below(2) == 0 ? any_word() : 0;
		memcpy(k->target.mem + below(FAKE_MEM_SIZE - 8), &w, 8);
	}
	env->regs = below(4) == 0 ? NULL : &regs;
	env->args = below(4) == 0 ? NULL : args;
	env->nargs = env->args != NULL ? below(ARGLOC_MAX + 1) : 0;
	env->own = k->lanes != NULL && below(2) == 0 ? &k->lanes[0] : NULL;
	env->epid = below(100);
	env->timestamp = below(8) == 0 ? 0 : draw();
	if (vm_begin(env) != 0)
		abort();
	/* Sometimes scratch is nearly used up, and sometimes there is an old
	 * fault. */
	if (below(4) == 0)
		env->scratch_used = env->scratch_size & ~7U;
	if (below(4) == 0)
		env->fault = (struct vm_fault){ FLT_BADADDR, 4, 99 };
}

/* ---- generated programs ---- */

static uint32_t
dense_var(uint32_t op)
{
	static const uint16_t ids[DIF_OP_COUNT] = { [DIF_OP_LDGS] = 0,
		[DIF_OP_STGS] = 0,
		[DIF_OP_LDTS] = 3,
		[DIF_OP_STTS] = 3,
		[DIF_OP_LDLS] = 5,
		[DIF_OP_STLS] = 5,
		[DIF_OP_LDGAA] = 8,
		[DIF_OP_STGAA] = 8,
		[DIF_OP_LDTAA] = 10,
		[DIF_OP_STTAA] = 10 };
	/* The kinds in the order of gen_globals(). */
	uint32_t n = op == DIF_OP_LDGS || op == DIF_OP_STGS ||
		op == DIF_OP_LDLS || op == DIF_OP_STLS ?
	    3 :
	    2;

	if (op == DIF_OP_LDGS && below(3) != 0)
		return below(2) == 0 ? DIF_VAR_ARG0 + below(10) :
				       0x100 + below(0x22);
	return DIF_VAR_USER + ids[op] + below(n);
}

static dif_instr
dense_instr(uint32_t at, uint32_t len, uint32_t nints, uint32_t nstrs)
{
	static const enum dif_form forms[] = {
#define DIF_OP(n, NAME, text, form) [n] = DIF_FORM_##form,
#include "dlang/dif_ops.def"
#undef DIF_OP
	};
	uint32_t op = 1 + below(DIF_OP_COUNT - 1);
	uint32_t r1 = below(8), r2 = below(8), rd = 1 + below(7);

	switch (forms[op]) {
	case DIF_FORM_RRR:
	case DIF_FORM_COPY: return DIF_INSTR(op, r1, r2, rd);
	case DIF_FORM_RR:
	case DIF_FORM_LOAD:
	case DIF_FORM_STORE: return DIF_INSTR(op, r1, 0, rd);
	case DIF_FORM_CMP: return DIF_INSTR(op, r1, r2, 0);
	case DIF_FORM_TST: return DIF_INSTR(op, r1, 0, 0);
	case DIF_FORM_BRANCH:
		return DIF_INSTR_BRANCH(
		    op, at + 1 + below(VM_MIN(len - at - 1, 6)));
	case DIF_FORM_RET:
		return below(8) == 0 ? DIF_INSTR(op, 0, 0, r1) :
				       DIF_INSTR(DIF_OP_NOP, 0, 0, 0);
	case DIF_FORM_SETX: return DIF_INSTR_INDEX(op, below(nints), rd);
	case DIF_FORM_SETS: return DIF_INSTR_INDEX(op, below(nstrs), rd);
	case DIF_FORM_LDARRAY: return DIF_INSTR(DIF_OP_LDGA, below(4), r2, rd);
	case DIF_FORM_LDVAR:
	case DIF_FORM_STVAR: return DIF_INSTR_INDEX(op, dense_var(op), rd);
	case DIF_FORM_CALL:
		return DIF_INSTR_INDEX(op, below(DIF_SUBR_COUNT), rd);
	case DIF_FORM_PUSHREF: return DIF_INSTR(op, below(2), r2, r1);
	case DIF_FORM_PUSHVAL: return DIF_INSTR(op, 0, 0, r1);
	case DIF_FORM_NONE: return DIF_INSTR(op, 0, 0, 0);
	case DIF_FORM_XLATE: break;
	}
	return DIF_INSTR(DIF_OP_NOP, 0, 0, 0);
}

/* A comparison and a branch, as the compiler writes them. */
static void
dense_branch(dif_instr *text, uint32_t n, uint32_t len)
{
	static const uint8_t ops[] = { DIF_OP_CMP, DIF_OP_CMP, DIF_OP_TST,
		DIF_OP_SCMP };
	uint32_t op = ops[below(4)];

	text[n] = DIF_INSTR(op, below(8), op == DIF_OP_TST ? 0 : below(8), 0);
	text[n + 1] = DIF_INSTR_BRANCH(
	    DIF_OP_BA + below(11), n + 2 + below(VM_MIN(len - n - 2, 6)));
}

static struct difo *
dense_difo(struct kit *k)
{
	static const char strs[] = "\0abc\0/usr/lib\0"
				   "42\0a,b";
	dif_instr text[48];
	uint64_t ints[16];
	uint32_t len = 2 + below(46), n = 0;
	bool plain = below(2) == 0; /* conditions stay in the flags */

	for (unsigned i = 0; i < 16; i++)
		ints[i] = any_word();
	/* Values first, so that the rest has some. */
	for (; n + 1 < len && n < 6; n++)
		text[n] = DIF_INSTR_INDEX(DIF_OP_SETX, below(16), 1 + below(7));
	for (; n + 1 < len; n++) {
		if (n + 3 < len && below(5) == 0) {
			dense_branch(text, n++, len);
			continue;
		}
		text[n] = dense_instr(n, len, 16, sizeof(strs));
		uint32_t op = DIF_OP_OF(text[n]);
		if (plain && op >= DIF_OP_BE && op <= DIF_OP_BLEU)
			n--;
	}
	text[n] = DIF_INSTR(DIF_OP_RET, 0, 0, below(8));
	return kit_difo(k, text, len, ints, 16, strs, sizeof(strs));
}

static struct difo *
generate(struct kit *k)
{
	static uint8_t bytes[512];
	struct gen g = { bytes, sizeof(bytes) };

	if (below(2) == 0)
		return dense_difo(k);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)draw();
	return gen_difo(k, &g, false);
}

static void
generated(uint64_t n)
{
	for (uint64_t done = nrun; nrun - done < n;) {
		struct kit k;
		kit_init(&k);
		gen_globals(&k);
		kit_publish(&k);
		kit_threads(&k, 1);
		kit_give(&k, 0, 77);
		for (unsigned i = 0; i < ROUNDS; i++) {
			const char *why;
			uint32_t at;
			struct difo *d = generate(&k);
			if (verify_difo(&k.arena, d, &k.globals, &why, &at))
				continue;
			const struct img_difo *placed = kit_place(&k, d);
			any_state(&k);
			run_both(&k, placed, "generated");
		}
		kit_fini(&k);
	}
}

/* ---- programs in D ---- */

static uint64_t nfiles, nprograms, nrefused_text;

static void
clause_both(struct kit *k, const struct prog_clause *c, const char *name)
{
	uint64_t refused = nrefused;

	for (size_t i = 0; i <= 2 * c->nacts; i++) {
		struct difo *d = i == 2 * c->nacts ? c->pred :
		    i % 2 == 0                     ? c->acts[i / 2].difo :
						     c->acts[i / 2].difo2;
		if (d == NULL)
			continue;
		const struct img_difo *placed = kit_place(k, d);
		for (unsigned n = 0; n < 3; n++) {
			any_state(k);
			run_both(k, placed, name);
		}
	}
	nrefused_text += nrefused - refused;
}

static char *
text_of(const char *name)
{
	static char text[1 << 16];
	FILE *f = fopen(name, "r");
	size_t n = f != NULL ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f != NULL)
		fclose(f);
	text[n] = 0;
	return text;
}

/* Programs that ask for probes or types that the double of the world does not
 * have are left out. */
static void
program_both(const char *name)
{
	struct options opts;
	struct source source = { name, text_of(name), true };
	struct cc_input in = { .source = &source, .level = CC_NAME };
	struct prog *prog;
	struct diags d;
	struct kit k;

	nfiles++;
	options_init(&opts);
	struct cc *cc = cc_create(&fake_world, &opts);
	diags_init(&d);
	int error = cc_compile(cc, &in, &prog, &d);
	diags_fini(&d);
	if (error == 0) {
		nprograms++;
		kit_init(&k);
		k.globals = *cc_globals(cc);
		kit_publish(&k);
		for (size_t i = 0; i < prog->nclauses; i++)
			clause_both(&k, prog->clauses[i], name);
		memset(&k.globals, 0, sizeof(k.globals));
		kit_fini(&k);
		prog_destroy(prog);
	}
	cc_destroy(cc);
	options_fini(&opts);
}

int
main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: compiled N SEED FILE...\n");
		return 2;
	}
	if (!jit_possible())
		return 77;
	places[0] = map_code((uintptr_t)&vm_helpers & ~0xfffffffULL);
	places[1] = map_code(0x100000000000);
	state = strtoull(argv[2], NULL, 10);
	generated(strtoull(argv[1], NULL, 10));
	printf("%" PRIu64 " generated DIFOs alike, %" PRIu64
	       " of them with a fault; %" PRIu64 " not compiled\n",
	    nrun, nfaults, nrefused);
	uint64_t before = nrun;
	for (int i = 3; i < argc; i++)
		program_both(argv[i]);
	printf("%" PRIu64 " runs of %" PRIu64 " of %" PRIu64
	       " programs alike; %" PRIu64 " DIFOs not compiled\n",
	    nrun - before, nprograms, nfiles, nrefused_text);
	printf("%.1f bytes of code an instruction\n",
	    ninstrs > 0 ? (double)nbytes / (double)ninstrs : 0);
	return nrefused_text != 0;
}
