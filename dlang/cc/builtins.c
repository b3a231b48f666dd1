/*
 * What is predefined in every program: built-in variables, subroutines, actions
 * and aggregating functions, all from the rows of the .def files, and the
 * constants that the D libraries of other DTraces define.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "dlang/cc/cc_impl.h"

/* ---- rows ---- */

struct row {
	const char *name;
	enum ident_kind kind;
	uint32_t id;
	const char *proto; /* prototype or type */
	uint32_t flags;
	bool kernel;
};

static const struct row rows[] = {
#define DIF_VAR(n, NAME, text, proto, needs, how)                   \
	{ text, (n) < 0x100 ? ID_ARRAY : ID_BUILTIN, n, proto, how, \
		(how) == V_NONE },
#include "dlang/dif_vars.def"
#undef DIF_VAR
#define DIF_SUBR(n, NAME, text, proto, needs, how) \
	{ text, ID_SUBR, n, proto, how, (how) == S_KERNEL },
#include "dlang/dif_subrs.def"
#undef DIF_SUBR
#define DIF_ACT(n, NAME, text, proto, flags) \
	{ text, ID_ACTION, n, proto, flags, ((flags)&A_KERNEL) != 0 },
#include "dlang/dif_acts.def"
#undef DIF_ACT
	/* The stack of a process, which is always named where the process
	 * is. */
	{ "immstack", ID_ACTION, ACT_USTACK, "stack([uint32_t], [uint32_t])",
	    A_REC, false },
#define DIF_AGG(n, NAME, text, proto, words) \
	{ text, ID_AGGFUNC, n, proto, words, false },
#include "dlang/dif_aggs.def"
#undef DIF_AGG
};

/* Integer constants of the libraries. */
struct constant {
	const char *name;
	int64_t value;
};

#define C(name)             \
	{                   \
#name, name \
	}
#define V(name, value)       \
	{                    \
#name, value \
	}

/* clang-format off */
static const struct constant constants[] = {
	V(NULL, 0),
	C(EPERM), C(ENOENT), C(ESRCH), C(EINTR), C(EIO), C(ENXIO), C(E2BIG),
	C(ENOEXEC), C(EBADF), C(ECHILD), C(EAGAIN), C(ENOMEM), C(EACCES),
	C(EFAULT), C(ENOTBLK), C(EBUSY), C(EEXIST), C(EXDEV), C(ENODEV),
	C(ENOTDIR), C(EISDIR), C(EINVAL), C(ENFILE), C(EMFILE), C(ENOTTY),
	C(ETXTBSY), C(EFBIG), C(ENOSPC), C(ESPIPE), C(EROFS), C(EMLINK),
	C(EPIPE), C(EDOM), C(ERANGE), C(EDEADLK), C(ENAMETOOLONG), C(ENOLCK),
	C(ENOSYS), C(ENOTEMPTY), C(ELOOP), C(EWOULDBLOCK), C(ENOMSG), C(EIDRM),
	C(ECHRNG), C(EL2NSYNC), C(EL3HLT), C(EL3RST), C(ELNRNG), C(EUNATCH),
	C(ENOCSI), C(EL2HLT), C(EBADE), C(EBADR), C(EXFULL), C(ENOANO),
	C(EBADRQC), C(EBADSLT), C(EDEADLOCK), C(EBFONT), C(ENOSTR), C(ENODATA),
	C(ETIME), C(ENOSR), C(ENONET), C(ENOPKG), C(EREMOTE), C(ENOLINK),
	C(EADV), C(ESRMNT), C(ECOMM), C(EPROTO), C(EMULTIHOP), C(EDOTDOT),
	C(EBADMSG), C(EOVERFLOW), C(ENOTUNIQ), C(EBADFD), C(EREMCHG),
	C(ELIBACC), C(ELIBBAD), C(ELIBSCN), C(ELIBMAX), C(ELIBEXEC), C(EILSEQ),
	C(ERESTART), C(ESTRPIPE), C(EUSERS), C(ENOTSOCK), C(EDESTADDRREQ),
	C(EMSGSIZE), C(EPROTOTYPE), C(ENOPROTOOPT), C(EPROTONOSUPPORT),
	C(ESOCKTNOSUPPORT), C(EOPNOTSUPP), C(EPFNOSUPPORT), C(EAFNOSUPPORT),
	C(EADDRINUSE), C(EADDRNOTAVAIL), C(ENETDOWN), C(ENETUNREACH),
	C(ENETRESET), C(ECONNABORTED), C(ECONNRESET), C(ENOBUFS), C(EISCONN),
	C(ENOTCONN), C(ESHUTDOWN), C(ETOOMANYREFS), C(ETIMEDOUT),
	C(ECONNREFUSED), C(EHOSTDOWN), C(EHOSTUNREACH), C(EALREADY),
	C(EINPROGRESS), C(ESTALE), C(EUCLEAN), C(ENOTNAM), C(ENAVAIL),
	C(EISNAM), C(EREMOTEIO), C(EDQUOT), C(ENOMEDIUM), C(EMEDIUMTYPE),
	C(ECANCELED), C(ENOKEY), C(EKEYEXPIRED), C(EKEYREVOKED),
	C(EKEYREJECTED), C(EOWNERDEAD), C(ENOTRECOVERABLE),
	C(SIGHUP), C(SIGINT), C(SIGQUIT), C(SIGILL), C(SIGTRAP), C(SIGABRT),
	V(SIGIOT, SIGABRT), C(SIGBUS), C(SIGFPE), C(SIGKILL), C(SIGUSR1),
	C(SIGSEGV), C(SIGUSR2), C(SIGPIPE), C(SIGALRM), C(SIGTERM),
	C(SIGSTKFLT), C(SIGCHLD), V(SIGCLD, SIGCHLD), C(SIGCONT), C(SIGSTOP),
	C(SIGTSTP), C(SIGTTIN), C(SIGTTOU), C(SIGURG), C(SIGXCPU), C(SIGXFSZ),
	C(SIGVTALRM), C(SIGPROF), C(SIGWINCH), C(SIGPOLL), C(SIGIO), C(SIGPWR),
	C(SIGSYS),
	C(O_RDONLY), C(O_WRONLY), C(O_RDWR), C(O_ACCMODE), C(O_CREAT),
	C(O_EXCL), C(O_NOCTTY), C(O_TRUNC), C(O_APPEND), C(O_NONBLOCK),
	C(O_NDELAY), C(O_SYNC), C(O_DSYNC), C(O_RSYNC), C(O_DIRECTORY),
	C(O_NOFOLLOW), C(O_CLOEXEC), C(O_PATH), C(O_DIRECT), C(O_NOATIME),
	V(O_LARGEFILE, 0100000), V(AF_INET, 2), V(AF_INET6, 10),
	V(ARPHRD_ETHER, 1), V(ARPHRD_INFINIBAND, 32),
	/* Flags of mmap() on other systems; they are 0 here. */
	V(MAP_ALIGN, 0), V(MAP_INITDATA, 0), V(MAP_TEXT, 0),
	V(DTRACEFLT_UNKNOWN, 0), V(DTRACEFLT_BADADDR, 1),
	V(DTRACEFLT_BADALIGN, 2), V(DTRACEFLT_ILLOP, 3),
	V(DTRACEFLT_DIVZERO, 4), V(DTRACEFLT_NOSCRATCH, 5),
	V(DTRACEFLT_KPRIV, 6), V(DTRACEFLT_UPRIV, 7),
	V(DTRACEFLT_TUPOFLOW, 8), V(DTRACEFLT_BADSTACK, 9),
	V(PR_STOPPED, 0x1), V(PR_ASLEEP, 0x10), V(PR_ISSYS, 0x1000),
	V(DTRACEFLT_BADSIZE, 10), V(DTRACEFLT_BADINDEX, 11),
	V(DTRACEFLT_LIBRARY, 1000),
	V(PR_MODEL_ILP32, 1), V(PR_MODEL_LP64, 2),
	V(SSLEEP, 1), V(SRUN, 2), V(SZOMB, 3), V(SSTOP, 4), V(SIDL, 5),
	V(SONPROC, 6), V(SWAIT, 7),
	C(CLD_EXITED), C(CLD_KILLED), C(CLD_DUMPED), C(CLD_TRAPPED),
	C(CLD_STOPPED), C(CLD_CONTINUED),
	V(pset, 0), V(chip, 0), V(lgrp, 0),
	/* Registers: indices of uregs[]. */
#define REGISTER(name, index) V(name, index),
#include "dlang/machine/uregs.def"
#undef REGISTER
};
/* clang-format on */
#undef C
#undef V

/* The type of that name; or a pointer to an opaque type, if only a kernel
 * defines it. */
static struct type *
row_type(struct cc *cc, const char *name)
{
	const char *star = strstr(name, " *");

	if (star == NULL)
		return types_lookup(cc->types, name);
	char *full = arena_strndup(&cc->arena, name, (size_t)(star - name));
	struct type *t = types_lookup(cc->types, full);
	if (t == NULL) {
		t = types_new(cc->types, TYPE_FORWARD);
		t->forward_of = TYPE_STRUCT;
		t->name = full + strlen("struct ");
		types_define(cc->types, full, t);
	}
	return types_pointer(cc->types, t);
}

static void
add_row(struct cc *cc, const struct row *r)
{
	struct ident *id = ident_new(cc, r->name, r->kind);

	id->id = r->id;
	id->scope = DIF_GLOBAL;
	id->def_flags = r->flags;
	id->proto_text = r->proto;
	id->flags = r->kernel ? IDF_KERNEL : 0;
	if (r->kind == ID_BUILTIN || r->kind == ID_ARRAY)
		id->type = row_type(cc, r->proto);
	hash_set_str(&cc->globals, id->name, id);
}

static void
add_constant(struct cc *cc, const struct constant *k)
{
	struct ident *id = ident_new(cc, k->name, ID_ENUM);

	id->value = (uint64_t)k->value;
	id->type = cc->t_int;
	hash_set_str(&cc->globals, id->name, id);
}

/* ---- stability, versions ---- */

static const struct {
	const char *name;
	struct attr attr;
	int32_t since;
} attrs[] = {
#define ATTR(name, n, d, c, major, minor)         \
	{ name, { ATTR_##n, ATTR_##d, ATTR_##c }, \
		OPTION_D_VERSION(major, minor, 0) },
#include "dlang/attr.def"
#undef ATTR
};

static void
add_attrs(struct cc *cc)
{
	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++) {
		struct ident *id = hash_get_str(&cc->globals, attrs[i].name);
		ASSERT(id != NULL); /* a row of a .def file */
		id->attr = attrs[i].attr;
		id->since = attrs[i].since;
	}
}

void
builtins_add(struct cc *cc)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		/* `stack' etc.  are actions that return values, not
		 * subroutines.  No name is in two tables. */
		add_row(cc, &rows[i]);
	add_attrs(cc);
	size_t n =
	    option_get(cc->opts, OPT_NOLIBS) != 0 ? 1 : ARRAY_SIZE(constants);
	for (size_t i = 0; i < n; i++)
		add_constant(cc, &constants[i]);
}

/* ---- prototypes ---- */

static struct type *
proto_type(struct cc *cc, const char *from, size_t len)
{
	while (len > 0 && isspace((unsigned char)*from))
		from++, len--;
	while (len > 0 && isspace((unsigned char)from[len - 1]))
		len--;
	if (len == 1 && *from == '@')
		return NULL;
	char *name = arena_strndup(&cc->arena, from, len);
	struct type *t = types_lookup(cc->types, name);
	if (t == NULL)
		t = row_type(cc, name);
	ASSERT(t != NULL); /* a row of a .def file */
	return t;
}

static size_t
count_commas(const char *s)
{
	size_t n = 0;

	for (; *s != '\0'; s++)
		n += *s == ',';
	return n;
}

/* Parse `type(type, [type], ...)'. A comment in dif_subrs.def explains the
 * signs. */
static struct proto *
parse_proto(struct cc *cc, const char *text)
{
	struct proto *p = arena_alloc(&cc->arena, sizeof(*p));
	const char *s = strchr(text, '(');
	bool optional = false;

	p->result = proto_type(cc, text, (size_t)(s - text));
	p->args = arena_alloc(
	    &cc->arena, (count_commas(s) + 1) * sizeof(struct type *));
	for (s++; *s != ')' && *s != '\0';) {
		s += strspn(s, " ,");
		if (*s == '[') {
			optional = true;
			s++;
		}
		size_t len = strcspn(s, ",])");
		if (strncmp(s, "...", 3) == 0)
			p->varargs = true;
		else if (len > 0)
			p->args[p->nargs++] = proto_type(cc, s, len);
		if (!optional)
			p->nrequired = p->nargs;
		s += len;
		s += strspn(s, "]");
	}
	return p;
}

struct proto *
ident_proto(struct cc *cc, struct ident *id)
{
	if (id->proto == NULL)
		id->proto = parse_proto(
		    cc, id->proto_text != NULL ? id->proto_text : "void()");
	return id->proto;
}
