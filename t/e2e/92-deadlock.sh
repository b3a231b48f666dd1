#!/bin/bash
# timeout: 200
# plockstat -d: who waits for whom, and what is a deadlock and what is not.  The
# process is as it was afterwards, and sleeps on.
. "${0%/*}/lib.sh"
need python3
LIMIT=60

# Until N threads of the process sleep in a futex call (202).
asleep() {
	local n
	while :; do
		n=$(cat "/proc/$1/task/"*/syscall 2>/dev/null | grep -c '^202 ')
		[ "$n" -lt "$2" ] || return 0
	done
}

cat >"$tmp/check.py" <<'P'
import json, sys

kind = sys.argv[1]
d = json.load(open(sys.argv[2]))
by = {t["tid"]: t for t in d["threads"]}
name = lambda tid: by[tid]["name"]
cycles = [sorted(map(name, c)) for c in d["deadlocks"]]
second = [t["tid"] for t in d["threads"] if t["name"] == "second"]
for t in d["threads"]:
    if "lock" in t and second:
        lock = t["lock"]
        if lock["name"] == "stack of thread %d %s" % (second[0], lock["address"]):
            lock["name"] = "stack"
waits = {t["name"]: (t.get("lock", {}).get("name", "").split("`")[-1],
    name(t["waits_for"]) if "waits_for" in t else None)
    for t in d["threads"]}
want = {
    "two": ([["first", "second"]],
        {"first": ("lock_b", "second"), "second": ("lock_a", "first")}),
    "three": ([["first", "second", "third"]],
        {"first": ("lock_b", "second"), "second": ("lock_c", "third"),
         "third": ("lock_a", "first")}),
    "self": ([["first"]], {"first": ("lock_a", "first")}),
    "join": ([["first", "second"]],
        {"first": ("", "second"), "second": ("lock_a", "first")}),
    "stack": ([["first", "second"]],
        {"first": ("stack", "second"), "second": ("lock_a", "first")}),
    "none": ([], {"first": ("", None), "second": ("lock_a", "first")}),
}[kind]
assert cycles == want[0], cycles
assert waits == want[1], waits
if kind == "two":
    second = [t for t in d["threads"] if t["name"] == "second"][0]
    assert any("`take_b_then_a+" in f for f in second["stack"]), second
P

for kind in two three self join stack none; do
	case $kind in
	two | join | stack) n=2 ;;
	three) n=3 ;;
	*) n=1 ;;
	esac
	start dead "$bin/deadlock" $kind
	line dead ready
	p=${pid[dead]}
	asleep "$p" $n
	text_of "$p" >"$tmp/before"
	"$PLOCKSTAT" -d -j -p "$p" >"$tmp/json" 2>"$tmp/err" ||
	    wrong "$kind: status $?"
	python3 "$tmp/check.py" $kind "$tmp/json" || wrong "$kind"
	"$PLOCKSTAT" -d -p "$p" >"$tmp/text" 2>"$tmp/err" ||
	    wrong "$kind: status $?"
	is "$kind: tracer" "$(tracer "$p")" 0
	text_of "$p" >"$tmp/after"
	same "$kind: text" "$tmp/before" "$tmp/after"
	asleep "$p" $n
	case $kind in
	none) hasnt "$tmp/text" DEADLOCK ;;
	self) has "$tmp/text" '^DEADLOCK of 1 thread:' ;;
	join) has "$tmp/text" 'waits for the end of thread [0-9]+ \(second\)' ;;
	*) has "$tmp/text" "^DEADLOCK of $n threads:" ;;
	esac
	has "$tmp/text" 'waits for .*lock_[ab]'
	kill -KILL "$p"
	end dead
done

# The other library's normal mutexes do not say who has them.
if [ -x "$bin/deadlock-musl" ]; then
	start dead "$bin/deadlock-musl" two
	line dead ready
	asleep "${pid[dead]}" 2
	"$PLOCKSTAT" -d -p "${pid[dead]}" >"$tmp/text" 2>"$tmp/err"
	is "musl: status" "$?" 0
	has "$tmp/text" 'waits for mutex .*lock_a, whose holder is not recorded'
	has "$tmp/text" 'waits for mutex .*lock_b, whose holder is not recorded'
	hasnt "$tmp/text" DEADLOCK
	kill -KILL "${pid[dead]}"
	end dead
fi

"$PLOCKSTAT" -d -p "$BASHPID" >"$tmp/text" 2>"$tmp/err" || :
"$PLOCKSTAT" -d -p 4194305 >"$tmp/text" 2>"$tmp/err"
is "no such process: status" "$?" 1
has "$tmp/err" '^plockstat: no process with pid 4194305'
finish
