/*
 * Static probes that a program makes while it runs: for those whose names or
 * arguments are not known when it is compiled, as in interpreters and in
 * bindings for other languages.  (Others are declared by sys/sdt.h or by the
 * header that `dtrap -h' writes, and need no library.)  dtrap-sdt(3) is the
 * manual; link with `pkg-config --libs dtrap-sdt'.
 *
 *	static const enum dtrap_arg types[] = { DTRAP_INT32, DTRAP_STRING };
 *	dtrap_provider *shop;
 *	dtrap_probe *sold;
 *
 *	if (dtrap_provider_create("shop", &shop) == 0 &&
 *	    dtrap_provider_probe(shop, NULL, "sold", 2, types, &sold) == 0 &&
 *	    dtrap_provider_load(shop) == 0)
 *		...
 *	if (dtrap_probe_watched(sold)) {
 *		const uint64_t args[] = { (uint64_t)count, (uintptr_t)what };
 *		dtrap_probe_fire(sold, args);
 *	}
 *
 * A provider is a small shared object that is made in memory and loaded by
 * dlopen(3).  It has the same notes and semaphores as static probes of a
 * compiled program, so dtrap, bpftrace, gdb and SystemTap see its probes.
 *
 * Functions that return int return 0 or a negative error of errno.h.  A program
 * may go on without probes after any error: what *out would have been is NULL
 * then, and each function takes NULL for a provider or a probe; it does nothing
 * (those that return int return -EINVAL).
 *
 * All functions may be called from several threads at once, except that nobody
 * may use a provider, or a probe of it, while or after dtrap_provider_destroy()
 * destroys it; and dtrap_provider_unload() says what it asks for.
 *
 * You may copy, use and change this header without any condition.
 */
#ifndef DTRAP_PROVIDER_H
#define DTRAP_PROVIDER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library is built with everything else hidden. */
#pragma GCC visibility push(default)

#define DTRAP_PROBE_ARGS 12  /* the most arguments of a probe */
#define DTRAP_NAME_MOST	 63  /* the most characters of a provider's or probe's name */
#define DTRAP_FUNC_MOST	 127 /* of a function's name */

/*
 * Types of arguments.  In D, args[n] has the type that its name says (int8_t and
 * so on); DTRAP_STRING is a string, whose text the tracer reads while the probe
 * fires, and DTRAP_POINTER is void *.  Other tracers know size and sign.
 */
enum dtrap_arg {
	DTRAP_INT8 = 1,
	DTRAP_UINT8,
	DTRAP_INT16,
	DTRAP_UINT16,
	DTRAP_INT32,
	DTRAP_UINT32,
	DTRAP_INT64,
	DTRAP_UINT64,
	DTRAP_STRING,
	DTRAP_POINTER
};

typedef struct dtrap_provider dtrap_provider;

/* A probe belongs to its provider and is gone with it.  Its members are for
 * dtrap_probe_watched() alone. */
typedef struct dtrap_probe {
	/* Never NULL: a counter of the object, or while that is not loaded one
	 * that is always 0. */
	const volatile unsigned short *semaphore;
} dtrap_probe;

/*
 * Make a provider without probes; nobody sees it yet.  The name begins with a
 * letter and goes on with letters, digits and "_"; it does not end with a digit,
 * because tracers append the number of the process.  "__" is "-" in D.  There
 * may be several providers of one name.
 *
 * 0; -EINVAL: bad name, or out is NULL; -ENOMEM.
 */
int dtrap_provider_create(const char *name, dtrap_provider **out);

/*
 * Add a probe with arguments of these types (types may be NULL if nargs is 0).
 * The name is like a provider's and may end with a digit.  The function is what D
 * calls probefunc: any printable text without blanks, ":" and "`", as the name of a
 * method; NULL means the probe's name.  Texts are copied.
 *
 * 0; -EINVAL: bad name or type; -E2BIG: more than DTRAP_PROBE_ARGS arguments;
 * -EEXIST: the provider has a probe with this function and name; -EBUSY: the
 * provider is loaded; -ENOMEM.  After an error the provider is as before.
 */
int dtrap_provider_probe(dtrap_provider *provider, const char *function,
    const char *name, unsigned nargs, const enum dtrap_arg *types,
    dtrap_probe **out);

/*
 * Make the object and load it: tracers see its probes now, also tracers that have
 * attached before.  A provider that was unloaded may get more probes and be loaded
 * again.
 *
 * 0; -EBUSY: it is loaded; -EPERM or -EACCES: no executable mapping is allowed,
 * neither of a memfd nor of a file in $XDG_RUNTIME_DIR; -EMFILE or -ENFILE: no
 * descriptor is left; -ENOMEM; -ENOSPC; -ENOSYS: not on this machine; -ENOEXEC: the
 * run-time linker refuses it.  After an error the provider is as before, with
 * nothing mapped or open.
 */
int dtrap_provider_load(dtrap_provider *provider);

/*
 * Unload the object, with its mappings and its descriptor or file.  No thread may
 * be in dtrap_probe_fire() of one of its probes meanwhile.  Firing a probe
 * afterwards does nothing, and it is not watched.
 *
 * 0, also if it is not loaded; -EINVAL: NULL.
 */
int dtrap_provider_unload(dtrap_provider *provider);

/* Unload the object, and free the provider and its probes. */
void dtrap_provider_destroy(dtrap_provider *provider);

/* Does a tracer watch the probe?  A load and a branch; 0 if it is not loaded. */
static inline int
dtrap_probe_watched(const dtrap_probe *probe)
{
	return __builtin_expect(
	    probe != (const dtrap_probe *)0 && *probe->semaphore != 0, 0);
}

/*
 * Pass by the probe: a tracer that has a breakpoint there stops the thread, or
 * evaluates its clauses in it.  args has a value for each argument: signed
 * integers are sign-extended, pointers are converted.  It may be NULL if there are
 * none.  Memory that pointers lead to must stay valid until this returns, no
 * longer.  It may be called for a probe that nobody watches, which costs the call
 * alone; a tracer that does not count in semaphores sees only probes that are
 * fired without asking dtrap_probe_watched().
 */
void dtrap_probe_fire(dtrap_probe *probe, const uint64_t *args);

/* Words for an error that a function above returned, as "bad name"; never NULL.
 * They are constant and need not be freed. */
const char *dtrap_provider_strerror(int error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
