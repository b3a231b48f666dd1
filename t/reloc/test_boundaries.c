/*
 * Instruction boundaries of whole libraries, against objdump as the oracle:
 * every function symbol must be cut exactly as objdump cuts it, unless objdump
 * itself finds bytes there that are no instruction.  Capstone is asked too.
 *
 * libc and libm always; libcrypto and libjvm where they are installed, in
 * windows spread over their text, or whole with DTRAP_LONG=1.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disasm/func.h"
#include "dlang/base/vec.h"
#include "t/reloc/rig.h"

#define SAMPLE_WINDOWS 24
#define SAMPLE_SIZE    (128 * 1024)
#define TABLE_LINES    40

struct sym {
	uint64_t addr, size;
};

struct line {
	uint64_t addr;
	bool bad; /* objdump has no instruction here, or half of one */
};

struct lib {
	const char *path;
	uint8_t *image; /* whole file */
	size_t size;
	uint64_t text_addr, text_off, text_size; /* the executable segment */
	VEC(struct sym) syms;
	VEC(struct line) lines;
	unsigned functions, insns, skipped, checked, disagreed;
};

static int
sym_cmp(const void *a, const void *b)
{
	const struct sym *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void
lib_symbols(struct lib *lib, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Sym sym;

	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		gelf_getshdr(scn, &sh);
		if (sh.sh_type != SHT_DYNSYM && sh.sh_type != SHT_SYMTAB)
			continue;
		Elf_Data *data = elf_getdata(scn, NULL);
		for (size_t i = 0; i < sh.sh_size / sh.sh_entsize; i++) {
			gelf_getsym(data, (int)i, &sym);
			if (GELF_ST_TYPE(sym.st_info) != STT_FUNC &&
			    GELF_ST_TYPE(sym.st_info) != STT_GNU_IFUNC)
				continue;
			if (sym.st_shndx == SHN_UNDEF || sym.st_size == 0 ||
			    sym.st_value - lib->text_addr >= lib->text_size)
				continue;
			*vec_push(&lib->syms) =
			    (struct sym){ sym.st_value, sym.st_size };
		}
	}
	if (lib->syms.len != 0)
		qsort(lib->syms.at, lib->syms.len, sizeof(*lib->syms.at),
		    sym_cmp);
}

static bool
lib_open(struct lib *lib, const char *path)
{
	struct stat st;
	size_t n;
	GElf_Phdr ph;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	memset(lib, 0, sizeof(*lib));
	lib->path = path;
	if (fd < 0)
		return false;
	fstat(fd, &st);
	lib->size = (size_t)st.st_size;
	lib->image = mmap(NULL, lib->size, PROT_READ, MAP_PRIVATE, fd, 0);
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	ck_assert_ptr_nonnull(elf);
	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n; i++) {
		gelf_getphdr(elf, (int)i, &ph);
		if (ph.p_type == PT_LOAD && (ph.p_flags & PF_X)) {
			lib->text_addr = ph.p_vaddr;
			lib->text_off = ph.p_offset;
			lib->text_size = ph.p_filesz;
		}
	}
	lib_symbols(lib, elf);
	elf_end(elf);
	close(fd);
	return true;
}

static void
lib_close(struct lib *lib)
{
	munmap(lib->image, lib->size);
	vec_fini(&lib->syms);
	vec_fini(&lib->lines);
}

/* Does the line end in a REX without an instruction after it? */
static bool
lone_rex(const char *text)
{
	const char *rex = strstr(text, "rex");

	return rex != NULL && rex[strcspn(rex, " ")] == '\0';
}

/* objdump's boundaries in [start, stop). */
static void
lib_objdump(struct lib *lib, uint64_t start, uint64_t stop)
{
	char cmd[512], text[512];

	snprintf(cmd, sizeof(cmd),
	    "objdump -d --no-show-raw-insn --start-address=%#" PRIx64
	    " --stop-address=%#" PRIx64 " %s 2>/dev/null",
	    start, stop, lib->path);
	vec_clear(&lib->lines);
	FILE *in = popen(cmd, "re");
	ck_assert_ptr_nonnull(in);
	while (fgets(text, sizeof(text), in) != NULL) {
		char *end;

		if (text[0] != ' ')
			continue;
		uint64_t addr = strtoull(text, &end, 16);
		if (end[0] != ':' || end[1] != '\t')
			continue;
		end[strcspn(end, "<\n")] = '\0'; /* no symbol names */
		/* A line of its own for a REX says that it counts for
		 * nothing: that is text or a table, not code. */
		*vec_push(&lib->lines) = (struct line){ addr,
			strstr(end, "(bad)") != NULL ||
			    strstr(end, ".byte") != NULL ||
			    strstr(end, "%?") != NULL || lone_rex(end) };
	}
	ck_assert_int_eq(pclose(in), 0);
}

/* The index of the first line at or after addr. */
static size_t
line_at(const struct lib *lib, uint64_t addr)
{
	size_t lo = 0, hi = lib->lines.len;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (lib->lines.at[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct compare {
	struct lib *lib;
	size_t line;
	bool fwait; /* the last instruction was one, at fwait_addr */
	uint64_t fwait_addr;
};

static int
compare_insn(void *ctx, const struct func_insn *fi)
{
	struct compare *c = ctx;
	struct lib *lib = c->lib;
	uint64_t theirs =
	    c->line < lib->lines.len ? lib->lines.at[c->line].addr : 0;

	lib->insns++;
	/* objdump shows fwait and the x87 instruction after it as one. */
	if (c->fwait && fi->insn.addr == c->fwait_addr + 1 &&
	    fi->insn.addr != theirs && fi->insn.opcode >> 3 == 0xd8 >> 3) {
		c->fwait = false;
		return 0;
	}
	if (fi->insn.addr != theirs) {
		printf("%s: ours %#" PRIx64 " %s, objdump %#" PRIx64 "\n",
		    lib->path, fi->insn.addr, rig_bytes(&fi->insn), theirs);
		lib->disagreed++;
		return 1;
	}
	c->fwait = fi->insn.opcode == 0x9b;
	c->fwait_addr = fi->insn.addr;
	if (!insn_agreed(&fi->insn)) {
		printf("%s: %#" PRIx64 ": Capstone disagrees\n", lib->path,
		    theirs);
		lib->disagreed++;
	}
	c->line++;
	return 0;
}

static void
lib_compare_function(struct lib *lib, const struct sym *sym)
{
	struct compare c = { .lib = lib, .line = line_at(lib, sym->addr) };
	uint64_t stop;

	for (size_t i = c.line; i < lib->lines.len; i++) {
		if (lib->lines.at[i].addr >= sym->addr + sym->size)
			break;
		if (lib->lines.at[i].bad) {
			lib->skipped++;
			return;
		}
	}
	lib->functions++;
	enum func_end end =
	    func_walk(lib->image + lib->text_off + (sym->addr - lib->text_addr),
		sym->size, sym->addr, compare_insn, &c, &stop);
	if (end == FUNC_UNDECODABLE) {
		const uint8_t *p = lib->image + lib->text_off +
		    (sym->addr + stop - lib->text_addr);
		printf("%s: %#" PRIx64 ": undecodable: %02x %02x %02x %02x "
		       "%02x %02x\n",
		    lib->path, sym->addr + stop, p[0], p[1], p[2], p[3], p[4],
		    p[5]);
		lib->disagreed++;
	}
}

/* Bad lines come thick in tables, which are not to be compared. */
static bool
near_bad(const struct lib *lib, size_t i)
{
	size_t first = i > TABLE_LINES ? i - TABLE_LINES : 0;

	for (size_t n = first; n < lib->lines.len && n <= i + TABLE_LINES; n++)
		if (lib->lines.at[n].bad)
			return true;
	return false;
}

static bool
all_zero(const uint8_t *p, size_t n)
{
	while (n != 0 && *p == 0)
		p++, n--;
	return n == 0;
}

/*
 * Functions that have no symbol in a stripped library (the string functions
 * behind an ifunc, among others): every line of objdump's that another follows
 * is an instruction of that length.
 */
static void
lib_compare_lines(struct lib *lib)
{
	struct insn insn;

	for (size_t i = 0; i + 1 < lib->lines.len; i++) {
		const struct line *l = &lib->lines.at[i];
		uint64_t off = l->addr - lib->text_addr;
		uint64_t theirs = l[1].addr - l->addr;
		const uint8_t *p = lib->image + lib->text_off + off;

		if (near_bad(lib, i))
			continue;
		int err = insn_decode(p, lib->text_size - off, l->addr, &insn);
		if (err == 0 && insn.len == 1 && p[0] == 0x9b)
			continue;
		lib->checked++;
		if (err == 0 && insn.len == theirs)
			continue;
		/* Zeroes are not shown. */
		if (err == 0 && insn.len < theirs &&
		    all_zero(p + insn.len, theirs - insn.len))
			continue;
		printf("%s: %#" PRIx64 ": %s, objdump has %u bytes\n",
		    lib->path, l->addr, err == 0 ? rig_bytes(&insn) : "none",
		    (unsigned)theirs);
		lib->disagreed++;
	}
}

/* Compare the functions that lie whole in [start, stop). */
static void
lib_compare(struct lib *lib, uint64_t start, uint64_t stop)
{
	lib_objdump(lib, start, stop);
	lib_compare_lines(lib);
	for (size_t i = 0; i < lib->syms.len; i++) {
		const struct sym *s = &lib->syms.at[i];
		if (s->addr >= start && s->addr + s->size <= stop &&
		    (i == 0 || s->addr != s[-1].addr))
			lib_compare_function(lib, s);
	}
}

static bool
have_objdump(void)
{
	return system("objdump --version >/dev/null 2>&1") == 0;
}

/* Check one library, whole or in windows that start at functions. */
static void
check_lib(const char *path, bool whole)
{
	struct lib lib;

	if (!have_objdump()) {
		printf("SKIP %s: no objdump\n", path);
		return;
	}
	if (!lib_open(&lib, path)) {
		printf("SKIP %s: %s\n", path, strerror(errno));
		return;
	}
	ck_assert_uint_gt(lib.syms.len, 100);
	if (whole || getenv("DTRAP_LONG") != NULL) {
		lib_compare(&lib, lib.text_addr, lib.text_addr + lib.text_size);
	} else {
		size_t step = lib.syms.len / SAMPLE_WINDOWS;
		for (size_t i = 0; i < SAMPLE_WINDOWS; i++) {
			uint64_t start = lib.syms.at[i * step].addr;
			lib_compare(&lib, start, start + SAMPLE_SIZE);
		}
	}
	printf("%s: %u functions, %u instructions in them, %u functions "
	       "skipped, %u lines, %u disagreements\n",
	    path, lib.functions, lib.insns, lib.skipped, lib.checked,
	    lib.disagreed);
	fflush(stdout);
	ck_assert_uint_gt(lib.functions, 100);
	ck_assert_uint_eq(lib.disagreed, 0);
	lib_close(&lib);
}

START_TEST(libc_is_cut_as_objdump_cuts_it)
{
	check_lib("/lib/x86_64-linux-gnu/libc.so.6", true);
}
END_TEST

START_TEST(libm_is_cut_as_objdump_cuts_it)
{
	check_lib("/lib/x86_64-linux-gnu/libm.so.6", true);
}
END_TEST

START_TEST(libcrypto_is_cut_as_objdump_cuts_it)
{
	check_lib("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", false);
}
END_TEST

START_TEST(libjvm_is_cut_as_objdump_cuts_it)
{
	check_lib(
	    "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so", false);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("boundaries");
	TCase *t = tcase_create("boundaries");

	tcase_set_timeout(t, 600);
	tcase_add_test(t, libc_is_cut_as_objdump_cuts_it);
	tcase_add_test(t, libm_is_cut_as_objdump_cuts_it);
	tcase_add_test(t, libcrypto_is_cut_as_objdump_cuts_it);
	tcase_add_test(t, libjvm_is_cut_as_objdump_cuts_it);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
