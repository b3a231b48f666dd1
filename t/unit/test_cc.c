/*
 * dlang/cc: what is accepted, what is refused and with which tag, and what
 * comes out: instructions, acts and the layout of records.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dlang/cc/cc.h"
#include "dlang/dif.h"
#include "dlang/types.h"
#include "t/fake/world.h"

/* One session with one program. */
struct run {
	struct options opts;
	struct cc *cc;
	struct source source;
	struct cc_input in;
	struct diags diags;
	struct prog *prog;
	int error;
};

static struct run r;

static void
open_session(const char *options)
{
	memset(&r, 0, sizeof(r));
	options_init(&r.opts);
	if (options != NULL)
		ck_assert_int_eq(option_parse(&r.opts, options, false), 0);
	r.cc = cc_create(&fake_world, &r.opts);
	diags_init(&r.diags);
	r.in.level = CC_NAME;
}

static void
compile(const char *text)
{
	r.source = (struct source){ "-n", text, r.in.level == CC_SCRIPT };
	r.in.source = &r.source;
	r.error = cc_compile(r.cc, &r.in, &r.prog, &r.diags);
}

static void
close_session(void)
{
	prog_destroy(r.prog);
	cc_destroy(r.cc);
	options_fini(&r.opts);
	diags_fini(&r.diags);
}

/* ---- tags ---- */

struct row {
	const char *text;
	enum diag_tag tag; /* OK: compiles */
	const char *options;
};

#define OK DIAG_TAG_COUNT
/* A clause with this body. */
#define B(body) "BEGIN{" body "}"
#define P(body) "pid123:a.out:main:entry{" body "}"

static void
check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		open_session(rows[i].options);
		compile(rows[i].text);
		if (rows[i].tag == OK)
			ck_assert_msg(r.error == 0, "%s: [%s] %s", rows[i].text,
			    diag_tag_name(r.diags.first.tag),
			    r.diags.first.text);
		else
			ck_assert_msg(r.error != 0 && r.diags.any &&
				r.diags.first.tag == rows[i].tag,
			    "%s: [%s] %s", rows[i].text,
			    r.diags.any ? diag_tag_name(r.diags.first.tag) :
					  "compiles",
			    r.diags.any ? r.diags.first.text : "");
		close_session();
	}
}

/* clang-format off */
static const struct row lexical[] = {
	{ B("trace(1)"), OK, NULL },
	{ B("trace(1);"), OK, NULL },
	{ B(";;"), OK, NULL },
	{ B(""), OK, NULL },
	{ "BEGIN", OK, NULL },
	{ "BEGIN,END", OK, NULL },
	{ "/* c */ BEGIN /* d */ { /* e */ }", OK, NULL },
	{ "BEGIN { /* /* */ }", D_SYNTAX, NULL },
	{ "BEGIN { /* }", D_SYNTAX, NULL },
	{ "BEGIN { */ }", D_SYNTAX, NULL },
	{ "BEGIN { // x\n }", D_SYNTAX, NULL },
	{ "#!/usr/sbin/dtrace -s\nBEGIN{}", OK, NULL },
	{ B("trace(1.5)"), D_SYNTAX, NULL },
	{ B("trace(1e5)"), D_SYNTAX, NULL },
	{ B("trace(.5)"), D_SYNTAX, NULL },
	{ B("trace(08)"), D_INT_DIGIT, NULL },
	{ B("trace(0779)"), D_INT_DIGIT, NULL },
	{ B("trace(0x1ULL)"), OK, NULL },
	{ B("trace(18446744073709551616)"), D_INT_OFLOW, NULL },
	{ B("trace(18446744073709551615)"), D_INT_OFLOW, NULL },
	{ B("trace(18446744073709551615U)"), OK, NULL },
	{ B("trace(0xffffffffffffffff)"), OK, NULL },
	{ B("trace(\"a\nb\")"), D_STR_NL, NULL },
	{ B("trace(\"a"), D_STR_NL, NULL },
	{ B("trace('a\n')"), D_CHR_NL, NULL },
	{ B("trace('')"), D_CHR_NULL, NULL },
	{ B("trace('123456789')"), D_CHR_OFLOW, NULL },
	{ B("trace('\\'')"), OK, NULL },
	{ B("trace('\\0')"), OK, NULL },
	{ B("trace($1)"), D_MACRO_UNDEF, NULL },
	{ B("trace($$1)"), D_MACRO_UNDEF, NULL },
	{ B("trace($nosuch)"), D_MACRO_UNDEF, NULL },
	{ B("trace($1)"), OK, "defaultargs" },
	{ B("trace($target + $pid)"), OK, NULL },
	{ B("trace($$pid)"), OK, NULL },
	{ B("trace(1)") " }", D_SYNTAX, NULL },
	{ "BEGIN {", D_SYNTAX, NULL },
	{ "BEGIN { trace( }", D_SYNTAX, NULL },
	{ "BEGIN /1", D_SYNTAX, NULL },
	{ "BEGIN /1/", D_SYNTAX, NULL },
	{ "BEGIN /(1/ {}", D_SYNTAX, NULL },
	{ "BEGIN /4/2 == 2/ {}", OK, NULL },
	{ "BEGIN / 4 / 2 /{}", OK, NULL },
	{ "BEGIN / 1 / /* c */ {}", OK, NULL },
	{ B("for (;;) {}"), D_SYNTAX, NULL },
	{ B("while (1) {}"), D_SYNTAX, NULL },
	{ B("\"a\" \"b\""), D_SYNTAX, NULL },
	{ B("# 1"), D_SYNTAX, NULL },
	{ "", D_EMPTY, NULL },
	{ "  /* nothing */ ", D_EMPTY, NULL },
	{ "", OK, "empty" },
	{ "int x;", OK, NULL },
	{ B("@ = count()"), OK, NULL },
};

static const struct row descriptions[] = {
	{ "nosuch{}", D_PDESC_ZERO, NULL },
	{ "nosuch{}", OK, "zdefs" },
	{ "a:b:c:d:e{}", D_PDESC_INVAL, NULL },
	{ "a:b::c:d:e{}", D_PDESC_INVAL, NULL },
	{ "pid123:a::b:entry{}", D_PDESC_INVAL, NULL },
	{ "apart::two:start{}", D_PDESC_INVAL, NULL },
	{ "apart::\"two\":start{}", OK, NULL },
	{ "::\"apart::two\":start{}", OK, NULL },
	{ "shop::none:start{}", D_PDESC_ZERO, NULL },
	{ "shop::none:start{}", OK, "zdefs" },
	{ "::\"shop::get:start{}", D_STR_NL, NULL },
	{ "main(:entry{}", D_SYNTAX, NULL },
	{ "pid$target:a.out:main:entry{}", OK, NULL },
	{ "pid$nosuch:::entry{}", D_PDESC_INVAL, NULL },
	{ "pid$1:::entry{}", D_PDESC_INVAL, NULL },
	{ "pid0:::entry{}", D_PROC_BADPID, NULL },
	{ ":::BEGIN{}", OK, NULL },
	{ "dtrace:::{}", OK, NULL },
	{ "tick-1s, END{}", OK, NULL },
	{ "ma?n:entry{}", OK, NULL },
	{ "mai[a-z]:entry{}", OK, NULL },
	{ "3{}", OK, NULL },
	{ "999{}", D_PDESC_INVAL, NULL },
	{ "0{}", D_PDESC_INVAL, NULL },
	{ "99999999999{}", D_PDESC_INVAL, NULL },
};

static const struct row names[] = {
	{ B("trace(x)"), D_IDENT_UNDEF, NULL },
	{ B("x = x"), D_IDENT_UNDEF, NULL },
	{ B("x = 1; trace(x)"), OK, NULL },
	{ B("trace(self->x)"), D_VAR_UNDEF, NULL },
	{ B("trace(this->x)"), D_VAR_UNDEF, NULL },
	{ B("self->x = 1; trace(self->x)"), OK, NULL },
	{ B("this->x = 1; trace(this->x)"), OK, NULL },
	{ B("self.x = 1"), D_SYNTAX, NULL },
	{ B("x++; trace(x)"), OK, NULL },
	{ B("self->x += 2"), OK, NULL },
	{ B("nosuch()"), D_FUNC_UNDEF, NULL },
	{ B("(1)()"), D_FUNC_IDENT, NULL },
	{ B("self->x()"), D_FUNC_IDENT, NULL },
	{ B("x = 1; x()"), D_FUNC_IDKIND, NULL },
	{ B("trace(printf)"), D_IDENT_BADREF, NULL },
	{ B("a[1] = 1; trace(a)"), D_IDENT_BADREF, NULL },
	{ B("x = 1; trace(x[1])"), D_ARR_BADREF, NULL },
	{ B("this->a[1] = 1"), D_ARR_LOCAL, NULL },
	{ B("a[1] = 1; a[\"x\"] = 2"), D_PROTO_ARG, NULL },
	{ B("a[1] = 1; a[1, 2] = 2"), D_PROTO_LEN, NULL },
	{ B("a[1,2,3,4,5,6,7,8] = 1; trace(a[1,2,3,4,5,6,7,8])"), OK, NULL },
	{ B("a[1,2,3,4,5,6,7,8,9] = 1"), D_UNKNOWN, NULL },
	{ B("trace(`nosuch)"), D_IDENT_UNDEF, NULL },
	{ B("trace(`total)"), OK, NULL },
	{ B("trace(a.out`total + 1)"), OK, NULL },
	{ B("trace(nolib`total)"), D_IDENT_UNDEF, NULL },
	{ B("trace(pid123`a.out`total)"), OK, NULL },
	{ B("trace(`untyped)"), D_SYM_NOTYPES, NULL },
	{ B("trace(&`untyped)"), OK, NULL },
	{ B("trace(*(int *)&`untyped)"), OK, NULL },
	{ B("trace(*&`untyped)"), D_DEREF_VOID, NULL },
	{ B("trace(&`nosuch)"), D_IDENT_UNDEF, NULL },
	{ B("`total = 1"), D_OP_WRITE, NULL },
	{ B("trace(`cursor->y)"), OK, NULL },
	{ B("trace(`origin.x)"), OK, NULL },
	{ B("trace(`title)"), OK, NULL },
	{ B("trace(&`main)"), OK, NULL },
	/* Lines of the source in a description, and what only looks so. */
	{ "pid123:a.out:main.c@12:{}", D_PDESC_ZERO, NULL },
	{ "pid123:a.out:main.c@12-20:line{}", D_PDESC_ZERO, NULL },
	{ "pid123:a.out:src/c++/main.c@1*:{}", D_PDESC_ZERO, NULL },
	{ "pid123:a.out:src/main.c@12:/arg0/{}", D_PDESC_ZERO, NULL },
	{ "pid123:::entry/arg0/{@[pid]=count()}", OK, NULL },
	{ "pid123:::entry/a@1/{}", D_SYNTAX, NULL },
	{ "pid123:::entry/arg0/@1{}", D_SYNTAX, NULL },
	{ "pid123:a.out:main@:{}", D_SYNTAX, NULL },
	{ P("trace(local`n + local`at->x)"), OK, NULL },
	{ P("trace(local`box); trace(local`box.y)"), OK, NULL },
	{ P("trace(*&local`n); trace(&local`box.x)"), OK, NULL },
	{ P("trace(sizeof(local`box))"), OK, NULL },
	{ "pid123:::entry/local`n > 3/{}", OK, NULL },
	{ P("trace(&local`quick)"), D_IDENT_UNDEF, NULL },
	{ P("trace(local`nosuch)"), D_IDENT_UNDEF, NULL },
	{ P("trace(local`)"), D_IDENT_UNDEF, NULL },
	{ P("trace(local`box.z)"), D_TYPE_MEMBER, NULL },
	{ P("trace(local`n->x)"), D_OP_PTR, NULL },
	{ P("local`n = 1"), D_OP_WRITE, NULL },
	{ P("local`n++"), D_OP_WRITE, NULL },
	{ P("trace(total`n)"), D_IDENT_UNDEF, NULL },
	{ B("trace(local`n)"), D_IDENT_UNDEF, NULL },
	{ "inline int z = local`n; BEGIN{trace(z)}", D_ARGS_NONE, NULL },
	{ B("trace(args[0])"), D_ARGS_IDX, NULL },
	{ "test:::typed{trace(args[0] + 1); trace(args[2]->x)}", OK, NULL },
	{ "test:::typed{trace(stringof(args[1]))}", OK, NULL },
	{ "test:::typed{trace(args[6])}", D_ARGS_IDX, NULL },
	{ "test:::typed{trace(args[4] + 1)}", OK, NULL },
	{ "test:::typed{trace(args[5].x)}", D_ARGS_XLATOR, NULL },
	{ "translator struct point < int i > { x = i * 2; };"
	  "test:::typed{trace(args[5].x)}", OK, NULL },
	{ "translator struct point < int i > { x = i * 2; };"
	  "test:::typed{trace(args[5].y)}", D_XLATE_NOCONV, NULL },
	{ "test:::typed{trace(args[3])}", D_ARGS_TYPE, NULL },
	{ "test:::typed{trace(args[arg0])}", D_PROTO_ARG, NULL },
	{ "test:::{trace(args[0])}", D_ARGS_MULTI, NULL },
	{ "inline int z = args[0]; BEGIN{trace(z)}", D_ARGS_NONE, NULL },
	{ B("trace(uregs[R_RAX])"), OK, NULL },
	{ B("trace(uregs[99])"), D_UNKNOWN, NULL },
	{ B("trace(zonename)"), D_UNKNOWN, NULL },
	{ B("trace(EPERM + SIGKILL)"), OK, NULL },
	{ B("trace(EPERM)"), D_IDENT_UNDEF, "nolibs" },
	{ B("trace(curthread->x)"), D_OP_INCOMPLETE, NULL },
	{ B("pid = 1"), D_OP_WRITE, NULL },
	{ B("ENOENT = 1"), D_OP_WRITE, NULL },
};

static const struct row operators[] = {
	{ B("1 = 2"), D_OP_LVAL, NULL },
	{ B("1++"), D_OP_LVAL, NULL },
	{ B("x = 1; x + 1 = 2"), D_SYNTAX, NULL },
	{ B("x = \"a\"; x = 1"), D_OP_INCOMPAT, NULL },
	{ B("x = \"a\"; x = 0"), OK, NULL },
	{ B("x = \"a\"; x = NULL"), OK, NULL },
	{ B("x = 1; x = \"a\""), D_OP_INCOMPAT, NULL },
	{ B("trace(1 - \"a\")"), D_OP_INCOMPAT, NULL },
	{ B("trace(\"a\" * 1)"), D_OP_ARITH, NULL },
	{ B("trace(-\"a\")"), D_OP_ARITH, NULL },
	{ B("trace(~\"a\")"), D_OP_INT, NULL },
	{ B("trace(\"a\" % 1)"), D_OP_INT, NULL },
	{ B("trace(\"a\" << 1)"), D_OP_INT, NULL },
	{ B("trace(1 & \"a\")"), D_OP_INT, NULL },
	{ B("trace(!\"a\")"), D_OP_SCALAR, NULL },
	{ B("trace(\"a\" && 1)"), D_OP_SCALAR, NULL },
	{ B("trace(1 ^^ 0)"), OK, NULL },
	{ B("trace(\"a\" ? 1 : 2)"), D_OP_SCALAR, NULL },
	{ B("trace(pid ? 1 : \"a\")"), D_OP_INCOMPAT, NULL },
	{ B("trace(1 ? 1 : \"a\")"), OK, NULL },
	{ B("trace(arg0 ? trace(1) : trace(2))"), D_OP_ACT, NULL },
	{ B("trace(1), trace(2)"), D_OP_ACT, NULL },
	{ B("trace(1 == \"a\")"), D_OP_INCOMPAT, NULL },
	{ B("trace(\"b\" > \"a\")"), OK, NULL },
	{ B("trace((char *)arg0 == \"a\")"), OK, NULL },
	{ B("trace((int *)arg0 == (char *)arg0)"), D_OP_INCOMPAT, NULL },
	{ B("trace((int *)arg0 == (void *)arg0)"), OK, NULL },
	{ B("trace((int *)arg0 == NULL)"), OK, NULL },
	{ B("trace((void *)arg0 + 1)"), D_OP_INCOMPAT, NULL },
	{ B("trace((int *)arg0 + 1)"), OK, NULL },
	{ B("trace(1 + (int *)arg0)"), OK, NULL },
	{ B("trace(1 - (int *)arg0)"), D_OP_INCOMPAT, NULL },
	{ B("trace((int *)arg0 - (int *)arg1)"), OK, NULL },
	{ B("trace((int *)arg0 + (int *)arg1)"), D_OP_INCOMPAT, NULL },
	{ B("trace(1 / 0)"), D_DIV_ZERO, NULL },
	{ B("trace(1 % 0)"), D_DIV_ZERO, NULL },
	{ B("x = 1; x /= 0"), D_DIV_ZERO, NULL },
	{ B("x = 1; x %= (1 - 1)"), D_DIV_ZERO, NULL },
	{ B("trace(*arg0)"), D_DEREF_NONPTR, NULL },
	{ B("trace(*(void *)arg0)"), D_DEREF_VOID, NULL },
	{ B("trace(*(int *)arg0)"), OK, NULL },
	{ B("trace(((int *)arg0)[3])"), OK, NULL },
	{ B("trace(((int *)arg0)[\"a\"])"), D_OP_INT, NULL },
	{ B("x = 1; trace(&x)"), D_ADDROF_VAR, NULL },
	{ B("self->x = 1; trace(&self->x)"), D_ADDROF_VAR, NULL },
	{ B("a[1] = 1; trace(&a[1])"), D_ADDROF_VAR, NULL },
	{ B("trace(&@a)"), D_ADDROF_VAR, NULL },
	{ B("trace(&1)"), D_ADDROF_LVAL, NULL },
	{ B("trace(&`total)"), OK, NULL },
	{ B("trace(arg0->x)"), D_OP_PTR, NULL },
	{ B("trace(arg0.x)"), D_OP_SOU, NULL },
	{ B("trace(((int *)arg0)->x)"), D_OP_SOU, NULL },
	{ B("trace(`origin.z)"), D_TYPE_MEMBER, NULL },
	{ "struct fwd; BEGIN{trace(((struct fwd *)arg0)->x)}", D_OP_INCOMPLETE,
		NULL },
	{ B("x = printf(\"a\")"), D_OP_INCOMPAT, NULL },
	{ B("x = @a"), D_OP_INCOMPAT, NULL },
	{ B("trace((struct point)arg0)"), D_CAST_INVAL, NULL },
	{ B("trace((int)\"abc\")"), D_CAST_INVAL, NULL },
	{ B("trace((string)arg0)"), OK, NULL },
	{ B("trace((point_t *)arg0)"), OK, NULL },
	{ B("trace(((point_t *)arg0)->y)"), OK, NULL },
	{ B("trace(sizeof(int) + sizeof 1)"), OK, NULL },
	{ B("trace(sizeof(point_t))"), OK, NULL },
	{ B("trace(sizeof(void))"), D_SIZEOF_TYPE, NULL },
	{ B("trace(sizeof(struct nope))"), D_SIZEOF_TYPE, NULL },
	{ B("trace(offsetof(struct point, y))"), OK, NULL },
	{ B("trace(offsetof(struct point, z))"), D_UNKNOWN, NULL },
	{ B("trace(offsetof(int, z))"), D_OFFSETOF_TYPE, NULL },
	{ "struct b { int f:3; }; BEGIN{trace(offsetof(struct b, f))}",
		D_OFFSETOF_BITFIELD, NULL },
	{ "struct b { int f:3; }; BEGIN{trace(sizeof(((struct b *)arg0)->f))}",
		D_SIZEOF_BITFIELD, NULL },
	{ "struct b { int f:3; }; BEGIN{trace(&((struct b *)arg0)->f)}",
		D_ADDROF_BITFIELD, NULL },
	{ "struct b { int f:3; }; BEGIN{trace(((struct b *)arg0)->f)}", OK,
		NULL },
	{ B("trace(stringof(arg0))"), OK, NULL },
	{ B("trace(stringof(`origin))"), D_STRINGOF_TYPE, NULL },
	{ B("x = `title"), D_OP_ARRFUN, NULL },
	{ "int a[4]; BEGIN{a = 1}", D_OP_ARRFUN, NULL },
	{ "int a[4]; BEGIN{trace(a[4])}", D_ARR_BOUNDS, NULL },
	{ "enum e { A, B }; BEGIN{trace((enum e)1 == B)}", OK, NULL },
	/* Tags of an enum of the target are known beside its values only. */
	{ B("trace((enum color)1 == BLUE)"), OK, NULL },
	{ "int BLUE; BEGIN{trace((enum color)1 == BLUE)}", D_IDENT_AMBIG, NULL },
	{ B("trace(1 ? 2 : 3, 4)"), D_PROTO_LEN, NULL },
	{ B("trace((1, 2))"), OK, NULL },
	{ "BEGIN/\"a\"/{}", D_PRED_SCALAR, NULL },
	{ "BEGIN/`origin/{}", D_PRED_SCALAR, NULL },
	{ B("trace(count())"), D_TRACE_VOID, NULL },
	{ B("count()"), D_CG_EXPR, NULL },
	{ B("x = usym(1)"), D_OP_INCOMPAT, NULL },
	{ B("1; arg0;"), OK, NULL },
};

static const struct row calls[] = {
	{ B("trace(strlen(\"a\"))"), OK, NULL },
	{ B("trace(strlen())"), D_PROTO_LEN, NULL },
	{ B("trace(strlen(\"a\", 1))"), D_PROTO_LEN, NULL },
	{ B("trace(strlen(1))"), D_PROTO_ARG, NULL },
	{ B("trace(substr(\"abc\", 1))"), OK, NULL },
	{ B("trace(substr(\"abc\", 1, 2))"), OK, NULL },
	{ B("trace(substr(\"abc\"))"), D_PROTO_LEN, NULL },
	{ B("trace(copyinstr(arg0, 10))"), OK, NULL },
	{ B("trace(mutex_owned(0))"), D_UNKNOWN, NULL },
	{ B("stack()"), OK, NULL },
	{ B("stack(0)"), D_STACK_SIZE, NULL },
	{ B("printf(\"%d\", printf(\"\"))"), D_PRINTF_ARG_TYPE, NULL },
	{ B("panic()"), D_UNKNOWN, NULL },
	{ B("breakpoint()"), D_UNKNOWN, NULL },
	{ B("trace()"), D_PROTO_LEN, NULL },
	{ B("trace(@a)"), D_TRACE_DYN, NULL },
	{ B("trace(exit(1))"), D_TRACE_VOID, NULL },
	{ B("print(@a)"), D_PRINT_AGG, NULL },
	{ B("print(exit(1))"), D_PRINT_VOID, NULL },
	{ B("tracemem(arg0, 10)"), OK, NULL },
	{ B("tracemem(arg0, 10, arg1)"), OK, NULL },
	{ B("tracemem(arg0, arg1)"), D_TRACEMEM_SIZE, NULL },
	{ B("tracemem(arg0, 0)"), D_TRACEMEM_SIZE, NULL },
	{ B("tracemem(`origin, 8)"), D_TRACEMEM_ADDR, NULL },
	{ B("tracemem(1, 2, 3, 4)"), D_PROTO_LEN, NULL },
	{ B("tracemem(1, 2, \"a\")"), D_TRACEMEM_DYNSIZE, NULL },
	{ B("ustack()"), OK, NULL },
	{ B("ustack(3, 0)"), OK, NULL },
	{ B("ustack(0)"), D_USTACK_FRAMES, NULL },
	{ B("ustack(arg0)"), D_USTACK_FRAMES, NULL },
	{ B("ustack(1, arg0)"), D_USTACK_STRSIZE, NULL },
	{ B("ustack(1, 2, 3)"), D_PROTO_LEN, NULL },
	{ B("jstack(5)"), OK, NULL },
	{ B("usym(arg0); umod(arg0); uaddr(arg0); ufunc(arg0)"), OK, NULL },
	{ B("usym()"), D_PROTO_LEN, NULL },
	{ B("usym(\"a\")"), D_PROTO_ARG, NULL },
	{ B("exit(0)"), OK, NULL },
	{ B("exit()"), D_PROTO_LEN, NULL },
	{ B("exit(\"a\")"), D_PROTO_ARG, NULL },
	{ B("raise(9); stop(); chill(1)"), OK, NULL },
	{ B("setopt(\"quiet\")"), OK, NULL },
	{ B("x = \"a\"; setopt(x, x)"), OK, NULL },
	{ B("setopt(1)"), D_PROTO_ARG, NULL },
	{ B("ftruncate()"), OK, NULL },
	{ B("freopen(\".\")"), D_FREOPEN_INVALID, NULL },
	{ B("freopen(\"\")"), OK, NULL },
	{ B("system(\"date %d\", 1)"), OK, NULL },
	{ B("trace(alloca(1000000))"), D_ALLOCA_SIZE, NULL },
	{ B("p = alloca(8); p = (void *)arg0"), D_ALLOCA_INCOMPAT, NULL },
	{ B("p = (char *)alloca(8); *p = 1; p = 0"), OK, NULL },
	/* printf */
	{ B("printf()"), D_PROTO_LEN, NULL },
	{ B("printf(1)"), D_PROTO_ARG, NULL },
	{ B("x = \"a\"; printf(x)"), D_PRINTF_ARG_FMT, NULL },
	{ B("printf(\"\")"), D_PRINTF_FMT_EMPTY, NULL },
	{ B("printf(\"a\")"), OK, NULL },
	{ B("printf(\"%d\")"), D_PRINTF_ARG_PROTO, NULL },
	{ B("printf(\"%d\", 1, 2)"), D_PRINTF_ARG_EXTRA, NULL },
	{ B("printf(\"%d\", \"a\")"), D_PRINTF_ARG_TYPE, NULL },
	{ B("printf(\"%s\", 1)"), D_PRINTF_ARG_TYPE, NULL },
	{ B("printf(\"%s\", `title)"), OK, NULL },
	{ B("printf(\"%hd\", 1)"), D_PRINTF_ARG_TYPE, NULL },
	{ B("printf(\"%ld\", 1)"), D_PRINTF_ARG_TYPE, NULL },
	{ B("printf(\"%lld %p\", arg0, arg0)"), OK, NULL },
	{ B("printf(\"%*d\", 1, 2)"), OK, NULL },
	{ B("printf(\"%*d\", \"a\", 2)"), D_PRINTF_DYN_TYPE, NULL },
	{ B("printf(\"%*d\")"), D_PRINTF_DYN_PROTO, NULL },
	{ B("printf(\"%.*s\", 1, \"a\")"), OK, NULL },
	{ B("printf(\"%@d\", 1)"), D_PRINTF_AGG_CONV, NULL },
	{ B("@a = count(); printf(\"%d\", @a)"), D_PRINTF_ARG_TYPE, NULL },
	{ B("printf(\"%Y\", walltimestamp)"), OK, NULL },
	{ B("printf(\"%Y\", 1)"), D_PRINTF_ARG_TYPE, NULL },
	{ B("printf(\"%A\", uaddr(arg0))"), OK, NULL },
	{ B("printf(\"%z\", 1)"), D_SYNTAX, NULL },
};

static const struct row aggregations[] = {
	{ B("@a = count()"), OK, NULL },
	{ B("@a[1, \"x\"] = sum(arg0)"), OK, NULL },
	{ B("@a[ustack(), usym(arg0)] = count()"), OK, NULL },
	{ B("@a = 1"), D_AGG_FUNC, NULL },
	{ B("@a = strlen(\"x\")"), D_AGG_FUNC, NULL },
	{ B("@a += count()"), D_AGG_FUNC, NULL },
	{ B("@a = nosuch()"), D_FUNC_UNDEF, NULL },
	{ B("@a"), D_IDENT_UNDEF, NULL },
	{ B("@a = count(); @a"), D_AGG_NULL, NULL },
	{ B("@a[1]"), D_AGG_NULL, NULL },
	{ B("@a[1][2] = count()"), D_AGG_MDIM, NULL },
	{ B("@a = count(); @a = sum(1)"), D_AGG_REDEF, NULL },
	{ B("@a = count(1)"), D_PROTO_LEN, NULL },
	{ B("@a = sum()"), D_PROTO_LEN, NULL },
	{ B("@a = sum(\"x\")"), D_AGG_SCALAR, NULL },
	{ B("@a[1] = count(); @a[\"x\"] = count()"), D_PROTO_ARG, NULL },
	{ B("@a[1] = count(); @a = count()"), D_PROTO_LEN, NULL },
	{ B("@a[exit(1)] = count()"), D_KEY_TYPE, NULL },
	{ B("@a = quantize(1, 2)"), OK, NULL },
	{ B("@a = quantize(1, \"a\")"), D_PROTO_ARG, NULL },
	{ B("@a = lquantize(1, 0, 10, 1)"), OK, NULL },
	{ B("@a = lquantize(1, 0, 10, 1, 5)"), OK, NULL },
	{ B("@a = lquantize(1, arg0, 10, 1)"), D_LQUANT_BASETYPE, NULL },
	{ B("@a = lquantize(1, 9999999999, 10, 1)"), D_LQUANT_BASEVAL, NULL },
	{ B("@a = lquantize(1, 0, arg0, 1)"), D_LQUANT_LIMTYPE, NULL },
	{ B("@a = lquantize(1, 0, 9999999999, 1)"), D_LQUANT_LIMVAL, NULL },
	{ B("@a = lquantize(1, 10, 10, 1)"), D_LQUANT_MISMATCH, NULL },
	{ B("@a = lquantize(1, 0, 10, arg0)"), D_LQUANT_STEPTYPE, NULL },
	{ B("@a = lquantize(1, 0, 10, 0)"), D_LQUANT_STEPTYPE, NULL },
	{ B("@a = lquantize(1, 0, 10, 65536)"), D_LQUANT_STEPVAL, NULL },
	{ B("@a = lquantize(1, 0, 10, 11)"), D_LQUANT_STEPLARGE, NULL },
	{ B("@a = lquantize(1, 0, 100000, 1)"), D_LQUANT_STEPSMALL, NULL },
	{ B("@a = lquantize(1,0,10,1); @a = lquantize(1,1,10,1)"),
		D_LQUANT_MATCHBASE, NULL },
	{ B("@a = lquantize(1,0,10,1); @a = lquantize(1,0,11,1)"),
		D_LQUANT_MATCHLIM, NULL },
	{ B("@a = lquantize(1,0,10,1); @a = lquantize(1,0,10,2)"),
		D_LQUANT_MATCHSTEP, NULL },
	{ B("@a = llquantize(1, 10, 0, 6, 20)"), OK, NULL },
	{ B("@a = llquantize(1, arg0, 0, 6, 20)"), D_LLQUANT_FACTORTYPE, NULL },
	{ B("@a = llquantize(1, 1, 0, 6, 20)"), D_LLQUANT_FACTORVAL, NULL },
	{ B("@a = llquantize(1, 10, arg0, 6, 20)"), D_LLQUANT_LMAGTYPE, NULL },
	{ B("@a = llquantize(1, 10, 70000, 6, 20)"), D_LLQUANT_LMAGVAL, NULL },
	{ B("@a = llquantize(1, 10, 0, arg0, 20)"), D_LLQUANT_HMAGTYPE, NULL },
	{ B("@a = llquantize(1, 10, 4, 3, 20)"), D_LLQUANT_HMAGVAL, NULL },
	{ B("@a = llquantize(1, 10, 0, 30, 20)"), D_LLQUANT_HMAGVAL, NULL },
	{ B("@a = llquantize(1, 10, 0, 6, arg0)"), D_LLQUANT_STEPTYPE, NULL },
	{ B("@a = llquantize(1, 10, 0, 6, 3)"), D_LLQUANT_STEPVAL, NULL },
	{ B("@a = llquantize(1, 10, 0, 6, 21)"), D_LLQUANT_STEPVAL, NULL },
	{ B("@a = llquantize(1,10,0,6,20); @a = llquantize(1,2,0,6,4)"),
		D_LLQUANT_MATCHFACTOR, NULL },
	{ B("@a = llquantize(1,10,0,6,20); @a = llquantize(1,10,1,6,20)"),
		D_LLQUANT_MATCHLMAG, NULL },
	{ B("@a = llquantize(1,10,0,6,20); @a = llquantize(1,10,0,5,20)"),
		D_LLQUANT_MATCHHMAG, NULL },
	{ B("@a = llquantize(1,10,0,6,20); @a = llquantize(1,10,0,6,10)"),
		D_LLQUANT_MATCHSTEPS, NULL },
	{ B("printa(@a)"), D_PRINTA_AGGBAD, NULL },
	{ B("printa()"), D_PROTO_LEN, NULL },
	{ B("printa(\"a\")"), D_PRINTA_PROTO, NULL },
	{ B("printa(1)"), D_PRINTA_AGGARG, NULL },
	{ B("printa(\"x\", 1)"), D_PRINTA_AGGARG, NULL },
	{ B("@a = count(); printa(\"%@d\", @a)"), OK, NULL },
	{ B("@a[1] = count(); printa(\"%d %@d\", @a)"), OK, NULL },
	{ B("@a = count(); printa(\"%d %@d\", @a)"), D_PRINTF_ARG_PROTO, NULL },
	{ B("@a[1] = count(); printa(\"%s %@d\", @a)"), D_PRINTF_ARG_TYPE,
		NULL },
	{ B("@a = count(); @b = sum(1); printa(@a, @b)"), OK, NULL },
	{ B("@a[1] = count(); @b = sum(1); printa(@a, @b)"),
		D_PRINTA_AGGKEY, NULL },
	{ B("@a[1] = count(); @b[\"x\"] = sum(1); printa(@a, @b)"),
		D_PRINTA_AGGPROTO, NULL },
	{ B("clear()"), D_PROTO_LEN, NULL },
	{ B("clear(1)"), D_CLEAR_AGGARG, NULL },
	{ B("clear(@a)"), D_CLEAR_AGGBAD, NULL },
	{ B("normalize(1)"), D_PROTO_LEN, NULL },
	{ B("normalize(1, 1)"), D_NORMALIZE_AGGARG, NULL },
	{ B("normalize(@a, 1)"), D_NORMALIZE_AGGBAD, NULL },
	{ B("@a = count(); normalize(@a, \"x\")"), D_PROTO_ARG, NULL },
	{ B("denormalize(1)"), D_NORMALIZE_AGGARG, NULL },
	{ B("denormalize()"), D_PROTO_LEN, NULL },
	{ B("trunc()"), D_PROTO_LEN, NULL },
	{ B("@a = count(); trunc(@a, 1, 2)"), D_PROTO_LEN, NULL },
	{ B("trunc(1)"), D_TRUNC_AGGARG, NULL },
	{ B("trunc(@a)"), D_TRUNC_AGGBAD, NULL },
	{ B("@a = count(); trunc(@a, \"x\")"), D_PROTO_ARG, NULL },
	{ B("@a = count(); clear(@a); trunc(@a); trunc(@a, 5); "
	    "normalize(@a, 2); denormalize(@a)"), OK, NULL },
	{ B("x = 1; x = (@a = count())"), D_CG_DYN, NULL },
};

static const struct row speculation[] = {
	{ B("speculate(1); trace(1)"), OK, NULL },
	{ B("self->s = speculation(); speculate(self->s)"), OK, NULL },
	{ B("speculate(1); speculate(2)"), D_SPEC_SPEC, NULL },
	{ B("commit(1); speculate(2)"), D_SPEC_COMM, NULL },
	{ B("trace(1); speculate(2)"), D_SPEC_DREC, NULL },
	{ B("trace(1); commit(2)"), D_COMM_DREC, NULL },
	{ B("commit(2); trace(1)"), D_DREC_COMM, NULL },
	{ B("speculate(1); stop()"), D_ACT_SPEC, NULL },
	{ B("speculate(1); system(\"x\")"), D_ACT_SPEC, NULL },
	{ B("speculate(1); copyout(alloca(1), arg0, 1)"), D_ACT_SPEC, NULL },
	{ B("speculate(1); exit(0)"), D_EXIT_SPEC, NULL },
	{ B("speculate(1); @a = count()"), D_AGG_SPEC, NULL },
	{ B("commit(1); @a = count()"), D_AGG_COMM, NULL },
	{ B("speculate(1); discard(1)"), OK, NULL },
};

static const struct row declarations[] = {
	{ "int x; BEGIN{x = 1}", OK, NULL },
	{ "self int x; this string s; BEGIN{self->x = 1; this->s = \"a\"}", OK,
		NULL },
	{ "int a[int, string]; BEGIN{a[1, \"x\"] = 1}", OK, NULL },
	{ "int a[int, string]; BEGIN{a[\"x\", 1] = 1}", D_PROTO_ARG, NULL },
	{ "uint64_t x; string s; BEGIN{x = 1; s = \"a\"}", OK, NULL },
	{ "int x;\nint x;", OK, NULL },
	{ "int x;\nstring x;", D_DECL_IDRED, NULL },
	{ "int pid;", D_DECL_IDRED, NULL },
	{ "int;", D_DECL_USELESS, NULL },
	{ "short char x;", D_DECL_CHARATTR, NULL },
	{ "unsigned void x;", D_DECL_VOIDATTR, NULL },
	{ "unsigned float x;", D_DECL_SIGNINT, NULL },
	{ "signed struct point x;", D_DECL_SIGNINT, NULL },
	{ "long struct point x;", D_DECL_LONGINT, NULL },
	{ "int char x;", D_DECL_COMBO, NULL },
	{ "long long long x;", D_DECL_COMBO, NULL },
	{ "short long x;", D_UNKNOWN, NULL },
	{ "signed unsigned x;", D_DECL_COMBO, NULL },
	{ "unsigned long long int x; long double d; signed char c;", OK, NULL },
	{ "self this int x;", D_DECL_CLASS, NULL },
	{ "static int x;", D_DECL_BADCLASS, NULL },
	{ "auto int x;", D_DECL_BADCLASS, NULL },
	{ "extern x;", D_DECL_IDENT, NULL },
	{ "void x;", D_DECL_VOIDOBJ, NULL },
	{ "void x[3];", D_DECL_VOIDOBJ, NULL },
	{ "int x[0];", D_DECL_ARRSUB, NULL },
	{ "int x[-1];", D_DECL_ARRSUB, NULL },
	{ "int x[];", D_DECL_ARRNULL, NULL },
	{ "int x[4294967296];", D_DECL_ARRBIG, NULL },
	{ "int x[3][int];", D_DECL_DYNOBJ, NULL },
	{ "int x[int][3];", OK, NULL },
	{ "this int x[int];", D_DECL_LOCASSC, NULL },
	{ "int x[int, ...];", D_DECL_PROTO_VARARGS, NULL },
	{ "int x[void];", D_DECL_PROTO_TYPE, NULL },
	{ "int x[int, void];", D_DECL_PROTO_TYPE, NULL },
	{ "int x[register int];", D_DECL_PARMCLASS, NULL },
	{ "struct s x;", D_DECL_INCOMPLETE, NULL },
	{ "struct s { int a; }; struct s { int b; };", D_DECL_TYPERED, NULL },
	{ "struct s { int a; int a; };", D_UNKNOWN, NULL },
	{ "struct s { void v; };", D_DECL_VOIDOBJ, NULL },
	{ "struct s { struct t x; };", D_DECL_INCOMPLETE, NULL },
	{ "struct s { int; };", D_DECL_MNAME, NULL },
	{ "struct s { int a[int]; };", D_DECL_DYNOBJ, NULL },
	{ "struct s { long :3; }; BEGIN{trace(((struct s *)arg0)->f)}",
		D_TYPE_MEMBER, NULL },
	{ "struct s { int x:33; };", D_DECL_BFSIZE, NULL },
	{ "struct s { int x:0; };", D_DECL_BFCONST, NULL },
	{ "struct s { int x:pid; };", D_DECL_BFCONST, NULL },
	{ "struct s { string x:3; };", D_DECL_BFTYPE, NULL },
	{ "struct s { struct s *next; int a, *b, c[3]; union { int d; "
	  "char e; }; int f:3, :5, g:4; } v;", OK, NULL },
	{ "enum e { A = \"x\" };", D_DECL_ENCONST, NULL },
	{ "enum e { A = 2147483648 };", D_DECL_ENOFLOW, NULL },
	{ "enum e { A = 2147483647, B };", D_DECL_ENOFLOW, NULL },
	{ "enum e { A, B = 5, C }; BEGIN{trace(A + C)}", OK, NULL },
	{ "enum e { A, A };", D_UNKNOWN, NULL },
	{ "int a`b;", D_DECL_SCOPE, NULL },
	{ "typedef int foo; foo x; BEGIN{x = (foo)3; trace(sizeof(foo))}", OK,
		NULL },
	{ "typedef int foo; typedef string foo;", D_DECL_IDRED, NULL },
	{ "int foo; typedef int foo;", D_DECL_IDRED, NULL },
	{ "typedef struct { int a; } foo_t; foo_t *p; BEGIN{p = (foo_t *)arg0; "
	  "trace(p->a)}", OK, NULL },
	{ "extern int total; BEGIN{trace(total)}", OK, NULL },
	{ "extern int nosuch; BEGIN{trace(nosuch)}", D_IDENT_UNDEF, NULL },
	{ "int (*fp)(int, char *); BEGIN{trace(fp)}", OK, NULL },
	{ "int x = 1;", D_SYNTAX, NULL },
	{ "inline int n = 5; BEGIN{trace(n + 1)}", OK, NULL },
	{ "inline int sq[int x] = x * x; BEGIN{trace(sq[3] + sq[sq[2]])}", OK,
		NULL },
	{ "inline string s = \"abc\"; BEGIN{trace(strlen(s))}", OK, NULL },
	{ "inline int n = \"a\"; BEGIN{}", D_OP_INCOMPAT, NULL },
	{ "inline int n = m;", D_IDENT_UNDEF, NULL },
	{ "inline int n = 1; inline int n = 2;", D_DECL_IDRED, NULL },
	{ "inline self int n = 1;", D_DECL_BADCLASS, NULL },
	{ "inline int;", D_DECL_USELESS, NULL },
	{ "inline int n[int] = 1;", D_DECL_PROTO_NAME, NULL },
	{ "inline int n[3] = 1;", D_DECL_ARRNULL, NULL },
	{ "inline int n[int a, int a] = 1;", D_DECL_PROTO_FORM, NULL },
	{ "inline int n = 1; BEGIN{n = 2}", D_OP_WRITE, NULL },
	{ "inline int n[int a] = a; BEGIN{trace(n)}", D_IDENT_BADREF, NULL },
	{ "inline int n[int a] = a; BEGIN{trace(n[\"x\"])}", D_PROTO_ARG, NULL },
	{ "provider p { probe a(int, char *); probe b__c(void); };", OK, NULL },
	{ "provider p1 { };", D_PROV_BADNAME, NULL },
	{ "provider p { probe a(); probe a(); };", D_PROV_PRDUP, NULL },
	{ "provider p { probe a(); }; provider p { probe b(); };",
		D_PROV_INCOMPAT, NULL },
	{ "provider p { probe a(int x, int y) : (int y); };", OK, NULL },
};

static const struct row control[] = {
	{ "#pragma D option quiet\nBEGIN{}", OK, NULL },
	{ "#pragma D option quiet /* c */\nBEGIN{}", OK, NULL },
	{ "#pragma D option nosuch\nBEGIN{}", D_PRAGMA_OPTSET, NULL },
	{ "#pragma D option strsize=x\nBEGIN{}", D_PRAGMA_OPTSET, NULL },
	{ "#pragma D option\nBEGIN{}", D_PRAGMA_MALFORM, NULL },
	{ "#pragma D option quiet loud\nBEGIN{}", D_PRAGMA_MALFORM, NULL },
	{ "#pragma D nosuch\nBEGIN{}", D_PRAGMA_INVAL, NULL },
	{ "#pragma other thing\nBEGIN{}", OK, NULL },
	{ "#nosuch\nBEGIN{}", D_PRAGCTL_INVAL, NULL },
	{ "#\nBEGIN{}", OK, NULL },
	{ "#error stop here\nBEGIN{}", D_PRAGERR, NULL },
	{ "#pragma D error stop\nBEGIN{}", D_PRAGERR, NULL },
	{ "#line 5 \"x.d\"\nBEGIN{}", OK, NULL },
	{ "# 5 \"x.d\" 1\nBEGIN{}", OK, NULL },
	{ "#line x\nBEGIN{}", D_PRAGMA_MALFORM, NULL },
	{ "#ident \"x\"\nBEGIN{}", OK, NULL },
	{ "#pragma D attributes Evolving/Evolving/ISA x\nint x;", OK, NULL },
	{ "#pragma D attributes Evolving/Evolving/ISA x\nBEGIN{}",
		D_PRAGMA_UNUSED, NULL },
	{ "#pragma D attributes Evolving/Evolving/ISA pid\nBEGIN{}",
		D_PRAGMA_SCOPE, NULL },
	{ "#pragma D attributes Odd/Evolving/ISA x\nint x;", D_PRAGMA_INVAL,
		NULL },
	{ "#pragma D attributes\nint x;", D_PRAGMA_MALFORM, NULL },
	{ "#pragma D attributes Stable/Stable/ISA provider p args\nint x;", OK,
		NULL },
	{ "#pragma D binding \"1.0\" x\ninline int x = 1;", OK, NULL },
	{ "#pragma D binding \"one\" x\ninline int x = 1;", D_PRAGMA_INVAL,
		NULL },
	{ "#pragma D depends_on library x.d\nBEGIN{}", D_PRAGMA_DEPEND, NULL },
	{ "#pragma D depends_on provider x\nBEGIN{}", OK, NULL },
	{ "#pragma D depends_on nothing x\nBEGIN{}", D_PRAGMA_INVAL, NULL },
};

#define XLATOR                                                                 \
	"struct in { int a; char *s; }; struct out { int b; string t; int u; };" \
	"translator struct out < struct in *p > { b = p->a + 1; "              \
	"t = stringof(p->s); };"

static const struct row translators[] = {
	{ XLATOR "BEGIN{trace(xlate <struct out *> ((struct in *)arg0)->b)}",
		OK, NULL },
	{ XLATOR "BEGIN{trace(xlate <struct out> ((struct in *)arg0).t)}", OK,
		NULL },
	{ XLATOR "BEGIN{trace(xlate <struct out> ((struct in *)arg0).u)}",
		D_XLATE_NOCONV, NULL },
	{ XLATOR "BEGIN{trace(xlate <struct out> ((struct in *)arg0).v)}",
		D_TYPE_MEMBER, NULL },
	{ XLATOR "BEGIN{trace(xlate <struct out> (1).b)}", D_XLATE_NONE, NULL },
	{ XLATOR "BEGIN{trace(xlate <int> (1))}", D_XLATE_SOU, NULL },
	{ XLATOR "BEGIN{trace(xlate <struct out *> ((struct in *)arg0))}",
		D_TRACE_DYN, NULL },
	{ XLATOR "BEGIN{x = xlate <struct out *> ((struct in *)arg0)}",
		D_CG_DYN, NULL },
	{ XLATOR "translator struct out < struct in *q > { b = 1; };",
		D_XLATE_REDECL, NULL },
	{ "struct o { int b; }; translator struct o < int p > { c = 1; };",
		D_XLATE_MEMB, NULL },
	{ "struct o { int b; }; translator struct o < int p > { b = \"x\"; };",
		D_XLATE_INCOMPAT, NULL },
	{ B("trace(curpsinfo->pr_psargs); trace(curlwpsinfo->pr_lwpid)"), OK,
	    NULL },
	{ B("trace(curpsinfo->pr_psargs)"), D_IDENT_UNDEF, "nolibs" },
	{ B("trace(curpsinfo->pr_nosuch)"), D_TYPE_MEMBER, NULL },
	{ "translator int < int p > { };", D_XLATE_SOU, NULL },
	{ "translator struct nope < int p > { };", D_XLATE_SOU, NULL },
};
/* clang-format on */

static const struct {
	const struct row *rows;
	size_t n;
} tables[] = {
	{ lexical, ARRAY_SIZE(lexical) },
	{ descriptions, ARRAY_SIZE(descriptions) },
	{ names, ARRAY_SIZE(names) },
	{ operators, ARRAY_SIZE(operators) },
	{ calls, ARRAY_SIZE(calls) },
	{ aggregations, ARRAY_SIZE(aggregations) },
	{ speculation, ARRAY_SIZE(speculation) },
	{ declarations, ARRAY_SIZE(declarations) },
	{ control, ARRAY_SIZE(control) },
	{ translators, ARRAY_SIZE(translators) },
};

START_TEST(every_row_has_its_tag)
{
	check_rows(tables[_i].rows, tables[_i].n);
}
END_TEST

/* The world, as it is; and how often it was asked for a type. */
static unsigned types_asked;

static int
count_type(void *w, const char *object, const char *name, struct types *ts,
    struct type **out)
{
	types_asked++;
	if (strcmp(name, "struct file") != 0)
		return fake_world.ops->type(w, object, name, ts, out);
	*out = types_new(ts, TYPE_STRUCT);
	(*out)->name = "file";
	(*out)->size = 24;
	(*out)->foreign = true;
	return 0;
}

/* Debug information is large: it is not looked into for a type that only the
 * library mentions.  A program that mentions it means the target's. */
START_TEST(the_library_asks_the_target_for_nothing)
{
	struct world_ops ops = *fake_world.ops;
	const struct world w = { &ops, NULL };

	open_session(NULL);
	cc_destroy(r.cc);
	types_asked = 0;
	ops.type = count_type;
	r.cc = cc_create(&w, &r.opts);
	ck_assert_uint_eq(types_asked, 0);
	compile(B("trace(fds[0].fi_name);"
		  "trace(xlate <fileinfo_t> ((struct file *)3).fi_name);"
		  "trace(sizeof (struct file))"));
	ck_assert_msg(r.error == 0, "%s", r.diags.first.text);
	ck_assert_uint_eq(types_asked, 1);
	close_session();
}
END_TEST

/* A name that the traced program has. */
START_TEST(variables_of_the_program_are_hinted_at)
{
	static const struct {
		const char *text, *hint;
	} rows[] = {
		{ B("trace(total)"),
		    "the variable total of the traced program is `total" },
		{ P("trace(n)"),
		    "the variable n of the traced program is local`n" },
		{ P("trace(total)"),
		    "the variable total of the traced program is `total" },
		{ B("trace(nothing_like_it)"), NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		open_session(NULL);
		compile(rows[i].text);
		ck_assert_int_eq(r.diags.first.tag, D_IDENT_UNDEF);
		ck_assert_pstr_eq(r.diags.first.hint, rows[i].hint);
		close_session();
	}
}
END_TEST

START_TEST(variables_have_numbers_of_16_bits)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (int i = 0; i <= DIF_VAR_MAX - DIF_VAR_USER + 1; i++)
		fprintf(f, "%s x%d", i == 0 ? "int" : ",", i);
	fprintf(f, ";");
	fclose(f);
	open_session(NULL);
	compile(text);
	ck_assert_int_ne(r.error, 0);
	ck_assert_int_eq(r.diags.first.tag, D_ID_OFLOW);
	close_session();
	free(text);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("cc");
	TCase *tc = tcase_create("cc");
	SRunner *sr = srunner_create(s);

	tcase_add_loop_test(
	    tc, every_row_has_its_tag, 0, (int)ARRAY_SIZE(tables));
	tcase_add_test(tc, the_library_asks_the_target_for_nothing);
	tcase_add_test(tc, variables_of_the_program_are_hinted_at);
	tcase_add_test(tc, variables_have_numbers_of_16_bits);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_ENV);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
