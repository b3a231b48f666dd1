#!/bin/bash
# A hit beside tracers that do not stop the thread either: uftrace and LTTng-UST, for
# which the program has to be built, and bpftrace, which enters the kernel.
. "${0%/*}/lib.sh"

N=${N:-3000000}
src=t/bench/peers
plain=$tmp/plain
cc=${CC:-cc}
sessiond=

# shellcheck disable=SC2317 # called by the trap
ends() {
	[ -z "$sessiond" ] || { kill "$sessiond"; wait "$sessiond"; } 2>/dev/null
	cleanup
}
trap ends EXIT

by_jump() {
	per_call "$DTRAP" -x fastpath=on -q -o "$tmp/out" \
	    -n "pid\$target:a.out:hot_call:entry $1" -c "$plain $N"
}

by_bpftrace() {
	per_call bpftrace -e "uprobe:$plain:hot_call { @ = count(); }" \
	    -c "$plain 1000000"
}

by_uftrace() {
	"$cc" -O2 -pg -mfentry -o "$tmp/uftraced" $src/peers.c &&
	    per_call uftrace record --no-libcall -d "$tmp/uftrace" \
	    "$tmp/uftraced" "$N"
}

# A session daemon of our own, with all that it keeps in our folder.  The result is
# in $value.
by_lttng() {
	value=
	export LTTNG_HOME=$tmp/lttng LTTNG_RUNDIR=$tmp/lttng/run
	mkdir -p "$LTTNG_RUNDIR"
	"$cc" -O2 -DLTTNG -I $src -o "$tmp/lttnged" $src/peers.c -llttng-ust -ldl &&
	    mkfifo "$tmp/ready" || return
	lttng-sessiond --no-kernel >"$tmp/err" 2>&1 &
	sessiond=$!
	until lttng list >"$tmp/out" 2>&1; do
		kill -0 $sessiond 2>/dev/null || return
		read -r -t 0.1 _ <>"$tmp/ready"
	done
	{
		lttng create --output="$tmp/lttng/out" bench &&
		    lttng enable-event -u hot:call && lttng start
	} >"$tmp/out" 2>&1 || { cat "$tmp/out" >&2; return; }
	value=$(per_call "$tmp/lttnged" "$N")
	lttng destroy >"$tmp/out" 2>&1
}

"$cc" -O2 -o "$plain" $src/peers.c || exit 1
table 'ns per hit' ''
base "$(per_call "$plain" 50000000)"
row 'dtrap by jump, count()' "$(by_jump '{ @ = count(); }')"
row 'dtrap by jump, a record' "$(by_jump '{ trace(arg0); }')"
if have bpftrace root; then
	row 'bpftrace, count()' "$(by_bpftrace)"
fi
if have uftrace; then
	row 'uftrace, entry and exit recorded' "$(by_uftrace)"
fi
if have lttng-sessiond; then
	by_lttng
	row 'LTTng-UST, a record' "$value"
fi
