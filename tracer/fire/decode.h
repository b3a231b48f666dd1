/*
 * What a number means to a system call, as text in the notation of strace:
 * errors, signals, flags, addresses of sockets, and all arguments of a call.
 */
#ifndef TRACER_FIRE_DECODE_H
#define TRACER_FIRE_DECODE_H

#include <stdbool.h>
#include <stdint.h>

struct reader;
struct str;
struct syscall_call;

/* Append what the flags of open() mean. */
void decode_open(struct str *to, uint64_t flags);

/* Append the name of a signal, also of one for real time. */
void decode_signal(struct str *to, uint64_t n);

/* Append the address that a struct sockaddr of `len' bytes in the memory of a
 * process holds (0: its length is not known); if it cannot be read, where it
 * is. */
void decode_address(
    struct str *to, const struct reader *mem, uint64_t addr, uint64_t len);

/* Append the arguments of a call, separated by commas.  `returned': what the
 * call has written can be read now. */
void decode_call(struct str *to, const struct reader *mem,
    const struct syscall_call *c, bool returned);

#endif
