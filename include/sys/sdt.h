/*
 * DTRACE_PROBE() and its like, for programs with static probes; see
 * dtrap-sdt.h for what they become.  With _SDT_HAS_SEMAPHORES defined, a probe
 * p of provider v has the semaphore v_p_semaphore, which the program defines:
 *
 *	unsigned short v_p_semaphore __attribute__((section(".probes")));
 */
#ifndef DTRAP_SYS_SDT_H
#define DTRAP_SYS_SDT_H

#include "../dtrap-sdt.h"

#ifdef _SDT_HAS_SEMAPHORES
#define DTRAP_SDT_SEM(prov, name) prov "_" name "_semaphore"
#else
#define DTRAP_SDT_SEM(prov, name) "0"
#endif

#define DTRACE_PROBE0(prov, name)                                    \
	DTRAP_SDT0(DTRAP_SDT_SEM(#prov, #name), #prov, #name)
#define DTRACE_PROBE1(prov, name, a1)                                \
	DTRAP_SDT1(DTRAP_SDT_SEM(#prov, #name), #prov, #name, a1)
#define DTRACE_PROBE2(prov, name, a1, a2)                            \
	DTRAP_SDT2(DTRAP_SDT_SEM(#prov, #name), #prov, #name, a1, a2)
#define DTRACE_PROBE3(prov, name, a1, a2, a3)                        \
	DTRAP_SDT3(DTRAP_SDT_SEM(#prov, #name), #prov, #name, a1, a2, a3)
#define DTRACE_PROBE4(prov, name, a1, a2, a3, a4)                    \
	DTRAP_SDT4(DTRAP_SDT_SEM(#prov, #name), #prov, #name,        \
	    a1, a2, a3, a4)
#define DTRACE_PROBE5(prov, name, a1, a2, a3, a4, a5)                \
	DTRAP_SDT5(DTRAP_SDT_SEM(#prov, #name), #prov, #name,        \
	    a1, a2, a3, a4, a5)
#define DTRACE_PROBE6(prov, name, a1, a2, a3, a4, a5, a6)            \
	DTRAP_SDT6(DTRAP_SDT_SEM(#prov, #name), #prov, #name,        \
	    a1, a2, a3, a4, a5, a6)
#define DTRACE_PROBE7(prov, name, a1, a2, a3, a4, a5, a6, a7)        \
	DTRAP_SDT7(DTRAP_SDT_SEM(#prov, #name), #prov, #name,        \
	    a1, a2, a3, a4, a5, a6, a7)
#define DTRACE_PROBE8(prov, name, a1, a2, a3, a4, a5, a6, a7, a8)    \
	DTRAP_SDT8(DTRAP_SDT_SEM(#prov, #name), #prov, #name,        \
	    a1, a2, a3, a4, a5, a6, a7, a8)
#define DTRACE_PROBE9(prov, name, a1, a2, a3, a4, a5, a6, a7, a8,    \
    a9)                                                              \
	DTRAP_SDT9(DTRAP_SDT_SEM(#prov, #name), #prov, #name,        \
	    a1, a2, a3, a4, a5, a6, a7, a8, a9)
#define DTRACE_PROBE10(prov, name, a1, a2, a3, a4, a5, a6, a7,       \
    a8, a9, a10)                                                     \
	DTRAP_SDT10(DTRAP_SDT_SEM(#prov, #name), #prov, #name,       \
	    a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)
#define DTRACE_PROBE11(prov, name, a1, a2, a3, a4, a5, a6, a7,       \
    a8, a9, a10, a11)                                                \
	DTRAP_SDT11(DTRAP_SDT_SEM(#prov, #name), #prov, #name,       \
	    a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11)
#define DTRACE_PROBE12(prov, name, a1, a2, a3, a4, a5, a6, a7,       \
    a8, a9, a10, a11, a12)                                           \
	DTRAP_SDT12(DTRAP_SDT_SEM(#prov, #name), #prov, #name,       \
	    a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12)

/* DTRACE_PROBE(provider, name, arguments...), as many as there are. */
#define DTRAP_SDT_COUNT(p, q, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, \
    a11, a12, n, ...)                                                \
	n
#define DTRAP_SDT_JOIN_(a, b) a##b
#define DTRAP_SDT_JOIN(a, b)  DTRAP_SDT_JOIN_(a, b)
#define DTRACE_PROBE(...)                                            \
	DTRAP_SDT_JOIN(DTRACE_PROBE,                                 \
	    DTRAP_SDT_COUNT(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5,  \
		4, 3, 2, 1, 0, 0))(__VA_ARGS__)

#define STAP_PROBE DTRACE_PROBE0
#define STAP_PROBE1 DTRACE_PROBE1
#define STAP_PROBE2 DTRACE_PROBE2
#define STAP_PROBE3 DTRACE_PROBE3
#define STAP_PROBE4 DTRACE_PROBE4
#define STAP_PROBE5 DTRACE_PROBE5
#define STAP_PROBE6 DTRACE_PROBE6
#define STAP_PROBE7 DTRACE_PROBE7
#define STAP_PROBE8 DTRACE_PROBE8
#define STAP_PROBE9 DTRACE_PROBE9
#define STAP_PROBE10 DTRACE_PROBE10
#define STAP_PROBE11 DTRACE_PROBE11
#define STAP_PROBE12 DTRACE_PROBE12

#endif
