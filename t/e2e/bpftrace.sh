# shellcheck shell=bash disable=SC2154 # lib.sh assigns what is read here
# Read by the tests that compare dtrap with bpftrace, behind lib.sh.  bpftrace is
# started as "bpf", with -B line, and traces the program "app".

# heard SECONDS WORD COMMAND REGEX: bpftrace is ready when it writes WORD, for a hit
# that the program makes at COMMAND, which it answers with a line like REGEX.
heard() {
	until grep -q "^$2\$" "$tmp/bpf.out"; do
		[ "$SECONDS" -lt "$1" ] || fail "bpftrace sees nothing"
		tell app "$3"
		line app "$4"
		while IFS= read -r -t 0.2 -u "${out[bpf]}" line; do
			printf '%s\n' "$line" >>"$tmp/bpf.out"
		done
	done
}

# On a busy machine bpftrace was seen not to end after one signal.
end_bpftrace() {
	local fd=${out[bpf]} i
	for ((i = 0; i < 12; i++)); do
		kill -INT "${pid[bpf]}" 2>/dev/null
		timeout 10 cat <&"$fd" >>"$tmp/bpf.out" && break
	done
	end bpf
}
