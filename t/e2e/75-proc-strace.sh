#!/bin/bash
# What proc tells of real programs is what strace -f tells: every process,
# thread, exec, signal and end, each with its number in the family, its reason
# and its error.
# timeout: 300
. "${0%/*}/lib.sh"
need strace python3
export PATH=/usr/bin:/bin

# Both are read into lines "PLACE EVENT", sorted.  A place is 0 for the target,
# and a child's is its maker's with .N behind, the Nth that it made; a thread's
# the process's with /N.
cat >"$tmp/read.py" <<'EOF'
import errno, re, signal, sys

class Family:
    def __init__(self):
        self.first, self.maker, self.events = None, {}, []

    def add(self, tid, event):
        self.first = self.first or tid
        self.events.append((tid, event))

    def born(self, maker, child, thread):
        self.add(maker, "lwp-create" if thread else "create")
        self.maker[child] = maker, thread

    def places(self):
        """By number; a child may be heard of before its maker's call ends."""
        at, made = {self.first: "0"}, {}
        def place(tid):
            if tid not in at:
                maker, thread = self.maker[tid]
                of = place(maker)
                if thread:
                    of = re.sub(r"/\d+$", "", of)
                made[of, thread] = made.get((of, thread), 0) + 1
                at[tid] = "%s%s%d" % (of, "/" if thread else ".", made[of, thread])
            return at[tid]
        for tid in self.maker: # each maker's children in their order
            place(tid)
        return at

    def lines(self, loose):
        at, out = self.places(), []
        for tid, event in self.events:
            place = at[tid]
            # Any thread may get it.  Ends of several children may come as one.
            if event == "signal SIGCHLD":
                place = re.sub(r"/\d+$", "", place)
                if place in loose and "%s %s" % (place, event) in out:
                    continue
            # A process begins and ends with its first thread.
            what, _, reason = event.partition(" ")
            if what in ("began", "ended"):
                out.append("%s lwp-%s" % (place, {"began": "start", "ended": "exit"}[what]))
                if re.search(r"/\d+$", place):
                    continue
                event = "start" if what == "began" else "exit " + reason
            out.append("%s %s" % (place, event))
        return sorted(out)

def path(call):
    return re.match(r'execve(?:at)?\((?:\w+, )?"([^"]*)"', call)[1]

def of_strace(family, text):
    begun, skipped, started = {}, False, set()
    for line in text:
        tid, rest = line.rstrip("\n").split(None, 1)
        if tid not in started:
            if started:
                family.add(tid, "began")
            started.add(tid)
        rest = re.sub(r"^<\.\.\. \w+ resumed>", lambda m: begun.pop(tid, ""), rest)
        if rest.endswith("<unfinished ...>"):
            begun[tid] = rest[:-len("<unfinished ...>")]
            continue
        if m := re.match(r"\+\+\+ (exited with|killed by) (\S+)( \(core dumped\))?", rest):
            reason = "exited" if m[1] == "exited with" else "dumped" if m[3] else "killed"
            family.add(tid, "ended " + reason)
        elif m := re.match(r"\+\+\+ superseded by execve in pid (\d+)", rest):
            family.add(tid, "lwp-exit") # its number is the other's now
            family.add(m[1], "exec " + path(begun[m[1]]))
            begun[tid] = "succeeding "
        elif m := re.match(r"--- (SIG\w+) \{", rest):
            family.add(tid, "signal " + m[1])
        elif m := re.match(r"(?:clone3?|v?fork)\(.*= (\d+)\b", rest):
            family.born(tid, m[1], "CLONE_THREAD" in rest)
        elif m := re.match(r"(?:execve|succeeding ).*= (\S+)(?: (E\w+))?", rest):
            # The first one was made before the trace.
            if skipped and rest.startswith("execve"):
                family.add(tid, "exec " + path(rest))
            skipped = True
            family.add(tid, "exec-success" if m[1] == "0" else "exec-failure " + m[2])
        elif not rest.startswith(("clone", "fork", "vfork", "--- stopped", "???")):
            sys.exit("strace says: " + line)

def of_dtrap(family, text):
    for line in filter(str.strip, text):
        tid, event, *rest = line.split()
        if event in ("create", "lwp-create"):
            family.born(tid, rest[0], event == "lwp-create")
        elif event == "signal":
            family.add(tid, "signal " + signal.Signals(int(rest[0])).name)
        elif event == "exec-failure":
            family.add(tid, "exec-failure " + errno.errorcode[int(rest[0])])
        else:
            family.add(tid, " ".join([event] + rest))

which, loose = sys.argv[1:]
family = Family()
(of_strace if which == "strace" else of_dtrap)(family, sys.stdin)
print("\n".join(family.lines(loose.split())))
EOF

cat >"$tmp/lives.d" <<'D'
proc:::create { printf("%d create %d\n", tid, args[0]->pr_pid); }
proc:::lwp-create { printf("%d lwp-create %d\n", tid, args[0]->pr_lwpid); }
proc:::start, proc:::lwp-start, proc:::lwp-exit, proc:::exec-success {
	printf("%d %s\n", tid, probename);
}
proc:::exec { printf("%d exec %s\n", tid, args[0]); }
proc:::exec-failure { printf("%d exec-failure %d\n", tid, -args[0]); }
proc:::signal-handle { printf("%d signal %d\n", tid, args[0]); }
proc:::signal-discard { printf("%d signal %d\n", tid, args[2]); }
proc:::exit {
	/* By the process's number: its last thread may be any. */
	printf("%d exit %s\n", pid, args[0] == CLD_EXITED ? "exited" :
	    args[0] == CLD_DUMPED ? "dumped" : "killed");
}
D

# compare NAME LOOSE COMMAND...: under either, in a directory that `fresh'
# makes.  LOOSE are the places with several children at a time, whose ends may
# come as fewer signals.
compare() {
	local name=$1 loose=$2
	shift 2
	rm -rf "$tmp/dir" "$tmp/trace" "$tmp/strace"
	fresh "$tmp/dir"
	(cd "$tmp/dir" && apart timeout 100 strace -f -q -s 4000 -o "$tmp/strace" \
	    -e trace=clone,clone3,fork,vfork,execve,execveat -- "$@") \
	    </dev/null >"$tmp/strace.out" 2>"$tmp/strace.err"
	is "$name: status under strace" "$?" 0
	rm -rf "$tmp/dir"
	fresh "$tmp/dir"
	(cd "$tmp/dir" && apart timeout 100 "$DTRAP" -q -x evaltime=exec \
	    -o "$tmp/trace" -s "$tmp/lives.d" -c "$(quote "$@")") \
	    </dev/null >"$tmp/out" 2>"$tmp/err"
	is "$name: status" "$?" 0
	hasnt "$tmp/err" 'drop|error'
	same "$name: what it writes" "$tmp/strace.out" "$tmp/out"
	python3 "$tmp/read.py" strace "$loose" <"$tmp/strace" >"$tmp/want" ||
	    fail "$name: strace is not understood"
	python3 "$tmp/read.py" dtrap "$loose" <"$tmp/trace" >"$tmp/seen" ||
	    fail "$name: dtrap is not understood"
	same "$name: what strace tells and what was seen" "$tmp/want" "$tmp/seen"
	echo "$name: $(wc -l <"$tmp/seen") events"
}

fresh() {
	mkdir "$1"
}

(cd "$tmp" && strace -f -q -o "$tmp/strace" true) 2>/dev/null ||
    skip "strace does not work here"

# A shell: a pipeline, a command that is not there and one that may not be
# executed, substitutions, somebody who writes into a closed pipe, one who is
# killed.
cat >"$tmp/shell.sh" <<'EOF'
ls / | sort | uniq -c | wc -l >/dev/null
no-such-program 2>/dev/null
"$0.d/directory" 2>/dev/null
x=$(echo $(true; echo 3))
[ "$x" = 3 ] || exit 1
(exit $x)
(trap '' USR1; kill -USR1 $BASHPID; exec true)
(kill -TERM $BASHPID; echo never)
bash -c 'trap "exit 0" USR1; kill -USR1 $$; echo never'
yes | head -n 1
echo "$(<"$0")" >/dev/null
exec env A=b /bin/sh -c 'exit 0'
EOF
mkdir -p "$tmp/shell.sh.d/directory"
compare shell "0" /bin/bash "$tmp/shell.sh"

# Python: children by vfork, by fork, by a thread; threads; signals to a
# process and to a thread; one that is ignored, one that is blocked, a timer,
# a child that is killed.
cat >"$tmp/lives.py" <<'EOF'
import os, signal, subprocess, sys, threading

got = []
signal.signal(signal.SIGUSR1, lambda sig, frame: got.append(sig))
signal.signal(signal.SIGALRM, lambda sig, frame: got.append(sig))
signal.signal(signal.SIGUSR2, signal.SIG_IGN)

subprocess.run(["true"], check=True)
try:
    subprocess.run(["no-such-program"])
except FileNotFoundError:
    print("not found")
print(subprocess.run("exit 3", shell=True).returncode)
print(subprocess.run(["true"], preexec_fn=lambda: None).returncode)
child = subprocess.Popen(["sleep", "1000"])
child.terminate()
print(child.wait())

pid = os.fork()
if pid == 0:
    os.kill(os.getpid(), signal.SIGUSR2)
    os._exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
begun, begin = os.pipe()
pid = os.fork()
if pid == 0:
    os.write(begin, b"x")
    signal.pause()
os.read(begun, 1)
os.kill(pid, signal.SIGKILL)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

os.kill(os.getpid(), signal.SIGUSR1)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
os.kill(os.getpid(), signal.SIGUSR1)
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
signal.setitimer(signal.ITIMER_REAL, 0.001)
while signal.SIGALRM not in got:
    pass
print(len(got))

def work(n):
    signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
    if n == 1:
        subprocess.run(["true"], check=True)
for n in range(4):
    t = threading.Thread(target=work, args=(n,))
    t.start()
    t.join()
done = threading.Event()
pid = os.fork()
if pid == 0:
    threading.Thread(target=done.wait).start()
    threading.Thread(target=os.execv, args=("/bin/true", ["true"])).start()
    done.wait()
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
for n in range(3):
    threading.Thread(target=done.wait, daemon=True).start()
print(len(got))
sys.stdout.flush()
os._exit(0)
EOF
compare python "" "$(python3 -c 'import sys; print(sys.executable)')" -S "$tmp/lives.py"

if ! command -v git >/dev/null; then
	echo "git is not installed"
else
	export HOME=$tmp GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=n \
	    GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e \
	    GIT_AUTHOR_DATE='@0 +0000' GIT_COMMITTER_DATE='@0 +0000'
	git=$(command -v git)
	fresh() {
		git init -q -b main "$1"
		(cd "$1" && for i in 1 2 3; do
			echo $i >"file$i"
			git add "file$i"
			git commit -q -m "$i"
		done
		echo 4 >file4
		git branch other
		git config pack.threads 2) || fail "no repository"
	}
	compare "git status" "" "$git" status
	compare "git gc" "" "$git" gc --quiet
	compare "git clone" "0" "$git" clone -q --no-local . copy
	compare "git stash" "" "$git" stash -q -u
fi
finish
