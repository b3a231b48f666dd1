/*
 * See lacks.h.
 */
#include "tracer/drive/lacks.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "disasm/insn.h"
#include "tracer/base/state.h"
#include "tracer/ptrace/super.h"

static bool
hands_out_sockets(void)
{
	return syscall(SYS_pidfd_getfd, -1, -1, 0) >= 0 || errno != ENOSYS;
}

static bool
counts_filters(void)
{
	struct proc_status own;

	return procfs_status(getpid(), &own) < 0 || own.filters >= 0;
}

void
lacks_tell(struct state *st)
{
	if (insn_unopposed())
		state_message(st,
		    "Capstone cannot be loaded: the lengths of the "
		    "instructions under probes were not checked by a second "
		    "decoder");
	if (syscall_info_untold())
		state_message(st,
		    "this kernel does not report which system calls are "
		    "32-bit (Linux 5.3 does): a call by int $0x80 in a "
		    "64-bit program is shown as the 64-bit call of the same "
		    "number");
	if (!hands_out_sockets())
		state_message(st,
		    "this kernel has no pidfd_getfd() (Linux 5.6 has): a "
		    "call on a socket with a timeout may fail with EINTR if "
		    "it is stopped often");
	if (!counts_filters())
		state_message(st,
		    "this kernel does not count seccomp filters (Linux 5.10 "
		    "does): probes in the code of a process that has one are "
		    "refused");
}
