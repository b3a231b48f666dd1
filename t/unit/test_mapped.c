/*
 * symbols/space/mapped: which file is behind a mapping, and what is read back from
 * memory when that file is gone.  The process is real; the kernel's own links to
 * mapped files are refused, as they are to a user without the capability, unless a
 * test allows them, so the file itself is included below.
 */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/maps.h"
#include "symbols/object.h"
#include "t/fake/fixture.h"
#include "t/unit/suite.h"

static bool links;      /* /proc/PID/map_files may be read */
static int links_error; /* what opening such a link says */

static int
double_open(const char *path, const char *display, struct object **out,
    const char **why)
{
	if (!links && strstr(path, "/map_files/") != NULL)
		return links_error != 0 ? links_error : -EPERM;
	return object_open(path, display, out, why);
}

#define object_open(path, display, out, why) \
	double_open(path, display, out, why)
#include "symbols/space/mapped.c"

static const char program[] =
    "#define _GNU_SOURCE\n#include <stdio.h>\n#include <dlfcn.h>\n"
    "#include <fcntl.h>\n#include <sys/mman.h>\n#include <sys/sendfile.h>\n"
    "int main(int n, char **args) {\n"
    "	char path[64]; int fd;\n"
    "	if (n > 2) {\n" /* from a copy in memory */
    "		fd = memfd_create(args[2], 0);\n"
    "		sendfile(fd, open(args[1], O_RDONLY), 0, 1 << 20);\n"
    "		sprintf(path, \"/proc/self/fd/%d\", fd);\n"
    "	}\n"
    "	void *h = dlopen(n > 2 ? path : args[1], RTLD_NOW);\n"
    "	printf(\"%p\\n\", h ? dlsym(h, \"lib_one\") : 0);\n"
    "	fflush(stdout);\n"
    "	return getchar() == 7; }\n";

static const char library[] = "int lib_one(void) { return 1; }\n"
			      "int lib_other(void) { return 2; }\n";

static struct child child;
static char *lib, *exe;
static struct maps maps;
static struct mapped_in in;
static struct object *found;
static const char *why;

static void
read_maps(void)
{
	maps_fini(&maps);
	maps = (struct maps){ 0 };
	ck_assert_int_eq(maps_read(child.pid, &maps), 0);
}

/* Compile everything, once for all tests. */
static void
make_files(void)
{
	if (access(fixture_path("new.so"), F_OK) == 0)
		return;
	fixture_cc("prog", program, "-ldl");
	fixture_cc("old.so", library, "-shared -fPIC");
	fixture_cc("new.so", "int lib_new(void) { return 3; }\n",
	    "-shared -fPIC -nostdlib");
}

/* A program that has loaded the library: from its file, or from a memfd of this
 * name. */
static void
start(const char *memfd)
{
	char *args[] = { (char *)"prog", lib, (char *)(uintptr_t)memfd, NULL };
	char line[64];

	child_start(&child, exe, args);
	child_line(&child, line, sizeof(line));
	ck_assert_str_ne(line, "(nil)");
	read_maps();
	in = (struct mapped_in){ child.pid, &child.mem, &maps };
}

static void
setup(void)
{
	make_files();
	exe = mem_strdup(fixture_path("prog"));
	lib = mem_strdup(fixture_path("lib.so"));
	fixture_sh("cp $DIR/old.so $DIR/lib.so");
	start(NULL);
}

static void
teardown(void)
{
	if (found != NULL)
		object_put(found);
	child_end(&child);
	maps_fini(&maps);
	mem_free(exe);
	mem_free(lib);
}

/* The code of a file. */
static struct map *
map_of(const char *path)
{
	vec_foreach(m, &maps.list)
		if (strcmp(m->path, path) == 0 && m->exec)
			return m;
	ck_abort_msg("%s is not mapped", path);
	return NULL;
}

static int
opens(const struct map *m)
{
	if (found != NULL)
		object_put(found);
	found = NULL;
	why = NULL;
	return mapped_open(&in, m, &found, &why);
}

/* It is the library, from its file. */
static void
is_library(bool whole)
{
	const struct sym *s = object_sym(found, "lib_one");

	ck_assert_ptr_nonnull(s);
	ck_assert_str_eq(object_path(found), lib);
	/* Memory has no sections. */
	ck_assert(object_has_symtab(found) == whole);
}

/* Put another library in its place. */
static void
replace(void)
{
	fixture_sh("cp $DIR/new.so $DIR/copy && mv $DIR/copy $DIR/lib.so");
	read_maps();
}

static struct map *
map_of_deleted(void)
{
	struct map *m = map_of(lib);

	ck_assert(m->deleted);
	return m;
}

START_TEST(the_file_of_that_name)
{
	ck_assert_int_eq(opens(map_of(lib)), 0);
	is_library(true);
	ck_assert_int_eq(opens(map_of(exe)), 0);
	ck_assert_ptr_nonnull(object_sym(found, "main"));
}
END_TEST

START_TEST(a_file_that_took_its_place_is_another_one)
{
	const struct map *m;

	replace();
	m = map_of_deleted();
	ck_assert_int_eq(opens(m), 0);
	is_library(false);
	ck_assert_ptr_null(object_sym(found, "lib_new"));
	/* The kernel does not always say so. */
	vec_foreach(i, &maps.list)
		i->deleted = false;
	ck_assert_int_eq(opens(m), 0);
	is_library(false);
}
END_TEST

START_TEST(memory_has_what_the_file_had)
{
	struct object *file = NULL;
	const struct sym *of_file, *of_memory;
	uint64_t bias = 0;

	fixture_sh("cp $DIR/lib.so $DIR/copy.so");
	ck_assert_int_eq(
	    (object_open)(fixture_path("copy.so"), "x", &file, &why), 0);
	replace();
	struct map *m = map_of_deleted();
	ck_assert_int_eq(opens(m), 0);
	static const char *const names[] = { "lib_one", "lib_other" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		of_file = object_sym(file, names[i]);
		of_memory = object_sym(found, names[i]);
		ck_assert_uint_eq(of_file->addr, of_memory->addr);
		ck_assert_uint_eq(of_file->size, of_memory->size);
	}
	if (object_build_id(file) != NULL)
		ck_assert_str_eq(object_build_id(file), object_build_id(found));
	ck_assert_int_eq(
	    object_mapping_bias(found, m->start, m->offset, true, &bias), 0);
	ck_assert_uint_eq(bias, m->start - m->offset);
	object_put(file);
}
END_TEST

START_TEST(the_kernels_link_finds_a_deleted_file)
{
	char path[PATH_MAX];

	replace();
	const struct map *m = map_of_deleted();
	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx",
	    (int)child.pid, (unsigned long)m->start, (unsigned long)m->end);
	if (access(path, R_OK) != 0)
		return; /* it needs a capability */
	links = true;
	ck_assert_int_eq(opens(m), 0);
	is_library(true);
}
END_TEST

/* Some file systems tell another device here than there. */
START_TEST(a_file_of_another_device_begins_as_memory_does)
{
	vec_foreach(i, &maps.list)
		i->dev ^= 0x5a5a;
	ck_assert_int_eq(opens(map_of(lib)), 0);
	is_library(true);
	/* Without the memory nobody knows. */
	struct reader none = { 0 };
	in.mem = &none;
	ck_assert_int_eq(opens(map_of(lib)), -ENOENT);
}
END_TEST

static unsigned differs_at; /* the byte of the library that is another one */

static int
read_changed(void *ctx, uint64_t addr, void *buf, size_t len)
{
	uint64_t at = *(uint64_t *)ctx + differs_at;
	int r = reader_read(&child.mem, addr, buf, len);

	if (r == 0 && at >= addr && at - addr < len)
		((uint8_t *)buf)[at - addr] ^= 0x40;
	return r;
}

START_TEST(one_that_begins_otherwise_is_not_it)
{
	uint64_t start = 0;
	struct reader changed = { read_changed, &start };

	vec_foreach(i, &maps.list) {
		i->dev ^= 0x5a5a;
		if (start == 0 && strcmp(i->path, lib) == 0)
			start = i->start;
	}
	in.mem = &changed;
	differs_at = 1023;
	ck_assert_int_eq(opens(map_of(lib)), 0);
	is_library(false);
	differs_at = 1024;
	ck_assert_int_eq(opens(map_of(lib)), 0);
	is_library(true);
	differs_at = 1; /* no ELF file at all */
	ck_assert_int_lt(opens(map_of(lib)), 0);
}
END_TEST

START_TEST(the_executable_has_a_link_of_its_own)
{
	struct map m = *map_of(exe);
	char nowhere[] = "/nowhere/prog";

	m.path = nowhere;
	ck_assert_int_eq(opens(&m), 0);
	ck_assert_ptr_nonnull(object_sym(found, "main"));
	ck_assert_str_eq(object_path(found), nowhere);
	m.deleted = true;
	ck_assert_int_eq(opens(&m), 0);
	ck_assert(object_has_symtab(found));
}
END_TEST

START_TEST(a_memfd_is_opened_by_a_descriptor)
{
	child_end(&child);
	start("made.so");
	struct map *m = map_of("/memfd:made.so");
	/* Also without its memory. */
	in.mem = &(struct reader){ 0 };
	ck_assert_int_eq(opens(m), 0);
	ck_assert(object_has_symtab(found));
	ck_assert_ptr_nonnull(object_sym(found, "lib_one"));
	ck_assert_str_eq(object_basename(found), "made.so");
	/* No descriptor is open of another file. */
	m->inode++;
	ck_assert_int_lt(opens(m), 0);
}
END_TEST

START_TEST(a_file_that_is_no_program)
{
	struct map m = *map_of(lib);
	struct stat st;

	fixture_sh("echo no program >$DIR/text");
	ck_assert_int_eq(stat(fixture_path("text"), &st), 0);
	m.path = (char *)(uintptr_t)fixture_path("text");
	m.inode = st.st_ino;
	m.dev = st.st_dev;
	ck_assert_int_eq(opens(&m), -ENOEXEC);
	ck_assert_ptr_nonnull(why);
	/* By the kernel's link that is known at once. */
	links_error = -ENOEXEC;
	ck_assert_int_eq(opens(map_of(lib)), -ENOEXEC);
}
END_TEST

/* ---- read back ---- */

static uint8_t whole[3 * 4096];
static unsigned reads;

static int
read_whole(void *ctx, uint64_t addr, void *buf, size_t len)
{
	reads++;
	if (addr < 0x10000 || addr + len > 0x10000 + sizeof(whole))
		return -EFAULT;
	memcpy(buf, whole + (addr - 0x10000), len);
	return 0;
}

static struct maps made;
static char gone[] = "/gone/lib.so";

static struct map *
make_map(uint64_t start, uint64_t size, uint64_t offset)
{
	struct map *m = vec_push(&made.list);

	*m = (struct map){ .start = start,
		.end = start + size,
		.offset = offset,
		.inode = 999999999,
		.read = true,
		.deleted = true,
		.path = gone };
	return m;
}

START_TEST(only_mappings_that_came_with_it_count)
{
	const struct reader mem = { read_whole, NULL };
	Elf64_Ehdr *h = (Elf64_Ehdr *)whole;

	memcpy(h->e_ident, ELFMAG, SELFMAG);
	in = (struct mapped_in){ child.pid, &mem, &made };
	make_map(0x10000, 4096, 0);
	make_map(0x11000, 8192, 4096);
	/* A header is not enough. */
	ck_assert_int_lt(opens(&made.list.at[1]), 0);
	/* Its first page is not there. */
	ck_assert_int_eq(opens(&made.list.at[0]), opens(&made.list.at[1]));
	made.list.at[0].offset = 4096;
	ck_assert_int_eq(opens(&made.list.at[1]), -ENOENT);
	/* That of another file is. */
	made.list.at[0].offset = 0;
	made.list.at[0].inode++;
	ck_assert_int_eq(opens(&made.list.at[1]), -ENOENT);
	made.list.at[0].inode--;
	made.list.at[0].dev++;
	ck_assert_int_eq(opens(&made.list.at[1]), -ENOENT);
	made.list.at[0].dev--;
	/* Nobody needs the data of a huge one. */
	make_map(0x13000, UINT64_C(256) << 20, 12288);
	ck_assert_int_eq(opens(&made.list.at[1]), -EFBIG);
	/* The same file, mapped once more behind it. */
	made.list.at[2].offset = 0;
	ck_assert_int_ne(opens(&made.list.at[1]), -EFBIG);
	/* Another file between them, and a page that nobody may read. */
	made.list.at[2].offset = UINT64_C(256) << 20;
	made.list.at[2].end = made.list.at[2].start + 4096;
	made.list.at[2].inode++;
	make_map(0x11000, 4096, 12288)->read = false;
	reads = 0;
	ck_assert_int_ne(opens(&made.list.at[1]), -EFBIG);
	ck_assert_uint_eq(reads, 2);
	vec_fini(&made.list);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		the_file_of_that_name,
		a_file_that_took_its_place_is_another_one,
		memory_has_what_the_file_had,
		the_kernels_link_finds_a_deleted_file,
		a_file_of_another_device_begins_as_memory_does,
		one_that_begins_otherwise_is_not_it,
		the_executable_has_a_link_of_its_own,
		a_memfd_is_opened_by_a_descriptor,
		a_file_that_is_no_program,
		only_mappings_that_came_with_it_count,
	};

	fixture_setup();
	int failed =
	    suite_run("mapped", setup, teardown, tests, ARRAY_SIZE(tests));
	fixture_teardown();
	return failed;
}
