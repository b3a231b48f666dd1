# From the macros that the system's headers define (cc -E -dM of names_headers.h)
# the rows of the tables of names.c: NAME(GROUP, name).
#
# A group is what its pattern matches.  Left out: names that are defined as
# another name of the group, masks, limits, and what means the same number in
# another call.
function group(name, pattern, but) {
	n++
	groups[n] = name
	patterns[n] = "^(" pattern ")$"
	buts[n] = "^(" but ")$"
}

BEGIN {
	group("ERRNO", "E[A-Z0-9]+", "")
	group("SIGNAL", "SIG[A-Z0-9]+",
	    "SIGRTM(IN|AX)|SIGSTKSZ|SIGUNUSED|SIGIOT|SIGCLD|SIGSTKFLT_.*")
	group("OPEN", "O_[A-Z]+",
	    "O_ACCMODE|O_(RDONLY|WRONLY|RDWR)|O_NDELAY|O_FSYNC|O_RSYNC|O_LARGEFILE")
	group("ACCMODE", "O_(RDONLY|WRONLY|RDWR)", "")
	group("FAMILY", "AF_[A-Z0-9]+", "AF_(LOCAL|FILE|ROUTE|MAX)")
	group("SOCKTYPE", "SOCK_[A-Z]+", "SOCK_(CLOEXEC|NONBLOCK)")
	group("SOCKFLAG", "SOCK_(CLOEXEC|NONBLOCK)", "")
	group("PROTOCOL", "IPPROTO_[A-Z0-9]+", "IPPROTO_(MAX|HOPOPTS)")
	group("PROT", "PROT_[A-Z]+", "")
	group("MAP", "MAP_[A-Z0-9_]+", "MAP_(TYPE|FAILED|FILE|ANON|HUGE_.*|SHARED_VALIDATE)")
	group("FCNTL", "F_[A-Z0-9_]+",
	    "F_OK|F_(U|T)?LOCK|F_TEST|F_(RD|WR|UN|EX|SH)LCK|F_OWNER_.*|F_SEAL_.*|F_.*64")
	group("AT", "AT_[A-Z_]+", "AT_(FDCWD|EACCESS|REMOVEDIR|STATX_.*|HANDLE_.*|RENAME_.*)")
	group("UNLINK", "AT_REMOVEDIR", "")
	group("WHENCE", "SEEK_[A-Z]+", "SEEK_MAX")
	group("SIGHOW", "SIG_(BLOCK|UNBLOCK|SETMASK)", "")
	group("CLOCK", "CLOCK_[A-Z_]+", "CLOCK_INVALID")
	group("MSG", "MSG_[A-Z_]+", "MSG_TRYHARD|MSG_EOF")
	group("MADVISE", "MADV_[A-Z_]+", "")
	group("FUTEX", "FUTEX_[A-Z_0-9]+",
	    "FUTEX_(WAITERS|CMD_MASK|OWNER_DIED|TID_MASK|BITSET_.*|WAITV_MAX|OP_.*|32|PRIVATE_FLAG|CLOCK_REALTIME)|FUTEX2_.*")
	group("ACCESS", "[RWX]_OK", "")
}

$1 == "#define" && NF >= 3 {
	for (i = 1; i <= n; i++) {
		if ($2 !~ patterns[i] || $2 ~ buts[i])
			continue
		# One name for another one; an enumerator stands for itself.
		if (NF == 3 && $3 != $2 && $3 ~ patterns[i] && $3 !~ buts[i])
			continue
		print "NAME(" groups[i] ", " $2 ")"
	}
}
