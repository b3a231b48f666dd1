/*
 * inject/target.h over proc and remote: the ops of every struct space's
 * target.
 */
#ifndef TRACER_TARGET_PTRACE_H
#define TRACER_TARGET_PTRACE_H

#include "inject/target.h"

extern const struct target_ops target_ptrace_ops;

#endif
