/*
 * Static probes in C and C++: one nop where the probe stands, and an ELF note
 * of owner "stapsdt" that says where that is and where its arguments are.
 * dtrap, bpftrace, perf, gdb and SystemTap read these notes.
 *
 *	DTRAP_SDT2("v_p_semaphore", "v", "p", a, b)
 *
 * is probe p of provider v.  The semaphore is a 16-bit counter that a tracer
 * raises while it watches the probe; "0" if there is none.  Arguments are
 * integers, pointers and arrays; nothing is done for them beyond what brings
 * their values, and what they point to, into a register or memory.
 *
 * Headers that `dtrap -h' writes contain this text.  You may copy, use and
 * change it without any condition.
 */
#ifndef DTRAP_SDT_H
#define DTRAP_SDT_H

/* ---- how an argument is described: its size, negative if it is signed ---- */

#ifdef __cplusplus

extern "C++" {
template <typename T> struct dtrap_sdt_arg {
	enum {
		size = (T(-1) < T(1)) ? -(int)sizeof(T) : (int)sizeof(T)
	};
};
template <typename T> struct dtrap_sdt_arg<T *> {
	enum { size = (int)sizeof(void *) };
};
template <typename T> struct dtrap_sdt_arg<T[]> : dtrap_sdt_arg<T *> {};
template <typename T, __SIZE_TYPE__ N>
struct dtrap_sdt_arg<T[N]> : dtrap_sdt_arg<T *> {};
template <typename T> struct dtrap_sdt_arg<T &> : dtrap_sdt_arg<T> {};
template <typename T> struct dtrap_sdt_arg<const T> : dtrap_sdt_arg<T> {};
template <typename T> struct dtrap_sdt_arg<volatile T> : dtrap_sdt_arg<T> {};
template <typename T>
struct dtrap_sdt_arg<const volatile T> : dtrap_sdt_arg<T> {};
/* Both `const T' and `T[N]' would fit these. */
template <typename T, __SIZE_TYPE__ N>
struct dtrap_sdt_arg<const T[N]> : dtrap_sdt_arg<T *> {};
template <typename T, __SIZE_TYPE__ N>
struct dtrap_sdt_arg<volatile T[N]> : dtrap_sdt_arg<T *> {};
template <> struct dtrap_sdt_arg<float> {
	enum { size = (int)sizeof(float) };
};
template <> struct dtrap_sdt_arg<double> {
	enum { size = (int)sizeof(double) };
};
}
#define DTRAP_SDT_SIZE(x) ((int)dtrap_sdt_arg<__typeof__(x)>::size)

#else

/* 1: integer, character, truth value or enumeration; 5: pointer or array. */
#define DTRAP_SDT_IS_INT(x) (__builtin_classify_type(x) == 1)
#define DTRAP_SDT_INT(x)                                             \
	__typeof__(__builtin_choose_expr(DTRAP_SDT_IS_INT(x), (x),   \
	    0U))
#define DTRAP_SDT_BYTES(x)                                           \
	((int)(__builtin_classify_type(x) == 5 ? sizeof(void *) :    \
						 sizeof(x)))
#define DTRAP_SDT_SIZE(x)                                            \
	((DTRAP_SDT_INT(x))-1 < (DTRAP_SDT_INT(x))1 ?                \
		-DTRAP_SDT_BYTES(x) :                                \
		DTRAP_SDT_BYTES(x))

#endif

/* A constant, a register, or memory: whatever costs nothing. */
#ifndef DTRAP_SDT_CONSTRAINT
#define DTRAP_SDT_CONSTRAINT "nor"
#endif
#define DTRAP_SDT_OPERAND(n, x)                                      \
	[dtrap_s##n] "n"(DTRAP_SDT_SIZE(x)),                         \
	    [dtrap_a##n] DTRAP_SDT_CONSTRAINT(x)
#define DTRAP_SDT_TEXT(n) "%c[dtrap_s" #n "]@%[dtrap_a" #n "]"

/* ---- the note ---- */

#ifdef __LP64__
#define DTRAP_SDT_ADDR " .8byte "
#else
#define DTRAP_SDT_ADDR " .4byte "
#endif

/* One nop, as long as the jump that a tracer may write over it.  A kernel that
 * traces by uprobes may be able to emulate only "nop", of one byte. */
#ifndef DTRAP_SDT_NOP
#ifdef __x86_64__
#define DTRAP_SDT_NOP ".byte 0x0f, 0x1f, 0x44, 0, 0"
#else
#define DTRAP_SDT_NOP "nop"
#endif
#endif

/* "?" puts the note into the group of the function that it is about, so that
 * one goes with the other.  The base lets a reader see that addresses were
 * changed after linking, which notes are not told of. */
#define DTRAP_SDT_ASM(semaphore, provider, name, arguments)          \
	"990: " DTRAP_SDT_NOP "\n"                                   \
	" .pushsection .note.stapsdt,\"?\",\"note\"\n"               \
	" .balign 4\n"                                               \
	" .4byte 992f-991f, 994f-993f, 3\n"                          \
	"991: .asciz \"stapsdt\"\n"                                  \
	"992: .balign 4\n"                                           \
	"993:" DTRAP_SDT_ADDR "990b\n"                               \
	DTRAP_SDT_ADDR "_.stapsdt.base\n"                            \
	DTRAP_SDT_ADDR semaphore "\n"                                \
	" .asciz \"" provider "\"\n"                                 \
	" .asciz \"" name "\"\n"                                     \
	" .asciz \"" arguments "\"\n"                                \
	"994: .balign 4\n"                                           \
	" .popsection\n"                                             \
	" .ifndef _.stapsdt.base\n"                                  \
	" .pushsection .stapsdt.base,\"aG\",\"progbits\","           \
	".stapsdt.base,comdat\n"                                     \
	" .weak _.stapsdt.base\n"                                    \
	" .hidden _.stapsdt.base\n"                                  \
	"_.stapsdt.base: .space 1\n"                                 \
	" .size _.stapsdt.base, 1\n"                                 \
	" .popsection\n"                                             \
	" .endif\n"

/* ---- semaphores ---- */

#ifdef __cplusplus
#define DTRAP_SDT_C extern "C"
#else
#define DTRAP_SDT_C extern
#endif

/* Defined wherever the header is read, once in each program and library. */
#define DTRAP_SDT_SEMAPHORE(name)                                    \
	DTRAP_SDT_C volatile unsigned short name                     \
	    __attribute__((weak, visibility("hidden"),               \
		section(".probes")));                                \
	volatile unsigned short name __attribute__((used)) = 0
#define DTRAP_SDT_ENABLED(name) (__builtin_expect(name != 0, 0))

/* ---- probes with 0 to 12 arguments ---- */

#define DTRAP_SDT_T1 DTRAP_SDT_TEXT(1)
#define DTRAP_SDT_T2 DTRAP_SDT_T1 " " DTRAP_SDT_TEXT(2)
#define DTRAP_SDT_T3 DTRAP_SDT_T2 " " DTRAP_SDT_TEXT(3)
#define DTRAP_SDT_T4 DTRAP_SDT_T3 " " DTRAP_SDT_TEXT(4)
#define DTRAP_SDT_T5 DTRAP_SDT_T4 " " DTRAP_SDT_TEXT(5)
#define DTRAP_SDT_T6 DTRAP_SDT_T5 " " DTRAP_SDT_TEXT(6)
#define DTRAP_SDT_T7 DTRAP_SDT_T6 " " DTRAP_SDT_TEXT(7)
#define DTRAP_SDT_T8 DTRAP_SDT_T7 " " DTRAP_SDT_TEXT(8)
#define DTRAP_SDT_T9 DTRAP_SDT_T8 " " DTRAP_SDT_TEXT(9)
#define DTRAP_SDT_T10 DTRAP_SDT_T9 " " DTRAP_SDT_TEXT(10)
#define DTRAP_SDT_T11 DTRAP_SDT_T10 " " DTRAP_SDT_TEXT(11)
#define DTRAP_SDT_T12 DTRAP_SDT_T11 " " DTRAP_SDT_TEXT(12)

#define DTRAP_SDT_O1(a1)                                             \
	DTRAP_SDT_OPERAND(1, a1)
#define DTRAP_SDT_O2(a1, a2)                                         \
	DTRAP_SDT_O1(a1), DTRAP_SDT_OPERAND(2, a2)
#define DTRAP_SDT_O3(a1, a2, a3)                                     \
	DTRAP_SDT_O2(a1, a2), DTRAP_SDT_OPERAND(3, a3)
#define DTRAP_SDT_O4(a1, a2, a3, a4)                                 \
	DTRAP_SDT_O3(a1, a2, a3), DTRAP_SDT_OPERAND(4, a4)
#define DTRAP_SDT_O5(a1, a2, a3, a4, a5)                             \
	DTRAP_SDT_O4(a1, a2, a3, a4), DTRAP_SDT_OPERAND(5, a5)
#define DTRAP_SDT_O6(a1, a2, a3, a4, a5, a6)                         \
	DTRAP_SDT_O5(a1, a2, a3, a4, a5), DTRAP_SDT_OPERAND(6, a6)
#define DTRAP_SDT_O7(a1, a2, a3, a4, a5, a6, a7)                     \
	DTRAP_SDT_O6(a1, a2, a3, a4, a5, a6),                        \
	    DTRAP_SDT_OPERAND(7, a7)
#define DTRAP_SDT_O8(a1, a2, a3, a4, a5, a6, a7, a8)                 \
	DTRAP_SDT_O7(a1, a2, a3, a4, a5, a6, a7),                    \
	    DTRAP_SDT_OPERAND(8, a8)
#define DTRAP_SDT_O9(a1, a2, a3, a4, a5, a6, a7, a8, a9)             \
	DTRAP_SDT_O8(a1, a2, a3, a4, a5, a6, a7, a8),                \
	    DTRAP_SDT_OPERAND(9, a9)
#define DTRAP_SDT_O10(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)       \
	DTRAP_SDT_O9(a1, a2, a3, a4, a5, a6, a7, a8, a9),            \
	    DTRAP_SDT_OPERAND(10, a10)
#define DTRAP_SDT_O11(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10,       \
    a11)                                                             \
	DTRAP_SDT_O10(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10),      \
	    DTRAP_SDT_OPERAND(11, a11)
#define DTRAP_SDT_O12(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10,       \
    a11, a12)                                                        \
	DTRAP_SDT_O11(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11), \
	    DTRAP_SDT_OPERAND(12, a12)

#define DTRAP_SDT0(sem, prov, name)                                  \
	__asm__ __volatile__(DTRAP_SDT_ASM(sem, prov, name, "") ::: "memory")
#define DTRAP_SDT1(sem, prov, name, a1)                              \
	__asm__ __volatile__(DTRAP_SDT_ASM(sem, prov, name,          \
	    DTRAP_SDT_T1) :: DTRAP_SDT_O1(a1) : "memory")
#define DTRAP_SDT2(sem, prov, name, a1, a2)                          \
	__asm__ __volatile__(DTRAP_SDT_ASM(sem, prov, name,          \
	    DTRAP_SDT_T2) :: DTRAP_SDT_O2(a1, a2) : "memory")
#define DTRAP_SDT3(sem, prov, name, a1, a2, a3)                      \
	__asm__ __volatile__(DTRAP_SDT_ASM(sem, prov, name,          \
	    DTRAP_SDT_T3) :: DTRAP_SDT_O3(a1, a2, a3) : "memory")
#define DTRAP_SDT4(sem, prov, name, a1, a2, a3, a4)                  \
	__asm__ __volatile__(DTRAP_SDT_ASM(sem, prov, name,          \
	    DTRAP_SDT_T4) :: DTRAP_SDT_O4(a1, a2, a3, a4) : "memory")
#define DTRAP_SDT5(sem, prov, name, a1, a2, a3, a4, a5)              \
	__asm__ __volatile__(DTRAP_SDT_ASM(sem, prov, name,          \
	    DTRAP_SDT_T5) :: DTRAP_SDT_O5(a1, a2, a3, a4, a5) : "memory")
#define DTRAP_SDT6(sem, prov, name, a1, a2, a3, a4, a5, a6)          \
	__asm__ __volatile__(DTRAP_SDT_ASM(sem, prov, name,          \
	    DTRAP_SDT_T6) :: DTRAP_SDT_O6(a1, a2, a3, a4, a5, a6) : "memory")
#define DTRAP_SDT7(sem, prov, name, a1, a2, a3, a4, a5, a6, a7)      \
	__asm__ __volatile__(DTRAP_SDT_ASM(sem, prov, name,          \
	    DTRAP_SDT_T7) :: DTRAP_SDT_O7(a1, a2, a3, a4, a5, a6, a7) : "memory")
#define DTRAP_SDT8(sem, prov, name, a1, a2, a3, a4, a5, a6, a7,      \
    a8)                                                              \
	__asm__ __volatile__(DTRAP_SDT_ASM(sem, prov, name,          \
	    DTRAP_SDT_T8) :: DTRAP_SDT_O8(a1, a2, a3, a4, a5, a6, a7, a8) : "memory")
#define DTRAP_SDT9(sem, prov, name, a1, a2, a3, a4, a5, a6, a7,      \
    a8, a9)                                                          \
	__asm__ __volatile__(DTRAP_SDT_ASM(sem, prov, name,          \
	    DTRAP_SDT_T9)                                            \
	    :: DTRAP_SDT_O9(a1, a2, a3, a4, a5, a6, a7,              \
		a8, a9) : "memory")
#define DTRAP_SDT10(sem, prov, name, a1, a2, a3, a4, a5, a6, a7,     \
    a8, a9, a10)                                                     \
	__asm__ __volatile__(DTRAP_SDT_ASM(sem, prov, name,          \
	    DTRAP_SDT_T10)                                           \
	    :: DTRAP_SDT_O10(a1, a2, a3, a4, a5, a6, a7,             \
		a8, a9, a10) : "memory")
#define DTRAP_SDT11(sem, prov, name, a1, a2, a3, a4, a5, a6, a7,     \
    a8, a9, a10, a11)                                                \
	__asm__ __volatile__(DTRAP_SDT_ASM(sem, prov, name,          \
	    DTRAP_SDT_T11)                                           \
	    :: DTRAP_SDT_O11(a1, a2, a3, a4, a5, a6, a7,             \
		a8, a9, a10, a11) : "memory")
#define DTRAP_SDT12(sem, prov, name, a1, a2, a3, a4, a5, a6, a7,     \
    a8, a9, a10, a11, a12)                                           \
	__asm__ __volatile__(DTRAP_SDT_ASM(sem, prov, name,          \
	    DTRAP_SDT_T12)                                           \
	    :: DTRAP_SDT_O12(a1, a2, a3, a4, a5, a6, a7,             \
		a8, a9, a10, a11, a12) : "memory")

#endif
