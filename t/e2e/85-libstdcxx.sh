#!/bin/bash
# The static probes of the C++ library as Debian builds it: what is thrown,
# thrown again and caught, with its type's name as the compiler has it.
. "${0%/*}/lib.sh"
need_attach
need ldd readelf perl
lib=$(ldd "$bin/throws" | awk '/libstdc/ { print $3 }')
lib=$(readlink -f "$lib")
carries "$lib" rethrow || skip "libstdc++ has no static probes here"

# The second argument is a std::type_info, which has a pointer to its name
# behind that to its functions.
# shellcheck disable=SC2016
exceptions='libstdcxx$target:::* {
	@[probename, copyinstr(*(uintptr_t *)copyin(arg1 + 8, 8)), arg0 != 0] = count();
}
END { printa("%s %s %d %@d\n", @); }'
cat >"$tmp/want" <<'WANT'
catch PKc 1 1
catch St13runtime_error 1 5
catch i 1 5
rethrow St13runtime_error 1 2
throw PKc 1 1
throw St13runtime_error 1 3
throw i 1 5
WANT
cp "$tmp/want" "$tmp/exceptions"

dt -q -Z -n "$exceptions" -c "$bin/throws"
is "status" "$status" 0
hasnt "$tmp/err" 'error|drop'
sed '/^$/d' "$tmp/out" | sort >"$tmp/seen"
same "launched" "$tmp/want" "$tmp/seen"

for p in one two; do
	start $p "$bin/throws" serve
	line $p ready
done
start_dt dt -q -n "$exceptions" -p "${pid[one]}"
tell one all
line one 'done all'
tell two all
line two 'done all'
kill -INT "${pid[dt]}"
end dt
is "status" "$status" 0
hasnt "$tmp/dt.err" .
sed '/^$/d; /armed/d' "$tmp/dt.out" | sort >"$tmp/seen"
same "attached" "$tmp/exceptions" "$tmp/seen"

in_two libstdcxx "$lib" \
    'throw /copyinstr(*(uintptr_t *)copyin(arg1 + 8, 8)) == "PKc"/' \
    'copyinstr(*(uintptr_t *)copyin(arg0, 8))' text
end_two
finish
