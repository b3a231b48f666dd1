"""The program as a library in which one file can be replaced, the tests that use
it, and how one of them is run.

Used by mutate.py.  Everything is below build/mutate:

    tree/     a copy of the sources and tests; tree/build has the objects
    lib/      libdtrap.so: the program but for its main(), with t/mutate/cover.c
    bin/      dtrap, plockstat, and each program of t/ that is linked with these
    wN/       what worker N runs: bin/ again, lib/ with its own libmut.so

The programs ask libmut.so first, which has no symbol.  A mutant is one file of C
made into a libmut.so: its functions and data take the place of the file's own,
and nothing has to be linked anew.
"""
import glob
import os
import re
import shutil
import signal
import subprocess
import threading

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
WORK = os.path.join(ROOT, "build", "mutate")
TREE = os.path.join(WORK, "tree")
SPIED = ["CFLAGS=-O0 -g1 -fPIC", "SAN=-fsanitize-coverage=trace-pc"]
MAINS = {"tracer/dtrap.c": "dtrap", "tracer/plockstat.c": "plockstat"}


def make(*words):
    return subprocess.run(["make", "-s", "-C", TREE, *words], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL)


flags_kept = {}


def flags(name):
    """The words of a variable of the Makefile."""
    if name not in flags_kept:
        out = make("--eval=print-%: ; @echo $($*)", "print-" + name).stdout
        flags_kept[name] = out.split()
    return flags_kept[name]


def command(*words):
    """None, or what the command said when it failed."""
    p = subprocess.run(words, cwd=TREE, text=True, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    return p.stdout or "failed" if p.returncode else None


def must(*words):
    said = command(*words)
    if said:
        raise SystemExit(" ".join(words) + "\n" + said)


# ---- the copy of the tree --------------------------------------------------

def tree_copy(only=""):
    """Brings the copy up to the tree, as far as it begins so."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"],
                            cwd=ROOT, text=True, stdout=subprocess.PIPE,
                            check=True).stdout.split("\n")
    for path in listed:
        source, target = os.path.join(ROOT, path), os.path.join(TREE, path)
        if not path.startswith(only) or not path or not os.path.lexists(source):
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.islink(source):
            if not os.path.lexists(target):
                os.symlink(os.readlink(source), target)
            continue
        with open(source, "rb") as f:
            data = f.read()
        if os.path.exists(target):
            with open(target, "rb") as f:
                if f.read() == data:
                    continue
        shutil.copyfile(source, target)
        shutil.copymode(source, target)
    for base, _, names in os.walk(TREE):
        path = os.path.relpath(base, TREE)
        if not path.startswith(("build", ".git")) and path.startswith(only or ""):
            for name in names:
                if os.path.normpath(os.path.join(path, name)) not in listed and \
                        name.endswith((".c", ".h", ".d", ".sh", ".out", ".err")):
                    os.remove(os.path.join(base, name))
    if not os.path.exists(os.path.join(TREE, "build")):
        # What is traced, and objects of tests.
        for part in ("e2e", "oracle", "test", "man", "completion", "agent"):
            if os.path.exists(os.path.join(ROOT, "build", part)):
                shutil.copytree(os.path.join(ROOT, "build", part),
                                os.path.join(TREE, "build", part), symlinks=True)


def tests_of():
    """Everything that `make check' runs of the program."""
    return make("tests-list").stdout.split()


def kind_of(test):
    if test.endswith(".d"):
        return "golden"
    m = re.match(r"(?:build|t)/(\w+)/", test)
    return m.group(1) if m else "other"


def program_of(test):
    """The file in bin/ that a test is, or uses; None if it uses dtrap."""
    if test.startswith("build/"):
        return os.path.basename(test)
    return {"t/vm/two-builds.sh": "corpus", "t/vm/interleave.sh": "interleave",
            "t/vm/threads.sh": "threads", "t/vm/bodies.sh": "bodies",
            "t/vm/compiled.sh": "compiled"}.get(test)


# ---- programs --------------------------------------------------------------

def source_of(test):
    """The C file of a test program."""
    if test.startswith("build/"):
        folder, name = test.split("/")[1:]
        return f"t/{'fuzz' if folder == 'replay' else folder}/{name}.c"
    name = program_of(test)
    return f"t/vm/{name}.c" if name else None


def included(test):
    """Files of the program that a test reads in or compiles itself."""
    if test in ("t/vm/interleave.sh", "t/vm/threads.sh"):
        return flags("LANE_SRC")
    return read_in(source_of(test)) if source_of(test) else []


def read_in(path):
    """Files of the program that a file of t/ includes, or a header of t/ that it
    includes."""
    found = []
    if os.path.exists(os.path.join(TREE, path)):
        with open(os.path.join(TREE, path)) as f:
            for name in re.findall(r'^#include "(.*\.[ch])"', f.read(), re.M):
                if name.startswith("t/"):
                    found += read_in(name)
                elif name.endswith(".c"):
                    found.append(name)
    return found


def link(output, libs, *what):
    """A program of these, with the libmut.so of its own folder lib/."""
    words = ["gcc", "-o", output, *what, "-Wl,-rpath,$ORIGIN/../lib",
             "-Wl,--no-as-needed", "-L" + libs, "-lmut", "-ldtrap",
             "-Wl,--as-needed", "-lcheck", "-lsubunit", "-lpthread", "-lrt",
             *flags("LIBS")]
    # Labels of assembly that no library shows: test_proc.c.
    return command(*words) and command(*words, "build/libdtrap.a", WORK + "/cover.o")


def test_link(test, root, overlay=None):
    """Makes the program of a test below `root', of the files in the overlay
    rather than those of the tree; None, or what went wrong."""
    name, source = program_of(test), source_of(test)
    output = os.path.join(root, "bin", name)
    over = [f"-I{overlay}"] if overlay else []
    cflags = [w for w in flags("ALL_CFLAGS") if w not in ("-O2", "-g")]
    lib = os.path.join(WORK, "lib")
    if test in ("t/vm/interleave.sh", "t/vm/threads.sh"):
        how = "-fsanitize=thread" if name == "threads" else "-DVM_STEP"
        lanes = [os.path.join(overlay, p) if overlay and
                 os.path.exists(os.path.join(overlay, p)) else p
                 for p in flags("LANE_SRC")]
        return link(output, lib, *over, *cflags, "-w", "-O1", how, source, *lanes,
                    *glob.glob(TREE + "/t/fake/*.c"))
    if included(test):
        made = output + ".o"
        spy = [] if overlay else [SPIED[1].partition("=")[2]]
        said = command("gcc", *over, *cflags, "-w", "-O0", "-g1", *spy, "-c", "-o",
                       made, source)
        if said:
            return said
        made = [made] + ([os.path.join(WORK, "cover.o")] if spy else [])
    else:
        made = [object_of(source)]
        if not overlay and not os.path.exists(os.path.join(TREE, made[0])):
            said = make(*made)
            if said.returncode:
                return said.stdout
    return link(output, lib, *made, *beside(source))


def object_of(source):
    return os.path.join("build/test", source[2:-2] + ".o")


def beside(source):
    """What else the program of a test is linked with."""
    if source.startswith("t/reloc/"):
        return flags("RELOCLIB")
    return (["build/test/fuzz/replay.o"] if source.startswith("t/fuzz/") else []) + \
        flags("FAKEOBJ")



def base_build(say):
    """Everything of the tree as it is."""
    for folder in ("lib", "bin"):
        os.makedirs(os.path.join(WORK, folder), exist_ok=True)
    lib = os.path.join(WORK, "lib")
    p = make(*SPIED, "build/libdtrap.a", "build/host/tracer/dtrap.o",
             "build/host/tracer/plockstat.o")
    if p.returncode:
        raise SystemExit(p.stdout)
    cover = ["gcc", "-O2", "-fPIC", "-c", "t/mutate/cover.c", "-o"]
    must(*cover, WORK + "/cover.o")
    must(*cover, WORK + "/cover-lib.o", '-DCOVER_NAME="libdtrap.so"')
    must("gcc", "-shared", "-o", lib + "/libdtrap.so", "-Wl,--whole-archive",
         "build/libdtrap.a", "-Wl,--no-whole-archive", WORK + "/cover-lib.o",
         *flags("LIBS"))
    must("gcc", "-shared", "-o", lib + "/libmut.so", "-x", "c", "/dev/null")
    for source, name in MAINS.items():
        said = link(f"{WORK}/bin/{name}", lib, f"build/host/{source[:-2]}.o",
                    WORK + "/cover.o")
        if said:
            raise SystemExit(said)
    say("libdtrap.so is made")
    tests = [t for t in tests_of() if program_of(t)]
    objects = [object_of(source_of(t)) for t in tests if not included(t)]
    for t in tests:
        objects += [w for w in beside(source_of(t)) if w.endswith(".o")]
    p = make("-j2", *sorted(set(objects)))
    if p.returncode:
        raise SystemExit(p.stdout)
    for test in tests:
        test_made = os.path.join(WORK, "bin", program_of(test))
        if not os.path.exists(test_made):
            said = test_link(test, WORK)
            if said:
                say(f"{test} does not build\n{said}")
    say("and the tests")


# ---- a mutant --------------------------------------------------------------

def overlay_write(overlay, mutant):
    """The file in the overlay that has the mutant; None if its text has moved."""
    path, at, old = mutant["file"], mutant["at"], mutant["old"]
    with open(os.path.join(TREE, path)) as f:
        text = f.read()
    if text[at:at + len(old)] != old:
        return None
    target = os.path.join(overlay, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "w") as f:
        f.write(text[:at] + mutant["new"] + text[at + len(old):])
    return target


def same_code(root, path):
    """Does the program's own compiler make the same code of the file and of the one
    in overlay/ below `root'?"""
    words, codes = flags("ALL_CFLAGS"), []
    if path.startswith("inject/trap/"):
        words = flags("TRAP_CFLAGS")
    elif path.startswith("inject/agent/"):
        words = [w for w in flags("AGENT_CFLAGS") if "callgraph" not in w]
    for source in (os.path.join(TREE, path), os.path.join(root, "overlay", path)):
        made = root + "/overlay/plain.o"
        must("gcc", *words, "-w", "-g0", f"-ffile-prefix-map={TREE}=.",
             f"-ffile-prefix-map={root}/overlay=.", "-c", "-o", made, source)
        must("objcopy", "-g", "--remove-section=.comment", made)
        # The name of the file is a symbol.
        must("objcopy", "--strip-unneeded", made)
        with open(made, "rb") as f:
            codes.append(f.read())
    return codes[0] == codes[1]


# ---- a worker --------------------------------------------------------------

class Worker:
    """Programs that may have one file replaced."""

    def __init__(self, number):
        self.root = os.path.join(WORK, f"w{number}")
        shutil.rmtree(self.root, ignore_errors=True)
        for folder in ("bin", "lib", "overlay", "agent"):
            os.makedirs(os.path.join(self.root, folder))
        os.symlink(WORK + "/lib/libdtrap.so", self.root + "/lib/libdtrap.so")
        os.symlink("bin", self.root + "/vm")
        os.symlink(TREE + "/build/e2e", self.root + "/e2e")
        self.mutant = None
        self.plain()

    def plain(self):
        """No file is replaced."""
        shutil.copy2(WORK + "/lib/libmut.so", self.root + "/lib/libmut.so")
        for path in glob.glob(WORK + "/bin/*"):
            target = os.path.join(self.root, "bin", os.path.basename(path))
            if not os.path.exists(target) or not os.path.samefile(path, target):
                if os.path.lexists(target):
                    os.remove(target)
                os.link(path, target)
        shutil.rmtree(self.root + "/overlay")
        os.makedirs(self.root + "/overlay")
        self.mutant = None

    def plant(self, mutant):
        """None, or why that is no mutant."""
        path, overlay = mutant["file"], self.root + "/overlay"
        target = overlay_write(overlay, mutant)
        if target is None:
            return "elsewhere"
        self.mutant = mutant
        flat = [w for w in flags("ALL_CFLAGS") if w not in ("-O2", "-g")]
        how = ["gcc", f"-I{overlay}", *flat, "-O0", "-fPIC", "-w"]
        if path in MAINS:
            if command(*how, "-c", "-o", overlay + "/main.o", target):
                return "does not compile"
            output = f"{self.root}/bin/{MAINS[path]}"
            os.remove(output)
            return link(output, WORK + "/lib", overlay + "/main.o")
        if path.startswith("inject/trap/"):
            return self.plant_handler(how, target)
        if path.startswith("inject/agent/"):
            return None
        if command(*how, "-shared", "-o", self.root + "/lib/libmut.so", target):
            return "does not compile"
        return None

    def plant_handler(self, how, target):
        """The same for the handler of a target, which is bytes."""
        made = os.path.join(self.root, "overlay", "handler")
        if command("gcc", *flags("TRAP_CFLAGS"), "-w", "-nostdlib", "-static",
                   "-no-pie", "-Wl,--build-id=none", "-Wl,--no-warn-rwx-segments",
                   "-Wl,-T,inject/trap/trap.ld", "-o", made, target):
            return "does not compile"
        must("objcopy", "-O", "binary", made, made + ".bin")
        with open(made + ".bin", "rb") as f:
            data = ",".join(map(str, f.read()))
        with open(made + ".c", "w") as f:
            f.write('#include "inject/trapset.h"\n'
                    f"const unsigned char trap_code[] = {{{data}}};\n"
                    "const size_t trap_code_size = sizeof(trap_code);\n")
        return command(*how, "-shared", "-o", self.root + "/lib/libmut.so",
                       made + ".c")

    def is_same(self):
        """Does the program's own compiler make the same code of the mutant?"""
        return same_code(self.root, self.mutant["file"])

    def ready(self, test):
        """Makes what the test needs of the mutant besides libmut.so."""
        path = self.mutant["file"] if self.mutant else None
        if path and path in included(test):
            output = os.path.join(self.root, "bin", program_of(test))
            if os.path.exists(output):
                os.remove(output)
            return test_link(test, self.root, self.root + "/overlay") is None
        if test == "t/vm/two-builds.sh":
            return self.agent_build() is None
        return True

    def agent_build(self):
        overlay, objects = self.root + "/overlay", []
        words = [w for w in flags("AGENT_CFLAGS") if "callgraph" not in w]
        for path in flags("AGENT_SRC"):
            made = os.path.join(TREE, "build/agent", path + ".o")
            mine = os.path.join(overlay, path)
            if os.path.exists(mine):
                made = overlay + "/agent.o"
                said = command("gcc", f"-I{overlay}", *words, "-w", "-c", "-o", made,
                               mine)
                if said:
                    return said
            objects.append(made)
        return command("gcc", "-nostdlib", "-pie", "-Wl,--no-dynamic-linker",
                       "-Wl,--no-undefined", "-Wl,-z,separate-code",
                       "-Wl,-z,norelro", "-Wl,--build-id=none",
                       "-Wl,-T,inject/agent/agent.ld", "-o",
                       self.root + "/agent/blob", *objects)

    def words_of(self, test):
        if test.endswith(".d"):
            return ["t/golden", test]
        if test.startswith("build/"):
            return [os.path.join(self.root, "bin", os.path.basename(test))]
        return [test]

    def run(self, test, cpu, limit, env=None, alone=True):
        """(its exit status, seconds of a processor); 124 when it took longer than
        `limit' seconds.  A process that takes `cpu' seconds of a processor is
        killed, and a Check program at the first of its tests that fails.  Whatever
        it started ends with it."""
        return run_words(self.words_of(test), self.root, cpu, limit,
                         dict(env or {}, B=self.root if program_of(test) and
                              test.startswith("t/") else "build"), alone)


# A planted bug may unlink or rename what a test writes to: /dev/null, /dev/stdout.
# So nothing in /dev can be removed or made, as in a read-only directory; devices
# can be written to all the same.  /dev/shm is the test's own.
ALONE = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child",
         "sh", "-c", "mount --rbind /dev /dev && "
         "mount -t tmpfs -o mode=1777 tmpfs /dev/shm && "
         'mount -o remount,bind,ro /dev && exec "$@"', "sh"]


def run_words(words, root, cpu, limit, env, alone):
    temporary = os.path.join(root, "tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    os.makedirs(temporary)
    whole = dict(os.environ, DTRAP=os.path.join(root, "bin", "dtrap"),
                 PLOCKSTAT=os.path.join(root, "bin", "plockstat"), LC_ALL="C",
                 TZ="UTC", ELSEWHERE="1", CC="gcc", CK_FORK="yes",
                 CK_DEFAULT_TIMEOUT=str(int(limit)), TMPDIR=temporary, **env)
    told = [alone and words[0].startswith(root)]
    if told[0]:
        whole["CK_TAP_LOG_FILE_NAME"] = "-"
    p = subprocess.Popen((ALONE if alone else []) +
                         ["prlimit", "--core=0", "--fsize=4000000000",
                          f"--cpu={int(cpu)}"] + words,
                         cwd=TREE, env=whole, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE if told[0] else subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, start_new_session=True)
    late, failed = [], False

    def end():
        late.append(True)
        os.killpg(p.pid, signal.SIGKILL)

    timer = threading.Timer(limit, end)
    timer.start()
    for line in p.stdout if told[0] else []:
        if line.startswith(b"not ok") and not failed:
            failed = True
            os.killpg(p.pid, signal.SIGKILL)
    _, status, usage = os.wait4(p.pid, 0)
    timer.cancel()
    p.returncode = os.waitstatus_to_exitcode(status)
    if failed:
        return 1, 0
    return 124 if late else p.returncode, usage.ru_utime + usage.ru_stime
