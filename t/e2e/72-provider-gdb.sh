#!/bin/bash
# gdb sees the probes that a program makes while it runs, and agrees with dtrap about
# their arguments.
. "${0%/*}/lib.sh"
need gdb
need_attach

start app "$bin/provider"
line app ready
tell app load
line app 'load: no error'
cat >"$tmp/script" <<'GDB'
set pagination off
set confirm off
info probes stap
break -probe-stap shop:sold
commands
silent
printf "%d %s\n", $_probe_arg0, (char *)$_probe_arg1
backtrace 1
continue
end
break -probe-stap shop:two
commands
silent
if $_probe_argc == 2
	printf "%d %s\n", $_probe_arg0, (char *)$_probe_arg1
else
	printf "text %s\n", (char *)$_probe_arg0
end
backtrace 1
continue
end
break -probe-stap shop:all12
commands
silent
printf "%d %u %d %u %d %u %ld %lu %s", $_probe_arg0, $_probe_arg1, $_probe_arg2, $_probe_arg3, $_probe_arg4, $_probe_arg5, $_probe_arg6, $_probe_arg7, (char *)$_probe_arg8
printf " %p %d %s\n", $_probe_arg9, $_probe_arg10, (char *)$_probe_arg11
continue
end
echo armed\n
continue
GDB
start_null gdb gdb -nx -batch -p "${pid[app]}" -x "$tmp/script"
line gdb '^armed$'
tell app "fire 3 1"
tell app all
close_in app
end app
is "provider: status" "$status" 0
end gdb
has "$tmp/app.out" '^fired, watched 1$'
has "$tmp/gdb.out" "^stap shop +idle__time .* /proc/${pid[app]:-[0-9]+}/fd/[0-9]+"
grep -E '^(text .*|-?[0-9]+ ([0-9]+-.*|by .*))$' "$tmp/gdb.out" >"$tmp/got"
printf '%s\n' '0 0-0' '-1 0-1' '-2 0-2' 'text by function' '-1 by function' >"$tmp/want"
same "what gdb prints" "$tmp/want" "$tmp/got"
has "$tmp/gdb.out" '^-128 255 -32768 65535 -2147483648 4294967295 -9223372036854775808 18446744073709551615 text 0x[0-9a-f]+ 127 last$'
has "$tmp/gdb.out" '^#0 .* in sell \(\) from /proc/[0-9]+/fd/[0-9]+$'
has "$tmp/gdb.out" '^#0 .* in Shop.sell \(\) from '

# And dtrap prints.
# shellcheck disable=SC2016 # D
dt -q -Z -x switchrate=5ms -n 'provider shop { probe sold(int, string); };
    shop$target::sell:sold { printf("%d %s\n", args[0], args[1]); }
    shop$target::Shop.sell:two { printf("text %s\n", copyinstr(arg0)); }
    shop$target::Shop.buy:two { printf("%d %s\n", arg0, copyinstr(arg1)); }' \
    -c "$bin/provider load 'fire 3 1' all"
grep -E '^(text .*|-?[0-9]+ ([0-9]+-.*|by .*))$' "$tmp/out" >"$tmp/got"
same "what dtrap prints" "$tmp/want" "$tmp/got"
finish
