/*
 * Arguments of system calls as text; see decode.h.
 */
#include "tracer/fire/decode.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "dlang/base/mem.h"
#include "dlang/base/reader.h"
#include "dlang/base/show.h"
#include "dlang/base/str.h"
#include "tracer/fire/names.h"
#include "tracer/ptrace/call.h"
#include "tracer/ptrace/syscall_table.h"

/* The most bytes of a buffer that are shown, as strace does. */
#define SHOWN_MOST 32
/* The longest path that the kernel takes, with its NUL. */
#define PATH_MOST 4096

enum how {
	BY_TYPE,
	BYTES,        /* as many as the next argument says */
	RESULT_BYTES, /* as many as the call has returned */
	RESULT_TEXT,  /* up to a NUL, once the call has returned */
	OPEN_FLAGS,
	OPEN_FLAGS_ONLY, /* without O_RDONLY and its like */
	CREATE_MODE,     /* only if the flags before it create a file */
	MODE,
	DIRECTORY, /* a descriptor, or AT_FDCWD */
	AT,
	UNLINK,
	ACCESS,
	WHENCE,
	FCNTL,
	FCNTL_ARGUMENT, /* as the command before it says */
	PROT,
	MAP,
	MADVISE,
	FAMILY,
	SOCKET_TYPE,
	SOCKET_FLAGS,
	ADDRESS,
	RESULT_ADDRESS, /* once the call has returned */
	RESULT_LENGTH,  /* that of such an address */
	PROTOCOL,       /* of the family two arguments before it */
	MSG,
	SIGNAL,
	SIGHOW,
	CLOCK,
	FUTEX,
	FUTEX_REST, /* what some operations do not take */
};

static const struct decode_row {
	const char *call;
	unsigned n;
	enum how how;
} rows[] = {
#define DECODE(call, n, how) { #call, n, how },
#include "tracer/fire/decode.def"
#undef DECODE
};

struct decode {
	struct str *to;
	const struct reader *mem;
	const struct syscall_call *c;
	const char *name;
	bool returned;
};

/* ---- memory ---- */

static void
add_pointer(struct str *to, uint64_t addr)
{
	if (addr == 0)
		str_add(to, "NULL");
	else
		str_printf(to, "0x%llx", (unsigned long long)addr);
}

static void
add_quoted(struct str *to, const char *s, size_t n)
{
	char bytes[SHOW_BYTES];

	str_addc(to, '"');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		if (c == '"' || c == '\\')
			str_printf(to, "\\%c", c);
		else if (c >= 0x20 && c < 0x7f)
			str_addc(to, (char)c);
		else
			str_addn(to, bytes, show_escape(c, bytes));
	}
	str_addc(to, '"');
}

/* Bytes in memory; only the first ones if there are many. */
static void
add_bytes(const struct decode *d, uint64_t addr, int64_t n)
{
	char bytes[SHOWN_MOST] = "";
	size_t shown = (size_t)MIN(MAX(n, 0), SHOWN_MOST);

	if (n < 0 || addr == 0 ||
	    (shown != 0 && reader_read(d->mem, addr, bytes, shown) != 0)) {
		add_pointer(d->to, addr);
		return;
	}
	add_quoted(d->to, bytes, shown);
	str_add(d->to, n > SHOWN_MOST ? "..." : "");
}

static void
add_string(const struct decode *d, uint64_t addr)
{
	char *text = mem_alloc(PATH_MOST);
	int64_t n =
	    addr != 0 ? reader_string(d->mem, addr, text, PATH_MOST) : -1;

	if (n < 0)
		add_pointer(d->to, addr);
	else
		add_quoted(d->to, text, strnlen(text, (size_t)n));
	mem_free(text);
}

/* ---- addresses of sockets ---- */

static void
add_inet(struct str *to, const struct sockaddr_in *a)
{
	char text[INET_ADDRSTRLEN] = "";

	inet_ntop(AF_INET, &a->sin_addr, text, sizeof(text));
	str_printf(to, ", sin_port=htons(%u), sin_addr=inet_addr(\"%s\")",
	    ntohs(a->sin_port), text);
}

static void
add_inet6(struct str *to, const struct sockaddr_in6 *a)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(AF_INET6, &a->sin6_addr, text, sizeof(text));
	str_printf(to,
	    ", sin6_port=htons(%u), inet_pton(AF_INET6, \"%s\", &sin6_addr), "
	    "sin6_scope_id=%u",
	    ntohs(a->sin6_port), text, a->sin6_scope_id);
}

/* A path, or a name that begins with a NUL (@ as in /proc/net/unix). */
static void
add_unix(struct str *to, const struct sockaddr_un *a, size_t size)
{
	size_t n = size > offsetof(struct sockaddr_un, sun_path) ?
	    size - offsetof(struct sockaddr_un, sun_path) :
	    0;
	bool abstract = n > 1 && a->sun_path[0] == '\0';

	if (!abstract)
		n = strnlen(a->sun_path, n);
	if (n == 0)
		return;
	str_add(to, abstract ? ", sun_path=@" : ", sun_path=");
	add_quoted(to, a->sun_path + abstract, n - abstract);
}

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

/* Read as much as there is, and return how much: without a length, what is
 * behind the address need not be mapped. */
static size_t
read_address(
    const struct reader *mem, uint64_t addr, uint64_t len, union address *a)
{
	const size_t sizes[] = { len != 0 ? MIN(len, sizeof(*a)) : sizeof(*a),
		sizeof(a->in6), sizeof(a->in), sizeof(a->any.sa_family) };

	for (size_t i = 0; addr != 0 && i < (len != 0 ? 1 : ARRAY_SIZE(sizes));
	     i++) {
		memset(a, 0, sizeof(*a));
		if (reader_read(mem, addr, a, sizes[i]) == 0)
			return sizes[i];
	}
	return 0;
}

void
decode_address(
    struct str *to, const struct reader *mem, uint64_t addr, uint64_t len)
{
	union address a;
	size_t size = read_address(mem, addr, len, &a);

	if (size < sizeof(a.any.sa_family)) {
		add_pointer(to, addr);
		return;
	}
	str_add(to, "{sa_family=");
	names_add(to, NAMES_FAMILY, a.any.sa_family);
	if (a.any.sa_family == AF_INET && size >= sizeof(a.in))
		add_inet(to, &a.in);
	else if (a.any.sa_family == AF_INET6 && size >= sizeof(a.in6))
		add_inet6(to, &a.in6);
	else if (a.any.sa_family == AF_UNIX)
		/* Without a length, a name ends at its NUL. */
		add_unix(to, &a.un,
		    len != 0 ? size :
			       sizeof(sa_family_t) + 1 +
			    strnlen(
				a.un.sun_path + 1, sizeof(a.un.sun_path) - 1));
	str_addc(to, '}');
}

/* ---- numbers ---- */

/* O_LARGEFILE of the kernel (asm-generic/fcntl.h), which it sets for every file
 * of a 64-bit process; the C library's is 0. */
#define LARGE_FILE 0100000

void
decode_open(struct str *to, uint64_t flags)
{
	names_add(to, NAMES_ACCMODE, flags & O_ACCMODE);
	flags &= ~(uint64_t)(O_ACCMODE | LARGE_FILE);
	if (flags == 0)
		return;
	str_addc(to, '|');
	names_add_flags(to, NAMES_OPEN, flags);
}

/* The kernel's first signal for real time; the C library uses some itself. */
#define FIRST_REALTIME 32

void
decode_signal(struct str *to, uint64_t n)
{
	if (name_of(NAMES_SIGNAL, n) == NULL && n >= FIRST_REALTIME && n <= 64)
		str_printf(
		    to, "SIGRT_%llu", (unsigned long long)n - FIRST_REALTIME);
	else
		names_add(to, NAMES_SIGNAL, n);
}

static void
add_socket_type(struct str *to, uint64_t v)
{
	uint64_t flags = v & (uint64_t)(SOCK_CLOEXEC | SOCK_NONBLOCK);

	names_add(to, NAMES_SOCKTYPE, v & ~flags);
	if (flags == 0)
		return;
	str_addc(to, '|');
	names_add_flags(to, NAMES_SOCKFLAG, flags);
}

static void
add_access(struct str *to, uint64_t v)
{
	if (v == 0)
		str_add(to, "F_OK");
	else
		names_add_flags(to, NAMES_ACCESS, v);
}

/* What fcntl() takes behind these commands.  Other commands take a pointer. */
static const struct {
	int command;
	enum { NOTHING, NUMBER, FD_FLAGS, STATUS } takes;
} fcntl_rows[] = {
	{ F_GETFD, NOTHING },
	{ F_GETFL, NOTHING },
	{ F_GETOWN, NOTHING },
	{ F_GETSIG, NOTHING },
	{ F_GETLEASE, NOTHING },
	{ F_GETPIPE_SZ, NOTHING },
	{ F_DUPFD, NUMBER },
	{ F_DUPFD_CLOEXEC, NUMBER },
	{ F_SETOWN, NUMBER },
	{ F_SETPIPE_SZ, NUMBER },
	{ F_SETFD, FD_FLAGS },
	{ F_SETFL, STATUS },
};

/* The row of the command; or -1. */
static int
fcntl_row(uint64_t command)
{
	for (size_t i = 0; i < ARRAY_SIZE(fcntl_rows); i++)
		if (fcntl_rows[i].command == (int)command)
			return (int)i;
	return -1;
}

static void
add_fcntl(struct str *to, uint64_t command, uint64_t v)
{
	int row = fcntl_row(command);

	if (row < 0)
		add_pointer(to, v);
	else if (fcntl_rows[row].takes == STATUS)
		decode_open(to, (uint32_t)v);
	else if (fcntl_rows[row].takes == FD_FLAGS && v == FD_CLOEXEC)
		str_add(to, "FD_CLOEXEC");
	else
		str_printf(to, "%d", (int)v);
}

static void
add_protocol(struct str *to, uint64_t family, uint64_t v)
{
	if (family == AF_INET || family == AF_INET6)
		names_add(to, NAMES_PROTOCOL, (uint32_t)v);
	else
		str_printf(to, "%d", (int)v);
}

/* ---- arguments ---- */

static enum how
how_of(const char *call, unsigned n)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].n == n && strcmp(rows[i].call, call) == 0)
			return rows[i].how;
	return BY_TYPE;
}

static void
add_by_type(const struct decode *d, const char *type, uint64_t v)
{
	if (strcmp(type, "char *") == 0)
		add_string(d, v);
	else if (strchr(type, '*') != NULL)
		add_pointer(d->to, v);
	else if (strcmp(type, "int") == 0)
		str_printf(d->to, "%d", (int)v);
	else if (strcmp(type, "unsigned int") == 0)
		str_printf(d->to, "%u", (unsigned)v);
	else if (strcmp(type, "long") == 0)
		str_printf(d->to, "%lld", (long long)v);
	else if (strcmp(type, "size_t") == 0)
		str_printf(d->to, "%llu", (unsigned long long)v);
	else
		str_printf(d->to, "0x%llx", (unsigned long long)v);
}

/* Does a call with these flags take the mode of a new file? */
static bool
creates(uint64_t flags)
{
	return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

/* The socklen_t that an argument points to; 0: none. */
static uint64_t
length_at(const struct decode *d, unsigned n)
{
	socklen_t len = 0;

	return reader_read(d->mem, d->c->args[n], &len, sizeof(len)) == 0 ?
	    len :
	    0;
}

static void
add_memory(const struct decode *d, enum how how, unsigned n, uint64_t v)
{
	bool good = d->returned && d->c->result >= 0;

	if (how == BYTES)
		add_bytes(d, v, (int64_t)d->c->args[n + 1]);
	else if (how == ADDRESS)
		decode_address(d->to, d->mem, v, d->c->args[n + 1]);
	else if (!good)
		add_pointer(d->to, v);
	else if (how == RESULT_BYTES)
		add_bytes(d, v, d->c->result);
	else if (how == RESULT_TEXT)
		add_string(d, v);
	else if (how == RESULT_LENGTH && v != 0)
		str_printf(
		    d->to, "[%llu]", (unsigned long long)length_at(d, n));
	else if (how == RESULT_LENGTH)
		add_pointer(d->to, v);
	else
		decode_address(d->to, d->mem, v, length_at(d, n + 1));
}

static void
add_flags(const struct decode *d, enum how how, uint64_t v)
{
	struct str *to = d->to;

	switch (how) {
	case OPEN_FLAGS: decode_open(to, v); break;
	case OPEN_FLAGS_ONLY: names_add_flags(to, NAMES_OPEN, v); break;
	case CREATE_MODE:
	case MODE: str_printf(to, "%#o", (unsigned)v); break;
	case AT: names_add_flags(to, NAMES_AT, v); break;
	case UNLINK: names_add_flags(to, NAMES_UNLINK, v); break;
	case ACCESS: add_access(to, v); break;
	case WHENCE: names_add(to, NAMES_WHENCE, v); break;
	case FCNTL: names_add(to, NAMES_FCNTL, v); break;
	case PROT: names_add_flags(to, NAMES_PROT, v); break;
	case MAP: names_add_flags(to, NAMES_MAP, v); break;
	case MADVISE: names_add(to, NAMES_MADVISE, v); break;
	case FAMILY: names_add(to, NAMES_FAMILY, v); break;
	case SOCKET_TYPE: add_socket_type(to, v); break;
	case SOCKET_FLAGS: names_add_flags(to, NAMES_SOCKFLAG, v); break;
	case MSG: names_add_flags(to, NAMES_MSG, v); break;
	case SIGNAL: decode_signal(to, v); break;
	case SIGHOW: names_add(to, NAMES_SIGHOW, v); break;
	case CLOCK: names_add(to, NAMES_CLOCK, v); break;
	default: names_add(to, NAMES_FUTEX, v); break;
	}
}

static void
add_argument(const struct decode *d, unsigned n, const char *type)
{
	enum how how = how_of(d->name, n);
	uint64_t v = d->c->args[n];

	switch (how) {
	case BY_TYPE: add_by_type(d, type, v); break;
	case BYTES:
	case RESULT_BYTES:
	case RESULT_TEXT:
	case RESULT_LENGTH:
	case ADDRESS:
	case RESULT_ADDRESS: add_memory(d, how, n, v); break;
	case DIRECTORY:
		if ((int)v == AT_FDCWD)
			str_add(d->to, "AT_FDCWD");
		else
			str_printf(d->to, "%d", (int)v);
		break;
	case FUTEX_REST: add_by_type(d, type, v); break;
	case PROTOCOL: add_protocol(d->to, d->c->args[n - 2], v); break;
	case FCNTL_ARGUMENT: add_fcntl(d->to, d->c->args[n - 1], v); break;
	/* The kernel takes 32 bits of the others. */
	default: add_flags(d, how, (uint32_t)v); break;
	}
}

/* Does the call have this argument, with those before it? */
static bool
is_passed(const struct decode *d, unsigned n)
{
	const uint64_t *args = d->c->args;
	enum how how = how_of(d->name, n);

	if (how == CREATE_MODE)
		return creates(args[n - 1]);
	if (how == FUTEX_REST)
		return (args[1] & FUTEX_CMD_MASK) != FUTEX_WAKE;
	int row = how == FCNTL_ARGUMENT ? fcntl_row(args[n - 1]) : -1;
	return row < 0 || fcntl_rows[row].takes != NOTHING;
}

void
decode_call(struct str *to, const struct reader *mem,
    const struct syscall_call *c, bool returned)
{
	struct decode d = {
		.to = to,
		.mem = mem,
		.c = c,
		.name = c->nr >= 0 ? syscall_name((unsigned)c->nr) : NULL,
		.returned = returned,
	};
	const char *type;

	for (unsigned n = 0; d.name != NULL && n < ARRAY_SIZE(c->args) &&
	     (type = syscall_arg((unsigned)c->nr, n)) != NULL;
	     n++) {
		if (!is_passed(&d, n))
			break;
		str_add(to, n != 0 ? ", " : "");
		add_argument(&d, n, type);
	}
}
