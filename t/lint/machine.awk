# Words of a machine in code: registers, instructions, their bytes, names of its
# tables.  Comments may say what they like.  Prints "FILE:LINE: word"; status 1 if
# there is any.

BEGIN {
	# Words of x86-64, and of the machine that comes next.
	n = split("rip rsp rbp rax rbx rcx rdx rsi rdi eip esp ebp eax ebx " \
	    "ecx edx esi edi eflags rflags orig_rax fs_base gs_base " \
	    "r8 r9 r10 r11 r12 r13 r14 r15 " \
	    "int3 endbr64 " \
	    "user_regs_struct user_fpregs_struct user_pt_regs u_debugreg " \
	    "gregs fpregs greg_t mcontext_t uc_mcontext " \
	    "PTRACE_GETREGS PTRACE_SETREGS PTRACE_GETFPREGS " \
	    "PTRACE_POKEUSER PTRACE_PEEKUSER arch_prctl " \
	    "EM_X86_64 EM_386 x86 x86_64 amd64 i386 aarch64 arm64 riscv64",
	    w, " ")
	for (i = 1; i <= n; i++)
		word[w[i]] = 1
	# Those that begin so.
	begin = "^(REG_(R[A-Z0-9]+|EFL|CSGSFS)|R_(X86_64|AARCH64|386)_.*" \
	    "|UREG_(R[A-D]X|R[SD]I|R[SB]P|RIP|R[0-9]+|ORIG_.*|RFLAGS|[CDEFGS]S|" \
	    "[FG]S_BASE|XMM|ST|X[0-9]+)|CFI_R([A-D]X|[SD]I|[SB]P|IP|[0-9]+)|RFLAGS_.*|R_[RE][A-Z0-9]+" \
	    "|AUDIT_ARCH_.*|CS_(ARCH|MODE)_.*|UNW_(X86|AARCH64)_.*" \
	    "|__x86_64__|__aarch64__|__i386__|_mm_.*|__builtin_ia32_.*" \
	    "|SYS_(open|poll|select|fork|vfork|pause|alarm|getdents|stat|lstat" \
	    "|access|pipe|dup2|unlink|rename|mkdir|rmdir|readlink|arch_prctl)" \
	    "|[xyz]mm[0-9]+|dr[0-7])$"
}

FNR == 1 { in_comment = 0 }

{
	line = $0
	if (in_comment) {
		if (!sub(/^.*\*\//, "", line))
			next
		in_comment = 0
	}
	# An address in a string, as of a web page, is no comment.
	while (match(line, /\/\*|\/\//)) {
		if (substr(line, RSTART, 2) == "//") {
			if (substr(line, RSTART - 1, 1) == ":") {
				sub(/\/\//, "::", line)
				continue
			}
			line = substr(line, 1, RSTART - 1)
			break
		}
		rest = substr(line, RSTART + 2)
		end = index(rest, "*/")
		if (end == 0) {
			in_comment = 1
			line = substr(line, 1, RSTART - 1)
			break
		}
		line = substr(line, 1, RSTART - 1) " " substr(rest, end + 2)
	}
	what = ""
	n = split(line, at, /[^A-Za-z0-9_]+/)
	for (i = 1; i <= n; i++)
		if (at[i] in word || at[i] ~ begin)
			what = at[i]
	# Of int3, of a system call.
	if (line ~ /(^|[^0-9A-Za-z])0[xX][cC][cC]([^0-9A-Za-z]|$)/ ||
	    line ~ /0[xX]0[fF], *0[xX]05/ || line ~ /\\xcc|\\x0f\\x05/)
		what = "bytes of an instruction"
	if (line ~ /(^|[^A-Za-z0-9_])(__)?asm(__)?[ \t]*(\(|(__)?(volatile|goto))/)
		what = "asm"
	if (what != "") {
		print FILENAME ":" FNR ": " what ": a word of a machine"
		bad = 1
	}
}

END { exit bad }
