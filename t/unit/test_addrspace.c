/*
 * symbols/addrspace and symbols/linkmap: live programs that say where their
 * own functions are.
 */
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/addrspace.h"
#include "symbols/linkmap.h"
#include "symbols/object.h"
#include "t/fake/fixture.h"

/* Says where things are, then does what it is told, a line at a time. */
static const char program[] =
    "#include <stdio.h>\n#include <string.h>\n#include <stdlib.h>\n"
    "#include <unistd.h>\n#include <dlfcn.h>\n#include <sys/mman.h>\n"
    "int mine(int x) { return x + 1; }\n"
    "int variable = 5;\n"
    "int main(void) {\n"
    "	char line[256]; void *h = 0, *anon;\n"
    "	printf(\"main %p\\nmine %p\\nvariable %p\\nmemcpy %p\\nend 0\\n\",\n"
    "	    (void *)main, (void *)mine, (void *)&variable, (void *)memcpy);\n"
    "	fflush(stdout);\n"
    "	while (fgets(line, sizeof(line), stdin)) {\n"
    "		line[strcspn(line, \"\\n\")] = 0;\n"
    "#ifdef DL\n"
    "		if (line[0] == '/') {\n"
    "			h = dlopen(line, RTLD_NOW);\n"
    "			printf(\"%p\\n\", h ? dlsym(h, \"lib_one\") : 0);\n"
    "		} else if (line[0] == 'c') {\n"
    "			printf(\"%d\\n\", dlclose(h));\n"
    "		} else\n"
    "#endif\n"
    "		if (line[0] == 'j') {\n"
    "			anon = mmap(0, 4096, PROT_READ|PROT_WRITE|PROT_EXEC,\n"
    "			    MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);\n"
    "			printf(\"%p\\n\", anon);\n"
    "		} else if (line[0] == 'w') {\n"
    "			printf(\"%d\\n\", mprotect((void *)((long)mine & ~4095L),\n"
    "			    4096, PROT_READ|PROT_WRITE|PROT_EXEC));\n"
    "		}\n"
    "		fflush(stdout);\n"
    "	}\n"
    "	return 0; }\n";

static const char library[] =
    "static int __attribute__((noinline)) hidden(void) { return 1; }\n"
    "int lib_one(void) { return hidden(); }\n";

struct facts {
	uint64_t main, mine, variable, memcpy;
};

static struct facts
facts_read(struct child *c)
{
	struct facts f = { 0 };
	char line[128], name[32];
	unsigned long v;

	while (sscanf(child_line(c, line, sizeof(line)), "%31s %lx", name,
		   &v) == 2 &&
	    strcmp(name, "end") != 0) {
		if (strcmp(name, "main") == 0)
			f.main = v;
		else if (strcmp(name, "mine") == 0)
			f.mine = v;
		else if (strcmp(name, "variable") == 0)
			f.variable = v;
		else if (strcmp(name, "memcpy") == 0)
			f.memcpy = v;
	}
	return f;
}

static uint64_t
ask(struct child *c, const char *what)
{
	char line[128];

	fprintf(c->in, "%s\n", what);
	fflush(c->in);
	return strtoull(child_line(c, line, sizeof(line)), NULL, 16);
}

static struct load *
load_named(struct addrspace *as, const char *module)
{
	struct load *const *loads;
	size_t n = addrspace_loads(as, &loads);

	for (size_t i = 0; i < n; i++)
		if (load_matches(loads[i], module))
			return loads[i];
	return NULL;
}

static void
check_sym(struct addrspace *as, const char *name, uint64_t addr)
{
	struct load *l = addrspace_load_at(as, addr);
	const struct sym *s;

	ck_assert_ptr_nonnull(l);
	s = object_sym(l->object, name);
	ck_assert_msg(s != NULL, "%s", name);
	ck_assert_uint_eq(s->addr + l->bias, addr);
}

START_TEST(addrspace_finds_the_bias_of_every_kind_of_program)
{
	static const struct {
		const char *options;
		bool interp;
	} ways[] = {
		{ "-O1 -DDL", true },
		{ "-O1 -DDL -no-pie", true },
		{ "-O1 -static", false },
		{ "-O1 -static-pie", false },
		{ "-O1 -DDL -Wl,-z,noseparate-code", true },
		{ "-O1 -DDL -no-pie -Wl,-Ttext-segment=0x10000000", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		const char *path = fixture_cc("live", program, ways[i].options);
		struct child c;
		struct addrspace *as;
		struct load *exec;
		struct linkmap lm;

		child_start(&c, path, NULL);
		struct facts f = facts_read(&c);
		as = addrspace_create(c.pid, &c.mem);
		ck_assert_int_ge(addrspace_refresh(as, NULL, NULL), 1);
		exec = addrspace_exec(as);
		ck_assert_ptr_nonnull(exec);
		ck_assert_str_eq(exec->module, "live");
		ck_assert(exec->seen && !exec->writable_text);
		ck_assert_ptr_eq(addrspace_load_at(as, f.main), exec);
		ck_assert_ptr_eq(addrspace_load_at(as, f.variable), exec);
		check_sym(as, "main", f.main);
		check_sym(as, "mine", f.mine);
		check_sym(as, "variable", f.variable);
		ck_assert_ptr_eq(load_named(as, "a.out"), exec);
		ck_assert_int_eq(load_named(as, "ld") != NULL, ways[i].interp);
		ck_assert_int_eq(linkmap_find(as, &c.mem, &lm),
		    ways[i].interp ? 0 : -ENOENT);
		/* Nothing has changed since. */
		ck_assert_int_eq(addrspace_refresh(as, NULL, NULL), 0);
		addrspace_put(as);
		child_end(&c);
		unlink(path);
	}
}
END_TEST

START_TEST(addrspace_knows_interpreter_libc_and_vdso)
{
	const char *path = fixture_cc("usual", program, "-DDL");
	struct child c;
	struct addrspace *as;
	struct load *l;
	const struct sym *s;

	child_start(&c, path, NULL);
	facts_read(&c);
	as = addrspace_create(c.pid, &c.mem);
	addrspace_refresh(as, NULL, NULL);
	l = load_named(as, "ld");
	ck_assert(l != NULL && l->is_interp && !l->is_exec);
	l = load_named(as, "libc");
	ck_assert(l != NULL && !l->is_interp && !l->is_exec && !l->is_vdso);
	ck_assert_str_eq(l->module, "libc.so.6");
	s = object_sym(l->object, "malloc");
	ck_assert_ptr_nonnull(s);
	l = load_named(as, "linux-vdso.so.1");
	ck_assert(l != NULL && l->is_vdso);
	s = object_sym(l->object, "__vdso_clock_gettime");
	ck_assert_ptr_nonnull(s);
	ck_assert_ptr_eq(addrspace_load_at(as, l->bias + s->addr), l);
	ck_assert_ptr_null(addrspace_load_at(as, 1));
	ck_assert_uint_eq(addrspace_pid(as), c.pid);
	ck_assert_ptr_eq(addrspace_by_id(addrspace_id(as)), as);
	uint32_t id = addrspace_id(as);
	/* It outlives the process, and then its last user. */
	child_end(&c);
	addrspace_detach(as);
	ck_assert_int_eq(addrspace_refresh(as, NULL, NULL), -ESRCH);
	ck_assert_ptr_eq(load_named(as, "[vdso]"), l);
	ck_assert_ptr_eq(addrspace_load_at(as, l->start), l);
	addrspace_put(as);
	ck_assert_ptr_null(addrspace_by_id(id));
}
END_TEST

static struct {
	int came, went;
	struct load *last;
} change;

static void
note_change(void *ctx, struct load *l)
{
	ck_assert_ptr_eq(ctx, &change);
	change.came += l->seen;
	change.went += !l->seen;
	change.last = l;
}

START_TEST(addrspace_follows_dlopen_and_dlclose)
{
	const char *path = fixture_cc("opens", program, "-DDL");
	const char *lib = fixture_cc("libone.so", library, "-shared -fPIC");
	struct child c;
	struct addrspace *as, *copy;
	struct load *l;
	uint64_t one;

	child_start(&c, path, NULL);
	facts_read(&c);
	as = addrspace_create(c.pid, &c.mem);
	ck_assert_int_ge(addrspace_refresh(as, note_change, &change), 4);
	ck_assert_int_eq(change.went, 0);
	ck_assert_ptr_null(load_named(as, "libone"));
	change.came = 0;
	one = ask(&c, lib);
	ck_assert_uint_ne(one, 0);
	ck_assert_int_eq(addrspace_refresh(as, note_change, &change), 1);
	ck_assert_int_eq(change.came, 1);
	l = change.last;
	ck_assert_ptr_eq(l, load_named(as, "libone"));
	ck_assert_uint_eq(l->to, UINT32_MAX);
	ck_assert_uint_gt(l->from, load_named(as, "libc")->from);
	check_sym(as, "lib_one", one);
	copy = addrspace_fork(as, c.pid, &c.mem);
	ck_assert_uint_ne(addrspace_id(copy), addrspace_id(as));

	ck_assert_uint_eq(ask(&c, "close"), 0);
	ck_assert_int_eq(addrspace_refresh(as, note_change, &change), 1);
	ck_assert_int_eq(change.went, 1);
	ck_assert_ptr_eq(change.last, l);
	ck_assert(!l->seen);
	ck_assert_uint_gt(l->to, l->from);
	/* Still named, for records that are not printed yet. */
	ck_assert_ptr_eq(addrspace_load_at(as, one), l);

	/* The copy is its own: it learns by its own refresh. */
	ck_assert(load_named(copy, "libone")->seen);
	ck_assert_int_eq(addrspace_refresh(copy, NULL, NULL), 1);
	ck_assert(!load_named(copy, "libone")->seen);

	/* Back, usually at the same place: one entry then, not two. */
	ck_assert_uint_eq(ask(&c, lib), one);
	ck_assert_int_eq(addrspace_refresh(as, NULL, NULL), 1);
	ck_assert_ptr_eq(addrspace_load_at(as, one), l);
	ck_assert(l->seen);
	addrspace_put(copy);
	addrspace_put(as);
	child_end(&c);
}
END_TEST

START_TEST(addrspace_ignores_code_without_a_file)
{
	const char *path = fixture_cc("jit", program, "-DDL");
	struct child c;
	struct addrspace *as;
	uint64_t addr;

	child_start(&c, path, NULL);
	struct facts f = facts_read(&c);
	as = addrspace_create(c.pid, &c.mem);
	addrspace_refresh(as, NULL, NULL);
	addr = ask(&c, "jit");
	ck_assert_int_eq(addrspace_refresh(as, NULL, NULL), 0);
	ck_assert_ptr_null(addrspace_load_at(as, addr));
	ck_assert(maps_at(addrspace_maps(as), addr)->exec);
	ck_assert(!addrspace_exec(as)->writable_text);
	ck_assert_uint_eq(ask(&c, "writable"), 0);
	ck_assert_int_eq(addrspace_refresh(as, NULL, NULL), 0);
	ck_assert(addrspace_exec(as)->writable_text);
	check_sym(as, "mine", f.mine);
	addrspace_put(as);
	child_end(&c);
}
END_TEST

/* A file that has taken the name of the mapped one is not read for it. */
START_TEST(addrspace_never_reads_a_file_that_took_the_name)
{
	const char *path = fixture_cc("opens2", program, "-DDL");
	const char *lib = fixture_cc("libtwo.so", library, "-shared -fPIC");
	struct child c;
	struct addrspace *as;
	struct load *l;
	uint64_t one;

	child_start(&c, path, NULL);
	facts_read(&c);
	one = ask(&c, lib);
	fixture_cc("libother.so",
	    "int pad(void) { return 3; }\n"
	    "int lib_two(void) { return 2; }\n"
	    "int lib_one(void) { return 1; }\n",
	    "-shared -fPIC");
	fixture_sh("mv $DIR/libother.so $DIR/libtwo.so; rm $DIR/opens2");
	as = addrspace_create(c.pid, &c.mem);
	addrspace_refresh(as, NULL, NULL);
	check_sym(as, "lib_one", one);
	l = addrspace_load_at(as, one);
	ck_assert_ptr_null(object_sym(l->object, "lib_two"));
	ck_assert_str_eq(l->module, "libtwo.so");
	ck_assert_str_eq(addrspace_exec(as)->module, "opens2");
	addrspace_put(as);
	child_end(&c);
}
END_TEST

/* The same without the right to follow the kernel's links to mapped files:
 * the library is put together from memory. */
START_TEST(addrspace_reads_a_deleted_library_from_memory)
{
	const char *path = fixture_cc("opens3", program, "-DDL");
	const char *lib = fixture_cc("libthree.so", library, "-shared -fPIC");
	struct child c;
	struct addrspace *as;
	struct load *l;
	uint64_t one;
	uint64_t start, end;

	fixture_sh("chmod 777 $DIR");
	if (getuid() == 0)
		ck_assert_int_eq(setuid(65534), 0);
	prctl(PR_SET_DUMPABLE, 1);
	child_start(&c, path, NULL);
	facts_read(&c);
	one = ask(&c, lib);
	fixture_sh("rm $DIR/libthree.so $DIR/opens3");
	as = addrspace_create(c.pid, &c.mem);
	addrspace_refresh(as, NULL, NULL);
	l = addrspace_load_at(as, one);
	ck_assert_ptr_nonnull(l);
	check_sym(as, "lib_one", one);
	ck_assert_int_eq(
	    object_fde_range(l->object, one - l->bias, &start, &end), 0);
	ck_assert_uint_eq(start + l->bias, one);
	/* The program is still to be had whole. */
	ck_assert(!object_sym(addrspace_exec(as)->object, "mine")->dynamic);
	/* No .symtab is ever in memory. */
	ck_assert(object_sym(l->object, "lib_one")->dynamic);
	ck_assert_ptr_null(object_sym(l->object, "hidden"));
	addrspace_put(as);
	child_end(&c);
}
END_TEST

START_TEST(addrspace_finds_what_an_ifunc_became)
{
	const char *path = fixture_cc("copies", program, "-DDL -O0");
	struct child c;
	struct addrspace *as;
	struct load *l;
	const struct sym *s;
	uint64_t addr = 0;

	child_start(&c, path, NULL);
	struct facts f = facts_read(&c);
	as = addrspace_create(c.pid, &c.mem);
	addrspace_refresh(as, NULL, NULL);
	l = load_named(as, "libc");
	s = object_sym(l->object, "memcpy");
	ck_assert_ptr_nonnull(s);
	ck_assert_int_eq(s->kind, SYM_IFUNC);
	ck_assert_int_eq(addrspace_ifunc(as, l, s, &addr), 0);
	ck_assert_uint_eq(addr, f.memcpy);
	struct sym nobody = *s;
	nobody.name = "no such name";
	nobody.addr = 1;
	ck_assert_int_eq(addrspace_ifunc(as, l, &nobody, &addr), -ENOENT);
	addrspace_put(as);
	child_end(&c);
}
END_TEST

/* A static program resolves its own before main(). */
START_TEST(addrspace_finds_what_an_ifunc_became_in_a_static_program)
{
	static const char *const ways[] = { "-static", "-static-pie" };

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct child c;
		struct addrspace *as;
		struct load *l;
		const struct sym *s;
		uint64_t addr = 0;

		child_start(&c, fixture_cc("copies2", program, ways[i]), NULL);
		facts_read(&c);
		as = addrspace_create(c.pid, &c.mem);
		addrspace_refresh(as, NULL, NULL);
		l = addrspace_exec(as);
		s = object_sym(l->object, "memcpy");
		ck_assert_int_eq(s->kind, SYM_IFUNC);
		ck_assert_int_eq(addrspace_ifunc(as, l, s, &addr), 0);
		s = object_func_at(l->object, addr - l->bias);
		ck_assert_ptr_nonnull(s);
		ck_assert_uint_eq(s->addr + l->bias, addr);
		/* Its variants are named after memmove, which it is too. */
		ck_assert_msg(strstr(s->name, "mem") != NULL, "%s", s->name);
		addrspace_put(as);
		child_end(&c);
		unlink(fixture_path("copies2"));
	}
}
END_TEST

/* In a library of its own with lazy binding: unresolved, then resolved. */
START_TEST(addrspace_waits_for_a_lazy_ifunc)
{
	static const char lib[] =
	    "static int impl(int x) { return x + 2; }\n"
	    "static void *pick(void) { return impl; }\n"
	    "int lazy(int) __attribute__((ifunc(\"pick\")));\n"
	    "void *where(void) { return impl; }\n";
	static const char prog[] =
	    "#include <stdio.h>\nint lazy(int); void *where(void);\n"
	    "int main(void) {\n"
	    "	char line[64];\n"
	    "	printf(\"%p\\n\", where()); fflush(stdout);\n"
	    "	fgets(line, sizeof(line), stdin);\n"
	    "	printf(\"%d\\n\", lazy(1)); fflush(stdout);\n"
	    "	fgets(line, sizeof(line), stdin); return 0; }\n";
	struct child c;
	struct addrspace *as;
	struct load *l;
	const struct sym *s;
	uint64_t where, addr = 0;
	char line[64];

	fixture_cc("liblazy.so", lib, "-shared -fPIC -O1");
	child_start(&c,
	    fixture_cc(
		"lazy", prog, "-Wl,-z,lazy -L$DIR -llazy -Wl,-rpath,$DIR"),
	    NULL);
	where = strtoull(child_line(&c, line, sizeof(line)), NULL, 16);
	as = addrspace_create(c.pid, &c.mem);
	addrspace_refresh(as, NULL, NULL);
	l = load_named(as, "liblazy");
	s = object_sym(l->object, "lazy");
	ck_assert_int_eq(addrspace_ifunc(as, l, s, &addr), -EAGAIN);
	ck_assert_uint_eq(ask(&c, "call"), 3);
	ck_assert_int_eq(addrspace_ifunc(as, l, s, &addr), 0);
	ck_assert_uint_eq(addr, where);
	addrspace_put(as);
	child_end(&c);
}
END_TEST

static void
check_linkmap_from_start(const char *path)
{
	pid_t pid = trace_start(path, NULL);
	struct reader mem = fixture_reader(pid);
	struct addrspace *as = addrspace_create(pid, &mem);
	struct linkmap early, late;
	enum linkmap_state state;
	struct load *const *loads;
	size_t n, mapped = 0;

	/* The program, the linker, the vDSO; nothing has run. */
	ck_assert_int_eq(addrspace_refresh(as, NULL, NULL), 3);
	n = addrspace_loads(as, &loads);
	ck_assert_uint_eq(n, 3);
	for (size_t i = 0; i < n; i++)
		mapped +=
		    loads[i]->is_exec + loads[i]->is_interp + loads[i]->is_vdso;
	ck_assert_uint_eq(mapped, 3);
	ck_assert_int_eq(linkmap_find(as, &mem, &early), 0);
	ck_assert_int_eq(linkmap_state(&early, &mem, &state), -EAGAIN);

	/* The first call of the place is before the libraries are added or
	 * when they have been; by then the struct is in order. */
	trace_run_to(pid, early.brk_addr);
	addrspace_refresh(as, NULL, NULL);
	ck_assert_int_eq(linkmap_find(as, &mem, &late), 0);
	ck_assert_uint_eq(late.brk_addr, early.brk_addr);
	if (early.r_debug != 0)
		ck_assert_uint_eq(late.r_debug, early.r_debug);
	ck_assert_int_eq(linkmap_state(&late, &mem, &state), 0);
	ck_assert(state == LINKMAP_ADD || state == LINKMAP_CONSISTENT);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	addrspace_put(as);
}

START_TEST(linkmap_is_found_before_the_linker_runs)
{
	check_linkmap_from_start(fixture_cc("start", program, "-DDL"));
	check_linkmap_from_start(fixture_cc("start", program, "-DDL -no-pie"));
}
END_TEST

START_TEST(linkmap_of_musl_is_found_too)
{
	if (system("command -v musl-gcc >/dev/null") != 0)
		return;
	check_linkmap_from_start(
	    fixture_compile("musl-gcc", ".c", "small", program, "-O1"));
}
END_TEST

START_TEST(linkmap_of_a_running_program_is_consistent)
{
	struct child c;
	struct addrspace *as;
	struct linkmap lm;
	enum linkmap_state state;

	child_start(&c, fixture_cc("running", program, "-DDL"), NULL);
	facts_read(&c);
	as = addrspace_create(c.pid, &c.mem);
	addrspace_refresh(as, NULL, NULL);
	ck_assert_int_eq(linkmap_find(as, &c.mem, &lm), 0);
	ck_assert_int_eq(linkmap_state(&lm, &c.mem, &state), 0);
	ck_assert_int_eq(state, LINKMAP_CONSISTENT);
	check_sym(as, "_dl_debug_state", lm.brk_addr);
	check_sym(as, "_r_debug", lm.r_debug);
	addrspace_put(as);
	child_end(&c);
}
END_TEST

START_TEST(load_matches_as_probe_descriptions_say)
{
	static const struct {
		const char *name, *module;
		bool match;
	} rows[] = {
		{ "libc.so.6", "", true },
		{ "libc.so.6", "libc.so.6", true },
		{ "libc.so.6", "libc", true },
		{ "libc.so.6", "libc.so", true },
		{ "libc.so.6", "lib", false },
		{ "libc.so.6", "libc.so.", false },
		{ "libc.so.6", "libcrypto", false },
		{ "libc.so.6", "libc*", true },
		{ "libc.so.6", "*.so*", true },
		{ "libc.so.6", "a.out", false },
		{ "libcrypto.so.3", "libc", false },
		{ "libcrypto.so.3", "libcrypto", true },
		{ "libpython3.11.so.1.0", "libpython3.11", true },
		{ "libpython3.11.so.1.0", "libpython3", false },
		{ "libpython3.11.so.1.0", "libpython3.??", true },
		{ "libc-2.31.so", "libc", true },
		{ "libc-2.31.so", "libc-2.31", true },
		{ "libc-2.31.so", "libc-2", false },
		{ "ld-linux-x86-64.so.2", "ld", true },
		{ "ld-linux-x86-64.so.2", "ld-linux-x86-64", true },
		{ "ld-linux-x86-64.so.2", "ld-linux", false },
		{ "libfoo.sober.so.1", "libfoo.sober", true },
		{ "nginx", "nginx", true },
		{ "nginx", "ngin", false },
		{ "nginx", "[mn]ginx", true },
		{ "v8.so", "v8", true },
		{ ".so", ".so", true },
	};
	struct object *o;
	const char *why;

	fixture_cc("any", program, "-DDL");
	ck_assert_int_eq(
	    object_open(fixture_path("any"), "/opt/x/libc.so.6", &o, &why), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct load l = { .object = o, .module = rows[i].name };

		ck_assert_msg(load_matches(&l, rows[i].module) == rows[i].match,
		    "%s against %s", rows[i].module, rows[i].name);
	}
	struct load l = { .object = o, .module = "libc.so.6", .is_exec = true };
	ck_assert(load_matches(&l, "a.out"));
	ck_assert(load_matches(&l, "/opt/x/libc.so.6"));
	ck_assert(load_matches(&l, "/opt/*/libc.so.6"));
	ck_assert(!load_matches(&l, "/opt/libc.so.6"));
	object_put(o);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("symbols/addrspace");
	TCase *tc = tcase_create("addrspace");
	SRunner *r = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, addrspace_finds_the_bias_of_every_kind_of_program);
	tcase_add_test(tc, addrspace_knows_interpreter_libc_and_vdso);
	tcase_add_test(tc, addrspace_follows_dlopen_and_dlclose);
	tcase_add_test(tc, addrspace_ignores_code_without_a_file);
	tcase_add_test(tc, addrspace_never_reads_a_file_that_took_the_name);
	tcase_add_test(tc, addrspace_reads_a_deleted_library_from_memory);
	tcase_add_test(tc, addrspace_finds_what_an_ifunc_became);
	tcase_add_test(
	    tc, addrspace_finds_what_an_ifunc_became_in_a_static_program);
	tcase_add_test(tc, addrspace_waits_for_a_lazy_ifunc);
	tcase_add_test(tc, linkmap_is_found_before_the_linker_runs);
	tcase_add_test(tc, linkmap_of_musl_is_found_too);
	tcase_add_test(tc, linkmap_of_a_running_program_is_consistent);
	tcase_add_test(tc, load_matches_as_probe_descriptions_say);
	fixture_setup();
	srunner_run_all(r, CK_NORMAL);
	fixture_teardown();
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
