#!/bin/bash
# timeout: 600
# Probes that a Python program makes while it runs.
. "${0%/*}/provider.sh"
wheel=$(echo "$B"/dtrap_sdt-*.whl)
[ -f "$wheel" ] || skip "python3-dev or python3-wheel is not installed"
py=(/usr/bin/python3)
"${py[@]}" -m pip --version >"$tmp/pip" 2>&1 || skip "python3-pip is not installed"
"${py[@]}" -m pip install -q --no-index --no-deps --target "$tmp/site" \
    --root-user-action=ignore "$wheel" >"$tmp/pip.err" 2>&1 || fail "pip"
export PYTHONPATH=$tmp/site PYTHONDONTWRITEBYTECODE=1
run=("${py[@]}" "$src/fires.py")

FUNCTION=sell TYPE=int64_t fires_everywhere "${run[@]}"
refused 'ValueError: bad name or type, or no provider
ValueError: too many arguments: a probe has at most 12
TypeError: the type of an argument is int, bool, str, bytes, or INT8 ... POINTER of the module
ValueError: the type of an argument is int, bool, str, bytes, or INT8 ... POINTER of the module
TypeError: the first argument is the name of the probe
ValueError: the provider has a probe of this function and name
OSError: [Errno 16] the provider is loaded: unload it first
OSError: [Errno 16] the provider is loaded: unload it first
TypeError: cannot create '\''dtrap_sdt.Probe'\'' instances' "${run[@]}"
# shellcheck disable=SC2016 # D
typed "+ 1 -1 65535 -2 -3 -9223372036854775808 -4 10000000000 té 茶 🍵
+ none
+ no text
+ 
+ $(printf 'x%.0s' {1..5000})
+ bytes
+ half \\udc80
+ 0 0 5 0 0 -9223372036854775808 0 -1 no text" '
types$target:::all {
	printf("+ %d %d %d %d %d %d %d %d ", arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7);
	printf("%s\n", arg8 == 0 ? "no text" : copyinstr(arg8)); }
types$target:::none { printf("+ none\n"); }
types$target:::text { printf("+ %s\n", arg0 == 0 ? "no text" : copyinstr(arg0)); }' "${run[@]}"
has "$tmp/out" '^enabled True text$'
has "$tmp/out" '^enabled False$'
dropped "${run[@]}"
finish
