/*
 * libdtrap-sdt: what is refused, what the object has that is loaded, and what is left
 * when something fails.  Calls of the library to the C library go through the doubles
 * below (the linker's --wrap).
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "include/dtrap-provider.h"
#include "symbols/object.h"
#include "symbols/sdt.h"
#include "t/fake/fixture.h"
#include "t/unit/suite.h"

/* ---- doubles ---- */

static int memfd_error, code_error; /* errno, or 0 */
static int allocations = -1;        /* so many succeed; -1: all */
static bool no_dlopen;

int __real_memfd_create(const char *name, unsigned flags);
void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t off);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *s);
void *__real_dlopen(const char *path, int flags);
int __wrap_memfd_create(const char *name, unsigned flags);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t off);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *s);
void *__wrap_dlopen(const char *path, int flags);

int
__wrap_memfd_create(const char *name, unsigned flags)
{
	errno = memfd_error;
	return memfd_error != 0 ? -1 : __real_memfd_create(name, flags);
}

void *
__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
	if (code_error != 0 && fd >= 0 && (prot & PROT_EXEC) != 0) {
		errno = code_error;
		return MAP_FAILED;
	}
	return __real_mmap(at, n, prot, flags, fd, off);
}

static bool
no_memory(void)
{
	if (allocations < 0)
		return false;
	if (allocations == 0)
		return true;
	allocations--;
	return false;
}

void *
__wrap_calloc(size_t n, size_t size)
{
	return no_memory() ? NULL : __real_calloc(n, size);
}

void *
__wrap_realloc(void *p, size_t size)
{
	return no_memory() ? NULL : __real_realloc(p, size);
}

char *
__wrap_strdup(const char *s)
{
	return no_memory() ? NULL : __real_strdup(s);
}

void *
__wrap_dlopen(const char *path, int flags)
{
	return no_dlopen ? NULL : __real_dlopen(path, flags);
}

/* ---- what is there ---- */

static const enum dtrap_arg types[DTRAP_PROBE_ARGS + 1] = { DTRAP_INT8,
	DTRAP_UINT8, DTRAP_INT16, DTRAP_UINT16, DTRAP_INT32, DTRAP_UINT32,
	DTRAP_INT64, DTRAP_UINT64, DTRAP_STRING, DTRAP_POINTER, DTRAP_INT32,
	DTRAP_STRING, DTRAP_INT32 };

static dtrap_provider *shop;
static dtrap_probe *sold;

/* The files of a folder, but for "." and "..". */
static int
count_files(const char *path)
{
	DIR *d = opendir(path);
	int n = -2;

	ck_assert_ptr_nonnull(d);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

/* How often code of such a file is mapped.  (The reader of objects maps them, too.) */
static int
count_code(const char *what)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4096];
	int n = 0;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f) != NULL)
		n += strstr(line, what) != NULL &&
		    strstr(line, " r-xp ") != NULL;
	fclose(f);
	return n;
}

/* The path of the descriptor that is the object. */
static const char *
object_file(void)
{
	static char path[64];
	char target[256];

	for (int fd = 0; fd < 1024; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ssize_t n = readlink(path, target, sizeof(target) - 1);
		if (n > 0 && strncmp(target, "/memfd:shop.so", 14) == 0)
			return path;
	}
	return NULL;
}

static void
setup(void)
{
	allocations = -1;
	unsetenv("XDG_RUNTIME_DIR");
	ck_assert_int_eq(dtrap_provider_create("shop", &shop), 0);
	ck_assert_int_eq(
	    dtrap_provider_probe(shop, "sell", "sold", 12, types, &sold), 0);
}

static void
teardown(void)
{
	dtrap_provider_destroy(shop);
	ck_assert_int_eq(count_code("shop"), 0);
	ck_assert_ptr_null(object_file());
}

/* Nothing is loaded, but it can be. */
static void
is_unloaded(void)
{
	ck_assert_int_eq(count_code("shop"), 0);
	ck_assert_ptr_null(object_file());
	ck_assert(!dtrap_probe_watched(sold));
	dtrap_probe_fire(sold, NULL);
}

/* ---- names and arguments ---- */

START_TEST(names_are_those_of_d)
{
	static const char *const bad[] = { NULL, "", "1a", "_a", "a-b", "a b",
		"a:b", "a1", "a\xc3\xa9" };
	char name[DTRAP_NAME_MOST + 2];
	dtrap_provider *p;
	dtrap_probe *pr;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		p = shop;
		ck_assert_int_eq(dtrap_provider_create(bad[i], &p), -EINVAL);
		ck_assert_ptr_null(p);
		if (bad[i] != NULL && strcmp(bad[i], "a1") == 0)
			continue;
		pr = sold;
		ck_assert_int_eq(
		    dtrap_provider_probe(shop, NULL, bad[i], 0, NULL, &pr),
		    -EINVAL);
		ck_assert_ptr_null(pr);
	}
	memset(name, 'a', sizeof(name));
	name[DTRAP_NAME_MOST + 1] = '\0';
	ck_assert_int_eq(dtrap_provider_create(name, &p), -EINVAL);
	ck_assert_int_eq(
	    dtrap_provider_probe(shop, NULL, name, 0, NULL, &pr), -EINVAL);
	name[DTRAP_NAME_MOST] = '\0';
	ck_assert_int_eq(dtrap_provider_create(name, &p), 0);
	ck_assert_int_eq(dtrap_provider_probe(p, NULL, name, 0, NULL, &pr), 0);
	ck_assert_int_eq(
	    dtrap_provider_probe(p, NULL, "a__b_1", 0, NULL, &pr), 0);
	ck_assert_int_eq(dtrap_provider_load(p), 0);
	dtrap_provider_destroy(p);
}
END_TEST

START_TEST(functions_are_any_text_of_one_field)
{
	static const char *const bad[] = { "", "a b", "a:b", "a`b", "a\nb",
		"a\x7f" };
	char name[DTRAP_FUNC_MOST + 2];
	dtrap_probe *p;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_int_eq(
		    dtrap_provider_probe(shop, bad[i], "a", 0, NULL, &p),
		    -EINVAL);
	memset(name, 'a', sizeof(name));
	name[DTRAP_FUNC_MOST + 1] = '\0';
	ck_assert_int_eq(
	    dtrap_provider_probe(shop, name, "a", 0, NULL, &p), -EINVAL);
	name[DTRAP_FUNC_MOST] = '\0';
	ck_assert_int_eq(dtrap_provider_probe(shop, name, "a", 0, NULL, &p), 0);
	ck_assert_int_eq(
	    dtrap_provider_probe(shop, "T<int>.\xc3\xa9()", "a", 0, NULL, &p),
	    0);
}
END_TEST

START_TEST(arguments_are_twelve_of_known_types)
{
	enum dtrap_arg odd[] = { DTRAP_INT8, 0, 11 };
	dtrap_probe *p;

	ck_assert_int_eq(
	    dtrap_provider_probe(shop, NULL, "a", 13, types, &p), -E2BIG);
	ck_assert_int_eq(
	    dtrap_provider_probe(shop, NULL, "a", 1, NULL, &p), -EINVAL);
	ck_assert_int_eq(
	    dtrap_provider_probe(shop, NULL, "a", 2, odd, &p), -EINVAL);
	ck_assert_int_eq(
	    dtrap_provider_probe(shop, NULL, "a", 1, odd + 2, &p), -EINVAL);
	ck_assert_int_eq(dtrap_provider_probe(shop, NULL, "a", 1, odd, &p), 0);
	ck_assert_int_eq(
	    dtrap_provider_probe(shop, NULL, "a", 0, NULL, &p), -EEXIST);
	ck_assert_int_eq(
	    dtrap_provider_probe(shop, "other", "a", 0, NULL, &p), 0);
}
END_TEST

START_TEST(no_provider_is_no_crash)
{
	dtrap_probe *p;

	ck_assert_int_eq(dtrap_provider_create("a", NULL), -EINVAL);
	ck_assert_int_eq(
	    dtrap_provider_probe(shop, NULL, "a", 0, NULL, NULL), -EINVAL);
	ck_assert_int_eq(
	    dtrap_provider_probe(NULL, NULL, "a", 0, NULL, &p), -EINVAL);
	ck_assert_int_eq(dtrap_provider_load(NULL), -EINVAL);
	ck_assert_int_eq(dtrap_provider_unload(NULL), -EINVAL);
	dtrap_provider_destroy(NULL);
	ck_assert(!dtrap_probe_watched(NULL));
	dtrap_probe_fire(NULL, NULL);
}
END_TEST

START_TEST(each_error_has_words)
{
	static const int errors[] = { 0, EINVAL, E2BIG, EEXIST, EBUSY, ENOMEM,
		EPERM, EACCES, EMFILE, ENFILE, ENOSPC, ENOSYS, ENOEXEC };
	const char *other = dtrap_provider_strerror(-EXDEV);

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		const char *words = dtrap_provider_strerror(-errors[i]);
		ck_assert_str_ne(words, other);
		ck_assert_ptr_eq(words, dtrap_provider_strerror(errors[i]));
	}
}
END_TEST

/* ---- the object ---- */

START_TEST(it_is_loaded_once_and_again)
{
	dtrap_probe *more;

	is_unloaded();
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(dtrap_provider_load(shop), 0);
		ck_assert_int_eq(count_code("/memfd:shop.so"), 1);
		ck_assert_int_eq(dtrap_provider_load(shop), -EBUSY);
		ck_assert_int_eq(
		    dtrap_provider_probe(shop, NULL, "more", 0, NULL, &more),
		    -EBUSY);
		dtrap_probe_fire(sold, NULL);
		ck_assert_int_eq(dtrap_provider_unload(shop), 0);
		is_unloaded();
		ck_assert_int_eq(dtrap_provider_unload(shop), 0);
	}
	ck_assert_int_eq(
	    dtrap_provider_probe(shop, NULL, "more", 0, NULL, &more), 0);
	ck_assert_int_eq(dtrap_provider_load(shop), 0);
	dtrap_probe_fire(more, NULL);
}
END_TEST

START_TEST(a_semaphore_is_memory_that_tracers_write)
{
	dtrap_probe *other;

	ck_assert_int_eq(
	    dtrap_provider_probe(shop, NULL, "other", 0, NULL, &other), 0);
	ck_assert_int_eq(dtrap_provider_load(shop), 0);
	volatile unsigned short *semaphore =
	    (volatile unsigned short *)(uintptr_t)sold->semaphore;
	*semaphore = 2;
	ck_assert(dtrap_probe_watched(sold));
	ck_assert(!dtrap_probe_watched(other));
	*semaphore = 0;
	ck_assert(!dtrap_probe_watched(sold));
}
END_TEST

/* As dtrap reads it. */
START_TEST(readers_find_what_was_declared)
{
	static const char *const names[] = { "int8_t", "uint8_t", "int16_t",
		"uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t",
		"string", "void *", "int32_t", "string" };
	const struct sdt_note *notes;
	struct sdt_types found;
	struct object *o;
	dtrap_probe *p;
	const char *why;

	ck_assert_int_eq(
	    dtrap_provider_probe(shop, NULL, "idle__time", 0, NULL, &p), 0);
	ck_assert_int_eq(
	    dtrap_provider_probe(shop, "buy", "sold", 1, types, &p), 0);
	ck_assert_int_eq(dtrap_provider_load(shop), 0);
	ck_assert_int_eq(object_open(object_file(), "x", &o, &why), 0);
	ck_assert_uint_eq(object_sdt_notes(o, &notes), 3);
	ck_assert_str_eq(notes[0].provider, "shop");
	ck_assert_str_eq(notes[0].name, "sold");
	ck_assert_str_eq(notes[1].name, "idle__time");
	ck_assert_str_eq(notes[1].args, "");
	for (int i = 0; i < 3; i++)
		ck_assert(object_is_data(o, notes[i].semaphore, 2));
	ck_assert_uint_ne(notes[0].semaphore, notes[1].semaphore);
	ck_assert_str_eq(object_func_at(o, notes[0].pc)->name, "sell");
	ck_assert_str_eq(object_func_at(o, notes[1].pc)->name, "idle__time");
	ck_assert_str_eq(object_func_at(o, notes[2].pc)->name, "buy");
	ck_assert_int_eq(
	    object_sdt_types(o, "shop", "sell", "sold", &found), 0);
	ck_assert_uint_eq(found.nargs, 12);
	for (size_t i = 0; i < found.nxargs; i++)
		ck_assert_str_eq(found.xargs[i], names[i]);
	ck_assert_int_eq(object_sdt_types(o, "shop", "buy", "sold", &found), 0);
	ck_assert_uint_eq(found.nargs, 1);
	ck_assert_int_eq(
	    object_sdt_types(o, "shop", NULL, "idle-time", &found), 0);
	ck_assert_uint_eq(found.nargs, 0);
	object_put(o);
}
END_TEST

/* As binutils read it, who find fault with much. */
START_TEST(readelf_finds_nothing_wrong)
{
	char line[512];
	bool provider = false, entry = false;

	ck_assert_int_eq(dtrap_provider_load(shop), 0);
	FILE *f = fixture_open("readelf -aW --debug-dump=frames "
			       "/proc/%d/fd/%s 2>&1",
	    (int)getpid(), strrchr(object_file(), '/') + 1);
	while (fgets(line, sizeof(line), f) != NULL) {
		ck_assert_msg(strstr(line, "arning") == NULL &&
			strstr(line, "rror") == NULL,
		    "%s", line);
		provider |= strstr(line, "Provider: shop") != NULL;
		entry |= strstr(line, " FDE cie=") != NULL;
	}
	ck_assert_int_eq(pclose(f), 0);
	ck_assert(provider);
	ck_assert(entry);
}
END_TEST

START_TEST(thousands_of_probes)
{
	static dtrap_probe *p[5000];
	const struct sdt_note *notes;
	struct object *o;
	char name[32];
	const char *why;

	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		snprintf(name, sizeof(name), "probe%zu", i);
		ck_assert_int_eq(dtrap_provider_probe(shop, NULL, name,
				     (unsigned)(i % 13), types, &p[i]),
		    0);
	}
	ck_assert_int_eq(dtrap_provider_load(shop), 0);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		dtrap_probe_fire(p[i], NULL);
	ck_assert_int_eq(object_open(object_file(), "x", &o, &why), 0);
	ck_assert_uint_eq(object_sdt_notes(o, &notes), ARRAY_SIZE(p) + 1);
	ck_assert_str_eq(notes[5000].name, "probe4999");
	ck_assert_str_eq(object_func_at(o, notes[5000].pc)->name, "probe4999");
	object_put(o);
}
END_TEST

/* ---- what fails ---- */

/* Whichever allocation fails: the provider is as before. */
START_TEST(no_memory_is_an_error)
{
	dtrap_provider *p;
	dtrap_probe *pr;
	int n = 0, error = -ENOMEM;

	for (; error != 0; n++) {
		allocations = n;
		error = dtrap_provider_create("a", &p);
		if (error == 0) {
			error =
			    dtrap_provider_probe(p, NULL, "b", 12, types, &pr);
			if (error == 0)
				error = dtrap_provider_load(p);
			allocations = -1;
			ck_assert_int_eq(
			    dtrap_provider_load(p), error == 0 ? -EBUSY : 0);
			dtrap_provider_destroy(p);
		}
		ck_assert(error == 0 || error == -ENOMEM);
	}
	ck_assert_int_gt(n, 6);
	allocations = -1;
	code_error = ENOMEM;
	ck_assert_int_eq(dtrap_provider_load(shop), -ENOMEM);
	is_unloaded();
}
END_TEST

START_TEST(a_file_serves_where_a_memfd_is_refused)
{
	static const int errors[] = { EPERM, EACCES, ENOSYS };
	char dir[256];

	fixture_sh("mkdir $DIR/run");
	snprintf(dir, sizeof(dir), "%s", fixture_path("run"));
	setenv("XDG_RUNTIME_DIR", dir, 1);
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		int fds = count_files("/proc/self/fd");
		memfd_error = errors[i];
		ck_assert_int_eq(dtrap_provider_load(shop), 0);
		ck_assert_int_eq(count_files(dir), 1);
		ck_assert_int_eq(count_code(dir), 1);
		ck_assert_int_eq(count_files("/proc/self/fd"), fds);
		dtrap_probe_fire(sold, NULL);
		ck_assert_int_eq(dtrap_provider_unload(shop), 0);
		ck_assert_int_eq(count_files(dir), 0);
	}
	is_unloaded();
	fixture_sh("rmdir $DIR/run");
	ck_assert_int_eq(dtrap_provider_load(shop), -EACCES);
	setenv("XDG_RUNTIME_DIR", "run", 1);
	ck_assert_int_eq(dtrap_provider_load(shop), -EACCES);
}
END_TEST

START_TEST(code_that_may_not_be_mapped_is_an_error)
{
	int fds = count_files("/proc/self/fd");
	char dir[256];

	code_error = EPERM;
	ck_assert_int_eq(dtrap_provider_load(shop), -EACCES);
	fixture_sh("mkdir $DIR/run");
	snprintf(dir, sizeof(dir), "%s", fixture_path("run"));
	setenv("XDG_RUNTIME_DIR", dir, 1);
	ck_assert_int_eq(dtrap_provider_load(shop), -EPERM);
	ck_assert_int_eq(count_files(dir), 0);
	code_error = 0;
	no_dlopen = true;
	ck_assert_int_eq(dtrap_provider_load(shop), -ENOEXEC);
	memfd_error = EPERM;
	ck_assert_int_eq(dtrap_provider_load(shop), -ENOEXEC);
	ck_assert_int_eq(count_files(dir), 0);
	memfd_error = EMFILE;
	ck_assert_int_eq(dtrap_provider_load(shop), -EMFILE);
	is_unloaded();
	ck_assert_int_eq(count_files("/proc/self/fd"), fds);
	memfd_error = 0;
	no_dlopen = false;
	ck_assert_int_eq(dtrap_provider_load(shop), 0);
}
END_TEST

/* A program closes all descriptors that it does not know, and opens others. */
START_TEST(a_descriptor_of_another_file_is_not_closed)
{
	ck_assert_int_eq(dtrap_provider_load(shop), 0);
	int fd = atoi(strrchr(object_file(), '/') + 1);
	int other = open("/dev/null", O_RDONLY);
	ck_assert_int_eq(dup2(other, fd), fd);
	ck_assert_int_eq(dtrap_provider_unload(shop), 0);
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
	close(fd);
	close(other);
}
END_TEST

/* ---- threads ---- */

static int loaded; /* by so many threads */

static void *
use(void *arg)
{
	dtrap_provider *p;
	dtrap_probe *pr;
	uint64_t args[12] = { 0 };
	int bad = 0;

	for (int i = 0; i < 50; i++) {
		bad |= dtrap_provider_create("mine", &p) != 0 ||
		    dtrap_provider_probe(p, NULL, "a", 12, types, &pr) != 0 ||
		    dtrap_provider_load(p) != 0;
		for (int k = 0; k < 100; k++) {
			dtrap_probe_fire(pr, args);
			dtrap_probe_fire(sold, args);
		}
		dtrap_provider_destroy(p);
		if (i == 25 && dtrap_provider_load(shop) == 0)
			__atomic_add_fetch(&loaded, 1, __ATOMIC_RELAXED);
	}
	return bad ? arg : NULL;
}

START_TEST(threads_do_not_wait_for_each_other)
{
	pthread_t t[8];
	void *bad;

	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, use, t), 0);
	for (int i = 0; i < 8; i++) {
		ck_assert_int_eq(pthread_join(t[i], &bad), 0);
		ck_assert_ptr_null(bad);
	}
	ck_assert_int_eq(loaded, 1);
	ck_assert_int_eq(count_code("/memfd:mine"), 0);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		names_are_those_of_d,
		functions_are_any_text_of_one_field,
		arguments_are_twelve_of_known_types,
		no_provider_is_no_crash,
		each_error_has_words,
		it_is_loaded_once_and_again,
		a_semaphore_is_memory_that_tracers_write,
		readers_find_what_was_declared,
		readelf_finds_nothing_wrong,
		thousands_of_probes,
		no_memory_is_an_error,
		a_file_serves_where_a_memfd_is_refused,
		code_that_may_not_be_mapped_is_an_error,
		a_descriptor_of_another_file_is_not_closed,
		threads_do_not_wait_for_each_other,
	};

	fixture_setup();
	int failed =
	    suite_run("provider", setup, teardown, tests, ARRAY_SIZE(tests));
	fixture_teardown();
	return failed;
}
