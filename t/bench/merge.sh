#!/bin/bash
# dtrap merge from recorded files: changed keys a second on one processor, the
# memory, and the bytes of a stream.
. "${0%/*}/lib.sh"

# spent COMMAND...: seconds of processor, and the most memory in MiB.
spent() {
	python3 - "$@" <<-END
		import resource, subprocess, sys
		subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL)
		r = resource.getrusage(resource.RUSAGE_CHILDREN)
		print(r.ru_utime + r.ru_stime, r.ru_maxrss // 1024)
	END
}

# rate STREAMS KEYS SNAPSHOTS [OPTION...]
rate() {
	local n=$(($1 * $2 * $3)) seconds memory bytes
	rm -rf "$tmp/streams"
	mkdir "$tmp/streams"
	python3 t/bench/streams.py "$tmp/streams" "$1" "$2" "$3"
	bytes=$(cat "$tmp/streams"/* | wc -c)
	read -r seconds memory < <(for ((i = 0; i < RUNS; i++)); do
		spent "$DTRAP" merge -o /dev/null "${@:4}" "$tmp/streams"/*
	done | sort -n | head -n 1)
	row "$1 hosts, $2 keys, $3 times ${*:4}" \
	    "$(awk "BEGIN { printf \"%.2f\", $n / $seconds / 1e6 }")" \
	    "$memory" "$((bytes / n))"
}

table 'merge' 'million keys a second' 'MiB' 'bytes a key'
rate 20 10000 10
rate 200 1000 10
rate 1000 200 10
rate 1 1000000 1
rate 1 1000000 1 -x aggmax=64m
