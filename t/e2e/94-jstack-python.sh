#!/bin/bash
# timeout: 600
# jstack() in Python: at a point that the program knows, function, file and line
# of every frame are what the program says itself, in each Python that is here.
# shellcheck disable=SC2016 # D and Python, not shell
. "${0%/*}/lib.sh"

# ---- which Pythons ----

pythons=()
declare -A have=()
for py in /usr/bin/python3 $(compgen -c | grep -xE 'python3\.[0-9]+' | sort -u) \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do
	py=$(command -v "$py") || continue
	# What is called python3 may be a script that chooses one.
	read -r v real < <("$py" -I -S -c 'import os, sys
print("%d.%d" % sys.version_info[:2], os.path.realpath(sys.executable))' \
	    2>/dev/null) || continue
	[ -n "${have[$v $real]:-}" ] && continue
	have[$v $real]=1 have[$v]=1
	case $v in
	3.7 | 3.8 | 3.9 | 3.1[0-3]) pythons+=("$v $real") ;;
	esac
done
for v in 3.8 3.9 3.10 3.11 3.12 3.13; do
	[ -n "${have[$v]:-}" ] || echo "python $v is not installed: not tried"
done
[ ${#pythons[@]} != 0 ] || skip "no python3 is installed"

# ---- the program: says its stack, then gets to the probe ----

cat >"$tmp/say.py" <<'PY'
import os, sys

def say(frame, end="\n"):
    while frame is not None:
        code = frame.f_code
        print("%s (%s:%d)" % (getattr(code, "co_qualname", code.co_name),
                              code.co_filename, frame.f_lineno))
        frame = frame.f_back
    print("", end=end, flush=True)

def here(*args):
    say(sys._getframe()); os.getppid()
    return 0
PY
{
cat "$tmp/say.py"
cat <<'PY'
import asyncio, functools, threading

def recursion(n):
    return here() if n == 0 else recursion(n - 1) + 1

class Outer:
    class Inner:
        def method(self):
            return here()

        @classmethod
        def of_class(cls):
            return here()

        @staticmethod
        def static():
            return here()

        @property
        def property(self):
            return here()

        def __add__(self, other):
            return here()

    def __init__(self):
        here()

    def __getattr__(self, name):
        return here()

    def __del__(self):
        here()

def decorator(f):
    @functools.wraps(f)
    def wrapper(*a):
        return f(
            *a)
    return wrapper

@decorator
def decorated():
    here()

def generator(n):
    for i in range(n):
        yield here()

def delegating():
    yield from generator(1)

async def awaited():
    await asyncio.sleep(0)
    return here()

async def awaits():
    return await awaited()

async def gives():
    yield here()

async def collects():
    return [x async for x in gives()]

def exceptions():
    try:
        raise ValueError(
            "x")
    except ValueError:
        here()
    finally:
        here()
    with context():
        here()

class context:
    def __enter__(self):
        here()
    def __exit__(self, *a):
        here()

def größe():
    here()

def 名前():
    here()

def 𝔉():
    here()

def lines():
    return max(
        1,
        here(),
        3)

def callbacks():
    functools.reduce(lambda a, b: here(), [1, 2])
    sorted([2], key=here)
    sorted([2], key=lambda x:
           here())
    list(map(here, [1]))
    [here() for _ in range(1)]
    {here() for _ in range(1)}
    {1: here() for _ in range(1)}
    list(here() for _ in range(1))
    (lambda: (lambda: here())())()

def in_a_thread(depth):
    t = threading.Thread(target=recursion, args=(depth,))
    t.start()
    t.join()

def several_threads():
    # All but one wait somewhere while that one says its stack.
    turn = [threading.Semaphore(0) for i in range(4)]
    def wait(i):
        turn[i].acquire()
        recursion(i)
        if i != 0:
            turn[i - 1].release()
    ts = [threading.Thread(target=wait, args=(i,)) for i in range(4)]
    for t in ts:
        t.start()
    turn[3].release()
    for t in ts:
        t.join()

def blocking():
    # The lock of the interpreter is let go round the call.
    r, w = os.pipe()
    os.dup2(r, 77)
    os.write(w, b"x")
    say(sys._getframe()); os.read(77, 1)

def at_run_time():
    exec(compile("def f():\n\n  here()\nf()", "<made at run time>", "exec"))
    exec(compile("here()", "/caf\u00e9/\u4e2d/\U0001f600.py", "exec"))
    exec(compile("here()", "/caf\u00e9.py", "exec"))

def another_interpreter(text):
    try:
        import _interpreters as subs
    except ImportError:
        try:
            import _xxsubinterpreters as subs
        except ImportError:
            return
    i = subs.create()
    subs.run_string(i, text); say(sys._getframe())

def forked():
    pid = os.fork()
    if pid == 0:
        here()
        os._exit(0)
    os.waitpid(pid, 0)
PY
echo 'def far():'
for i in {1..200}; do echo; done
echo '    here()'
echo 'def long():'
echo '    a = 1'
for i in {1..400}; do echo "    a = a + $i if a else a * a"; done
echo '    here()'
cat <<'PY'

def all():
    here()
    recursion(3)
    recursion(60)
    o = Outer()
    o.missing
    del o
    i = Outer.Inner()
    i.method()
    i.of_class()
    i.static()
    i.property
    i + 1
    decorated()
    list(generator(2))
    list(delegating())
    for x in generator(1):
        here()
    asyncio.new_event_loop().run_until_complete(awaits())
    asyncio.new_event_loop().run_until_complete(collects())
    exceptions()
    größe()
    名前()
    𝔉()
    lines()
    callbacks()
    far()
    long()
    in_a_thread(5)
    several_threads()
    blocking()
    at_run_time()
    forked()
    another_interpreter(open(os.path.dirname(__file__) + "/say.py").read() +
        "say(sys._getframe(), ''); os.getppid()\n")

all()
PY
} >"$tmp/known.py"

point='syscall::getppid:entry,syscall::read:entry
    /probefunc == "getppid" || arg0 == 77/'

# The language's frames of each stack, as the program writes them.
notes() {
	awk 'NF == 0 { if (n) print ""; n = 0; next }
	    /^ *\[ / { sub(/^ *\[ /, ""); sub(/ \]$/, ""); print; n++ }' "$1"
}

# Every run of them stands behind a C frame of the loop.
misplaced() {
	awk '/^ *\[ / { if (!note && last !~ /_PyEval_EvalFrameDefault/) print last
		    note = 1; next }
	    { note = 0; last = $0 }' "$1"
}

# check WHAT PYTHON...
check() {
	local what=$1
	shift
	rm -f "$tmp/stacks"
	dt -q -x jstackframes=512 -o "$tmp/stacks" -n "$point { jstack(512); }" \
	    -c "$(quote "$@" -I -S -B "$tmp/known.py")"
	is "$what: status" "$status" 0
	hasnt "$tmp/err" 'error|drop'
	notes "$tmp/stacks" >"$tmp/got"
	same "$what: frames" "$tmp/out" "$tmp/got"
	[ "$(grep -c '^$' "$tmp/got")" -gt 40 ] || wrong "$what: too few stacks"
	misplaced "$tmp/stacks" >"$tmp/misplaced"
	same "$what: places" /dev/null "$tmp/misplaced"
	echo "$what: $(grep -c . "$tmp/got") frames"
}

for each in "${pythons[@]}"; do
	check "${each% *}" "${each#* }"
done

# ---- trampolines of -X perf: both kinds of names, and the C frames below ----

for each in "${pythons[@]}"; do
	case $each in
	3.1[23]*)
		check "${each% *} -X perf" "${each#* }" -X perf
		has "$tmp/stacks" 'py::recursion:'
		is "lost" "$(awk 'NF == 0 { if (s != "" && s !~ /start|clone/)
		    print s; s = ""; next } { s = $0 }' "$tmp/stacks")" ""
		;;
	esac
done

# ---- C between Python, and stacks that do not fit ----

cat >"$tmp/between.py" <<'PY'
import ctypes, os, sys
compare_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
def inner():
    os.getppid()
    return 0
@compare_type
def compare(a, b):
    return inner()
def outer():
    ctypes.CDLL(None).qsort((ctypes.c_int * 2)(2, 1), 2, 4, compare)
def deep(n):
    return deep(n - 1) + 1 if n else inner()
outer()
sys.setrecursionlimit(200000)
deep(2000)
if sys.version_info >= (3, 11):
    # Without C frames, which would be too many.
    deep(100000)
PY
for each in "${pythons[@]}"; do
	v=${each% *} py=${each#* }
	"$py" -I -S -c 'import ctypes' 2>/dev/null || continue
	rm -f "$tmp/stacks"
	dt -q -x jstackframes=512 -o "$tmp/stacks" \
	    -n 'syscall::getppid:entry { jstack(512); }
		syscall::getppid:entry { jstack(4); }' \
	    -c "$(quote "$py" -I -S -B "$tmp/between.py")"
	is "$v: status" "$status" 0
	is "$v: C between Python" "$(grep -oE '\[ [a-z<>]+|`qsort' "$tmp/stacks" |
	    head -n 5 | xargs)" '[ inner [ compare `qsort [ outer [ <module>'
	# Lines, frames of deep() and others of Python's, by stack.
	awk 'NF == 0 { if (n) print n, deep + 0, other + 0
		n = deep = other = 0; next }
	    { n++ } / \[ deep /{ deep++; next } / \[ /{ other++ }' \
	    "$tmp/stacks" >"$tmp/depths"
	case $v in
	3.[789] | 3.10) deep=1 ;;
	*) deep=2 ;;
	esac
	is "$v: four" "$(grep -c '^4 0 0$' "$tmp/depths")" $((deep + 1))
	is "$v: deep" "$(awk '$1 == 512 && $2 > 100 && $3 == 1' "$tmp/depths" |
	    wc -l)" $deep
done

# ---- attached to, while other threads wait ----

read -r v py <<<"${pythons[0]}"
cat >"$tmp/serve.py" <<'PY'
import os, sys, threading
def wait_for_it():
    return os.read(0, 100)
class Server:
    def serve(self):
        for i in range(2):
            print("ready", i, flush=True)
            wait_for_it()
lock = threading.Lock()
lock.acquire()
for i in range(3):
    threading.Thread(target=lock.acquire, daemon=True).start()
Server().serve()
os._exit(0)
PY
start serve "$py" -I -S -B "$tmp/serve.py"
line serve 'ready 0'
start_dt dt -q -p "${pid[serve]}" -n '
    syscall::read:entry /arg0 == 0/ { jstack(512); exit(0); }'
tell serve go
end dt
is "attached: status" "$status" 0
sed 1d "$tmp/dt.out" >"$tmp/stacks"
notes "$tmp/stacks" | sed 's|(.*/|(|; s/Server\.//; /^$/d' >"$tmp/got"
cat >"$tmp/want" <<'END'
wait_for_it (serve.py:3)
serve (serve.py:8)
<module> (serve.py:13)
END
same "attached" "$tmp/want" "$tmp/got"
tell serve go
end serve
is "served: status" "$status" 0

# ---- in a program of C: threads of its own, and none of Python's ----

cat >"$tmp/embeds.c" <<'C'
#include <Python.h>
#include <pthread.h>
#include <unistd.h>
static void *run(void *text)
{
	PyGILState_STATE g = PyGILState_Ensure();
	PyRun_SimpleString(text);
	PyGILState_Release(g);
	getppid();
	return NULL;
}
int main(void)
{
	const char *text[] = { "outer(inner)", "outer(lambda: inner())" };
	pthread_t t;
	Py_Initialize();
	PyRun_SimpleString("import os\n"
	    "def outer(f): f()\ndef inner(): os.getppid()\n");
	PyThreadState *s = PyEval_SaveThread();
	for (int i = 0; i < 2; i++) {
		pthread_create(&t, NULL, run, (void *)text[i]);
		pthread_join(t, NULL);
	}
	PyEval_RestoreThread(s);
	Py_Finalize();
	getppid();
	/* The run-time linker copies these into the program. */
	return PyCode_Type.tp_name == PyUnicode_Type.tp_name;
}
C
config=/usr/bin/python3-config
[ -x $config ] && $config --embed --ldflags >"$tmp/flags" 2>/dev/null ||
	config=
for how in -fPIE "-no-pie -fno-pic"; do
	# shellcheck disable=SC2046,SC2086 # words
	if [ -z "$config" ] || ! "${CC:-cc}" $how -o "$tmp/embeds" \
	    "$tmp/embeds.c" $($config --includes) $(cat "$tmp/flags") \
	    2>"$tmp/cc.log"; then
		echo "python3-dev is not installed: no program of C"
		break
	fi
	rm -f "$tmp/stacks"
	dt -q -o "$tmp/stacks" -n 'syscall::getppid:entry { jstack(512); }' \
	    -c "$tmp/embeds"
	is "in C: status" "$status" 0
	notes "$tmp/stacks" >"$tmp/got"
	printf '%s\n' 'inner (<string>:3)' 'outer (<string>:2)' \
	    '<module> (<string>:1)' '' 'inner (<string>:3)' \
	    '<lambda> (<string>:1)' 'outer (<string>:2)' \
	    '<module> (<string>:1)' '' >"$tmp/want"
	same "in C" "$tmp/want" "$tmp/got"
	is "in C: stacks" "$(grep -c '`getppid' "$tmp/stacks")" 5
done

# ---- samples of a busy program ----

cat >"$tmp/busy.py" <<'PY'
def work(n):
    s = 0
    for i in range(n):
        s += i * i % 7
    return s
def often():
    return work(800000)
def seldom():
    return work(100000)
def main():
    for i in range(12):
        often()
        seldom()
main()
PY
dt -q -x stackformat=folded -x aggsize=16m -o "$tmp/folded" -n '
    profile-997 /pid == $target/ { @[jstack(200)] = count(); }' \
    -c "$(quote "$py" -I -S -B "$tmp/busy.py")"
is "busy: status" "$status" 0
hasnt "$tmp/err" 'drop'
share() {
	awk -v f="$1" '$1 ~ f { n += $NF } END { print n + 0 }' "$tmp/folded"
}
all=$(share ';main;') often=$(share ';main;often;work') \
    seldom=$(share ';main;seldom;work')
echo "$v: $all samples in main, $often often, $seldom seldom"
[ "$all" -gt 50 ] || wrong "too few samples"
[ $((often + seldom)) -gt $((all * 9 / 10)) ] || wrong "main did more itself"
[ "$often" -gt $((seldom * 3)) ] || wrong "often is not the hot one"
finish
