/* A tracepoint with one integer, as LTTng's macros want it: they read this file
 * several times. */
#undef TRACEPOINT_PROVIDER
#define TRACEPOINT_PROVIDER hot
#undef TRACEPOINT_INCLUDE
#define TRACEPOINT_INCLUDE "./lttng.h"

#if !defined(T_BENCH_LTTNG_H) || defined(TRACEPOINT_HEADER_MULTI_READ)
#define T_BENCH_LTTNG_H

#include <lttng/tracepoint.h>

TRACEPOINT_EVENT(
    hot, call, TP_ARGS(long, n), TP_FIELDS(ctf_integer(long, n, n)))

#endif

#include <lttng/tracepoint-event.h>
