#!/bin/bash
# The table of mistakes in descriptions of probes: each gets one line that says
# what is wrong and what to do.  Those that need no process are in
# t/d/mistakes/.
# timeout: 300
# shellcheck disable=SC2016 # $target is D's
. "${0%/*}/lib.sh"

# hint COMMAND DESCRIPTION HINT: what follows the sentence of DTrace; N stands
# for the process.
hint() {
	local want="does not match any probes; $3"

	dt -n "$2" ${1:+-c "$1"}
	is "$2: status" "$status" 1
	sed -E 's/process [0-9]+/process N/; s/pid[0-9]+/pidN/' "$tmp/err" \
	    >"$tmp/said"
	grep -qF -e "$want" "$tmp/said" || {
		wrong "$2: no \"$want\" in:"
		cat "$tmp/err"
	}
	is "$2: lines" "$(wc -l <"$tmp/err")" 1
}

args=$bin/args
libc=$(ldd "$args" | awk '/libc\.so/ { print $1 }')
libcpath=$(ldd "$args" | awk '/libc\.so/ { print $3 }')

# ---- a name alone ----
hint "$args" malloc 'the function is pid$target::malloc:entry'
hint "$args" read 'the system call is syscall::read:entry, the function is pid$target::read:entry'
hint "$args" mallok 'did you mean pid$target::malloc:entry?'
hint "$args" malloc:return 'the function is pid$target::malloc:return'
hint "$args" qqqqqqqqqq 'no traced process has a function of that name'
hint '' malloc:entry 'a function is pid$target::malloc:entry, with -p or -c'

# ---- a provider that is not in the first field ----
first='the provider is the first of four fields:'
hint '' syscall::entry "$first syscall:::entry"
hint '' syscall "$first syscall:::entry"
hint '' syscall:read:entry "$first syscall::read:entry"
hint '' syscall:read "$first syscall::read:entry"
hint "$args" syscall::entry "$first syscall:::entry"
hint '' proc:exec-success "$first proc:::exec-success"
hint '' dtrace:BEGIN "$first dtrace:::BEGIN"
hint '' proc 'proc is a provider: -l -P proc lists its probes'
hint "$args" 'pid$target' "$first pid\$target:::entry"
hint "$args" 'pid$target:malloc' "$first pid\$target::malloc:entry"
hint "$args" 'pid$target:malloc:return' "$first pid\$target::malloc:return"
hint "$args" 'pid$target::malloc' "$first pid\$target::malloc:entry"
hint "$args" 'pid$target:libc:malloc' "$first pid\$target:libc:malloc:entry"
hint "$args" 'plockstat$target:mutex-block' "$first plockstat\$target:::mutex-block"
hint "$bin/usdt" 'my-app$target:hit:watched' "$first my-app\$target::hit:watched"
hint '' fbt:vfs_read 'fbt shows the kernel, dtrap shows processes: '
hint '' 'sys*' "$first sys*:::"
hint '' profile:::997 'its name has two parts: profile-997'
hint '' tick:1s 'its name has two parts: tick-1s'

# ---- functions and modules ----
hint "$args" 'pid$target::mallok:entry' 'did you mean malloc?'
hint "$args" 'pid$target::mian:entry' 'did you mean main?'
hint "$args" 'pid$target:libcc:malloc:entry' 'process N (args) has no object libcc; did you mean libc?'
hint "$args" 'pid$target:webserver:malloc:entry' 'process N (args) has no object webserver; it has args, '
dt -x setenv=LD_PRELOAD=libdl.so.2:libpthread.so.0:librt.so.1:libutil.so.1 \
    -n 'pid$target:no-such-object:f:entry' -c "$bin/shop"
has "$tmp/err" 'has no object no-such-object; it has a\.out, its program, and [1-9][0-9]+ others$'
hint "$args" 'pid$target:/no/such/file:malloc:entry' 'process N (args) has no object /no/such/file; it has args, '
hint "$args" 'pid$target::qqqqqqqqqq:entry' 'no object of process N (args) has a function of that name'
hint "$args" 'pid$target:a.out:qqq*:entry' "-l -n 'pid\$target:a.out::entry' lists those that it has"
hint "$args" 'pid$target::environ:entry' 'environ is a variable of '
hint "$args" 'pid$target:libc:abort:return' 'abort has no instruction that returns'
dt -n 'pid$target:a.out:malloc:entry' -c "$args"
is "elsewhere: status" "$status" 1
has "$tmp/err" "failed to lookup 'malloc' in module 'a.out'; $libc has it: pid[\$]target:$libc:malloc:entry\$"

# A function that is none of the processor's.
if [ -x /usr/bin/python3 ]; then
	# Some builds of Python export names and have no other symbol.
	dt -n 'pid$target::no_such_def:entry' -c '/usr/bin/python3 -c 0'
	is "python: status" "$status" 1
	has "$tmp/err" 'does not match any probes(: python[0-9.]* has no symbol table but that of what it exports)?; the pid provider has no functions written in Python: python[$]target:::function-entry has them, jstack\(\) shows them; '
fi

# What the compiler has put into its callers.
dt -n 'pid$target:a.out:late:entry' -c "$bin/lines-o2"
dt -q -l -n 'pid$target:a.out:*:inline-entry' -c "$bin/lines-o2"
inlined=$(awk '$5 == "inline-entry" { print $4; exit }' "$tmp/out")
nm "$bin/lines-o2" | grep -q " $inlined$" ||
    hint "$bin/lines-o2" "pid\$target::$inlined:entry" \
	"all calls of it are inlined: pid\$target:a.out:$inlined:inline-entry"

# No symbol table: said before, and what to do now.
dt -n 'pid$target::compute:entry' -c "$bin/shape-stripped"
is "stripped: status" "$status" 1
has "$tmp/err" 'does not match any probes: shape-stripped has no symbol table( but that of what it exports)?; (did you mean|sub_\*)'

# A program that only exports names: one of them may be meant.
printf 'int exported_here(int n) { return n; } int main(void) { return 0; }\n' \
    >"$tmp/exports.c"
${CC:-cc} -rdynamic -s -o "$tmp/exports" "$tmp/exports.c" ||
    fail "exports.c does not compile"
dt -n 'pid$target::exported_hre:entry' -c "$tmp/exports"
is "exports: status" "$status" 1
has "$tmp/err" 'any probes: exports has no symbol table but that of what it exports; did you mean exported_here\?$'

# ---- names of C++ ----
hint "$bin/shop" 'pid$target::put:entry' 'did you mean shop::Box::put(char const*) or shop::Box::put(int)?'
hint "$bin/shop" 'pid$target::Box::putt:entry' 'did you mean shop::Box::put(char const*) or shop::Box::put(int)?'
hint "$bin/shop" 'pid$target::most<float>:entry' 'did you mean shop::most<double> or shop::most<int>?'
hint "$bin/shop" 'shop::alonee:entry' 'did you mean pid$target::shop::alone:entry?'

# ---- providers ----
hint "$bin/usdt" 'my_ap$target:::x' 'process N (usdt) has no provider my_ap; did you mean my-app?'
hint "$bin/usdt" 'webserver$target:::x' 'process N (usdt) has no provider webserver; it has my-app'
hint "$bin/usdt" 'webserver:::x' 'process N (usdt) has no provider webserver; it has my-app'
hint "$bin/shape-static" 'python$target:::function-entry' 'process N (shape-static) has no provider python: it has no static probes; CPython has it when configured --with-dtrace'
hint "$args" 'fbt::vfs_read:entry' 'fbt shows the kernel, dtrap shows processes: '
hint "$args" 'plockstat$target:::mutex-aquire' 'did you mean mutex-acquire?'
hint "$args" 'proc:::exeec-success' 'did you mean exec-success?'

# In a script, too.
printf 'python$target:::function-entry\n{\n}\n' >"$tmp/py.d"
dt -s "$tmp/py.d" -c "$bin/shape-static"
has "$tmp/err" 'py.d: line 1: probe .* any probes; process [0-9]+ \(shape-static\) has no provider python: it has no static probes; '

# A list that is empty says why, behind the line that DTrace has.
dt -l -n 'fbt:::entry'
is "list: status" "$status" 0
has "$tmp/err" '^dtrap: failed to match fbt:::entry: No probe matches description$'
has "$tmp/err" '^dtrap: fbt shows the kernel'

# ---- a module as a path ----
for path in "$libcpath" "$(readlink -f "$libcpath")"; do
	dt -qn "pid\$target:$path:malloc:entry /pid == \$target/ { n++; }
	    END { printf(\"%s\\n\", n > 0 ? \"hit\" : \"none\"); }" \
	    -c "ls /"
	has "$tmp/out" '^hit$'
done
dt -n "pid\$target:$args:main:entry /1/ { exit(0); }" -c "$args"
has "$tmp/err" "^dtrap: description 'pid.target:$args:main:entry ' matched 1 probe"
# A predicate behind an empty field is none.
dt -qn 'pid$target:a.out::/probefunc == "main"/{ printf("%s\n", probename); }' \
    -c "$args"
has "$tmp/out" '^entry$'

# ---- arguments ----
dt -n 'pid$target::add:entry { trace(strlen(arg0)); }' -c "$args"
dt -n 'pid$target:a.out:*:entry { trace(args[0]); }' -c "$bin/typed-o0"
is "args differ: status" "$status" 1
has "$tmp/err" 'an unstable set of probes; [^ ]*:entry has .*, [^ ]*:entry has .*: write a clause for each, or arg[0-9] here$'

# Variables of the program have a sign.
dt -n 'pid$target:a.out:main:entry { trace(argc); }' -c "$bin/typed-o0"
has "$tmp/err" 'failed to resolve argc: Unknown variable name; the variable argc of the traced program is local`argc$'

# ---- braces ----
dt -n 'syscall::read:entry trace(arg0)'
has "$tmp/err" 'does not match any probes; actions go inside \{ \}$'
dt -n 'BEGIN { exit(0);'
has "$tmp/err" 'syntax error near end of input; the clause of BEGIN has no }$'

# ---- the text of a program is shown once ----
dt -n 'BEGIN { trace(execnam); }'
is "once: lines" "$(grep -c execnam "$tmp/err")" 2
has "$tmp/err" '^dtrap: invalid probe specifier: in action list: failed to resolve execnam: Unknown variable name; did you mean execname\?$'
has "$tmp/err" '^    BEGIN \{ trace\(execnam\); \}$'
# Who compares with DTrace sees its words alone.
_DTRACE_TESTING=1 dt -n 'BEGIN { trace(execnam); }'
is "testing" "$(cat "$tmp/err")" 'dtrap: invalid probe specifier BEGIN { trace(execnam); }: in action list: failed to resolve execnam: Unknown variable name'

# ---- the C preprocessor ----
printf 'BEGIN\n{\n\texit(0);\n}\n#include <no/such.h>\n' >"$tmp/cpp.d"
dt -C -s "$tmp/cpp.d"
is "missing include: status" "$status" 1
has "$tmp/err" "^$tmp/cpp.d:5:10: fatal error: no/such.h: No such file or directory\$"
has "$tmp/err" "^dtrap: failed to compile script $tmp/cpp.d: Preprocessor failed to process input program; -I FOLDER "
is "missing include: lines" "$(wc -l <"$tmp/err")" 2
printf '#error not here\n' >"$tmp/cpp.d"
dt -C -s "$tmp/cpp.d"
has "$tmp/err" "^$tmp/cpp.d:1:2: error: #error not here\$"
has "$tmp/err" 'Preprocessor failed to process input program$'

# ---- faults ----
dt -qn 'pid$target:a.out:main:entry, syscall:::entry
{
	trace(copyinstr(1));
}' -c "$args"
is "faults: shown" "$(grep -c 'invalid address (0x1)' "$tmp/err")" 10
has "$tmp/err" '^dtrap: error in dt_clause_1 for probe ID .*: invalid address \(0x1\) at DIF offset [0-9]+ at line 3, column 8$'
has "$tmp/err" '^dtrap: invalid address at line 3, column 8: [0-9]+ times$'
finish
