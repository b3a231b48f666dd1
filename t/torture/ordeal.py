"""One round: a target, a tracer that is killed or whose guardian is, as often
as the conditions say, a clean trace, and a look at what is left.

Nothing waits but for a line, an end, or a state in /proc; the pauses that are
part of a condition ("again after 10 ms", "killed at some moment") are pauses.
"""
import ctypes
import os
import random
import re
import select
import signal
import tempfile
import time

import state

PATIENCE = 120  # seconds that anything may take
ENDING = 40     # that a tracer may which is told to end

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

# The first value of each is the simplest: what a failing round is led back to.
CONDITIONS = {
    "who": ["nobody", "tracer", "both", "guardian", "each", "stopped",
            "waited"],
    "moment": ["tracing", "attaching", "ending", "step"],
    "again": ["0", "0.01", "2"],
    "next": ["same", "bare"],
    "times": ["1", "3"],
    "closed": ["", "0", "1", "2", "01", "02", "12", "012"],
    "sigtrap": ["nothing", "asks", "blocked", "ignores", "handles", "changes"],
    "children": ["none", "left", "followed"],
    "dlopen": ["no", "yes"],
    "probes": ["entry", "return", "offset", "usdt", "syscall", "profile",
               "begin"],
    "way": ["attach", "launch"],
    "fastpath": ["off"],
    "load": ["0", "20"],
}

# Not drawn, but may be asked for (FIX).  A signal that waits for the end of a
# firing is lost with the tracer.
ASKED = {"fastpath": ["on"]}

PROBES = {
    "entry": "pid$target:a.out:crowd_*:entry",
    "return": "pid$target:a.out:crowd_*:return",
    "offset": "pid$target:a.out:crowd_0x[0-5]*:",
    "usdt": "victim$target:::turn",
    "syscall": "syscall:::entry",
    "profile": "profile-997",
}

CHANGE_TEXT = ("entry", "return", "offset", "usdt")

# Those that die at the moment: at a named step they do so themselves.
AT_STEPS = ("tracer", "both", "stopped")

DTRAP = os.path.realpath(os.environ.get("DTRAP", "dtrap"))
BIN = os.path.realpath(os.environ.get("B", "build") + "/e2e")


def draw(seed):
    """The conditions of the round of this seed."""
    rnd = random.Random(seed)
    return {name: rnd.choice(values) for name, values in CONDITIONS.items()}


def prctl(*args):
    ctypes.CDLL(None).prctl(*args)


def steps():
    """The points of fault_kill() in the sources."""
    found = set()
    for room in ("dlang", "inject", "symbols", "tracer"):
        for dir, _, files in os.walk(room):
            for name in files:
                if name.endswith(".c"):
                    text = state.read(os.path.join(dir, name))
                    found |= set(re.findall(r'fault_kill\("([a-z-]+)"\)',
                                            text))
    return sorted(found)


def nap():
    """Between two looks at something."""
    time.sleep(0.001)


def burners(count, nice=5):
    """As many processes that want a processor; they end with us.  Rounds leave
    them a little behind, or would take hours."""
    pids = []
    for _ in range(count):
        pid = os.fork()
        if pid == 0:
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            os.nice(nice)
            end = time.monotonic() + 6 * 3600
            while time.monotonic() < end:
                for _ in range(100000):
                    pass
            os._exit(0)
        pids.append(pid)
    return pids


def end_burners(pids):
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


class Lost(Exception):
    """The round cannot go on."""


class NotStarted(Exception):
    """What is launched for a trace that cannot begin is not run."""


class Process:
    """A child, or what becomes one when its parent has died."""

    def __init__(self, pid):
        self.pid = pid
        self.start = state.started(pid)
        self.status = None

    def ended(self):
        if self.status is not None:
            return True
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:  # somebody else's, so far
            if state.lives(self.pid) and \
                    state.started(self.pid) == self.start:
                return False
            self.status = -1
            return True
        if pid == self.pid:
            self.status = status
        return self.status is not None

    def await_end(self, patience=PATIENCE):
        end = time.monotonic() + patience
        while not self.ended():
            if time.monotonic() > end:
                return False
            nap()
        return True

    def send(self, sig):
        if not self.ended() and state.started(self.pid) == self.start:
            try:
                os.kill(self.pid, sig)
            except ProcessLookupError:
                pass

    def how(self):
        if self.status == -1:
            return "ended, and another has heard how"
        if os.WIFSIGNALED(self.status):
            return signal.Signals(os.WTERMSIG(self.status)).name
        return "status %d" % os.WEXITSTATUS(self.status)


class Reader:
    """Lines from a FIFO that we hold open ourselves."""

    def __init__(self, path):
        self.path = path
        os.mkfifo(path)
        self.fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self.text = ""

    def line(self, wanted, process, patience=PATIENCE):
        """The next line that begins like this; None: the process has ended,
        or it does not come."""
        end = time.monotonic() + patience
        while True:
            while "\n" in self.text:
                line, _, self.text = self.text.partition("\n")
                if line.startswith(wanted):
                    return line
            gone = process.ended()
            if select.select([self.fd], [], [], 0.02)[0]:
                self.text += os.read(self.fd, 65536).decode(errors="replace")
            elif gone or time.monotonic() > end:
                return None


class Round:
    def __init__(self, seed, conditions, dir, others):
        self.seed = seed
        self.is_ = conditions
        self.dir = dir
        self.others = others  # children of ours that are not the round's
        # Not the row that the conditions came from.
        self.rnd = random.Random("%s moments" % seed)
        self.begin = time.monotonic()
        self.log = []       # what was done when
        self.wrong = {}     # kind of failure: words
        self.target = None
        self.tracers = 0
        self.guardians = []
        self.reference = None
        self.nameless = []
        self.semaphore = 0

    def note(self, text):
        self.log.append("%8.3f %s" % (time.monotonic() - self.begin, text))

    def is_wrong(self, kind, text):
        self.note("WRONG: %s: %s" % (kind, text))
        self.wrong.setdefault(kind, []).append(text)

    # ---- the target ----

    def words(self):
        is_ = self.is_
        words = []
        if is_["sigtrap"] != "nothing":
            words.append(is_["sigtrap"])
        if is_["children"] == "none":
            words.append("alone")
        if is_["dlopen"] == "yes":
            words.append("dlopens=%s/libdlo.so" % BIN)
        return words

    def command(self, name):
        """Of a target that talks by FIFOs of this name."""
        path = "%s/%s." % (self.dir, name)
        return [BIN + "/victim", "in=%sin" % path, "out=%sout" % path,
                "err=%serr" % path] + self.words()

    def spawn(self, command, closed="", err="/dev/null", env=os.environ):
        actions = [(os.POSIX_SPAWN_OPEN, fd, err if fd == 2 else "/dev/null",
                    os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
                   for fd in range(3) if str(fd) not in closed]
        actions += [(os.POSIX_SPAWN_CLOSE, int(fd)) for fd in closed]
        return Process(os.posix_spawn(
            command[0], command, env, file_actions=actions, setsigmask=[],
            setsigdef=range(1, 32)))

    def open_target(self, name):
        path = "%s/%s." % (self.dir, name)
        os.mkfifo(path + "in")
        self.to = os.open(path + "in", os.O_RDWR)
        self.says = Reader(path + "out")

    def learn_signals(self, pid):
        """Masks change for a moment in fork() and in handlers: all that are
        seen are right."""
        seen = []
        for _ in range(20):
            for i, value in enumerate(state.signals(pid)):
                if i == len(seen):
                    seen.append(set())
                seen[i].add(value)
            nap()
        self.reference = seen

    def hear_ready(self):
        line = self.says.line("ready", self.target)
        if line is None:
            self.check_life("getting ready")
            raise Lost("hung", "the target does not get ready")
        self.semaphore = int(line.split()[2], 16)

    def start_target(self):
        self.open_target("target")
        self.target = self.spawn(self.command("target"))
        self.hear_ready()
        self.learn_signals(self.target.pid)
        self.nameless = state.nameless(self.target.pid)

    def learn_from_another(self):
        """How a target that was launched looks untraced."""
        self.open_target("untraced")
        self.target = self.spawn(self.command("untraced"))
        self.hear_ready()
        self.learn_signals(self.target.pid)
        self.nameless = state.nameless(self.target.pid)
        self.target.send(signal.SIGKILL)
        self.target.await_end()
        self.target = None
        os.close(self.to)
        os.close(self.says.fd)
        self.semaphore = 0

    def check_life(self, when):
        if self.target.ended():
            raise Lost("lost", "%s: the target: %s" % (when, self.target.how()))

    # ---- the tracer ----

    def clauses(self, probes, end):
        text = 'BEGIN { printf("armed\\n"); } '
        if probes in PROBES:
            text += PROBES[probes]
            if self.is_["dlopen"] == "yes" and probes in CHANGE_TEXT[:3]:
                text += ",pid$target:libdlo.so::entry"
            text += " { @ = count(); } "
        return text + end

    def start_tracer(self, launch, probes, end, closed="", step=None):
        """Returns it and the reader of its output."""
        self.tracers += 1
        name = "%s/tracer%d." % (self.dir, self.tracers)
        out = Reader(name + "out")
        command = [DTRAP, "-q", "-Z", "-x", "switchrate=5ms", "-o", out.path,
                   "-n", self.clauses(probes, end)]
        if self.is_["children"] == "left":
            command += ["-x", "follow=none"]
        command += ["-x", "fastpath=" + self.is_["fastpath"]]
        if launch:
            command += ["-c", " ".join(self.command("target"))]
        else:
            command += ["-p", str(self.target.pid)]
        self.note("%s -n '%s'%s%s" % ("launch" if launch else "attach",
                                      command[8],
                                      " closed " + closed if closed else "",
                                      " until " + step if step else ""))
        env = dict(os.environ, DTRAP_KILL=step) if step else os.environ
        return self.spawn(command, closed, name + "err", env), out

    def told(self, n):
        return state.read("%s/tracer%d.err" % (self.dir, n)).strip()

    def guardian_of(self, tracer):
        for pid in state.children(tracer.pid):
            if state.runs(pid, DTRAP) and \
                    state.read("/proc/%d/comm" % pid) == "dtrap-guardian\n":
                return Process(pid)
        return None

    def await_launched(self, tracer):
        """The tracer's child executes the target.  It becomes ours if the tracer
        ends first, which at a step it may do before there is one."""
        end = time.monotonic() + PATIENCE
        ended = False
        while not ended and time.monotonic() < end:
            ended = tracer.ended()
            for pid in state.children(os.getpid() if ended else tracer.pid):
                if state.runs(pid, BIN + "/victim"):
                    self.target = Process(pid)
                    return
            nap()
        if self.is_["moment"] == "step" and ended and \
                tracer.how() == "SIGKILL":
            raise NotStarted
        raise Lost("tracer", "nothing was launched: %s" %
                   self.told(self.tracers))

    def draw_step(self):
        """Where it ends itself, as the Nth to come by."""
        if self.is_["moment"] != "step" or self.is_["who"] not in AT_STEPS:
            return None
        return "%s:%d" % (self.rnd.choice(steps()),
                          self.rnd.choice((1, 1, 2, 3, 5, 20)))

    def meet_guardian(self, tracer, until):
        """It is there soon after the tracer's begin, or never."""
        guardian = None
        while guardian is None and time.monotonic() < until and \
                not tracer.ended():
            guardian = self.guardian_of(tracer)
            nap()
        return guardian

    def reach(self, tracer, out):
        """The moment at which it is killed.  Returns its guardian."""
        moment = self.is_["moment"]
        loaded = 4 if self.is_["load"] != "0" else 1
        if moment == "attaching":
            # Much happens soon, and some takes long.
            pause = loaded * self.rnd.choice((0.15, 0.15, 0.6)) * \
                self.rnd.random() ** 2
            end = time.monotonic() + pause
            guardian = self.meet_guardian(tracer, end)
        else:
            guardian = self.meet_guardian(tracer, time.monotonic() + 0.5)
            if moment == "step" and guardian is not None and \
                    self.is_["who"] == "stopped":
                guardian.send(signal.SIGSTOP)
            if out.line("armed", tracer) is None and moment != "step":
                self.is_wrong("tracer" if tracer.ended() else "hung",
                              "it does not get to tracing: %s" %
                              self.told(self.tracers))
            pause = 0.1 * self.rnd.random()
            if moment == "ending":
                tracer.send(signal.SIGTERM)
                pause = 0.03 * loaded * self.rnd.random()
            end = time.monotonic() + pause
        while time.monotonic() < end and not tracer.ended():
            nap()
        return guardian or self.guardian_of(tracer)

    def intervene(self, tracer, guardian):
        who = self.is_["who"]
        self.note("%s at %s: tracer %d, guardian %s" % (
            who, self.is_["moment"], tracer.pid,
            guardian.pid if guardian else "none"))
        if guardian is None:
            if self.is_["moment"] == "tracing" and \
                    self.is_["probes"] in CHANGE_TEXT and not tracer.ended():
                self.is_wrong("unprotected", "there is no guardian")
        else:
            self.guardians.append(guardian)
            if who in ("guardian", "each"):
                guardian.send(signal.SIGKILL)
            elif who in ("stopped", "waited"):
                guardian.send(signal.SIGSTOP)
            elif who == "both" and self.rnd.random() < 0.5:
                guardian.send(signal.SIGKILL)
        if who == "each":
            time.sleep(0.05 * self.rnd.random())
        if who in ("tracer", "both", "each", "stopped"):
            tracer.send(signal.SIGKILL)
        elif who == "waited":
            tracer.send(signal.SIGTERM)
        if guardian is not None and who == "both":
            guardian.send(signal.SIGKILL)
        if not tracer.await_end(ENDING):
            self.is_wrong("hung", "the tracer does not end: %s" %
                          self.told(self.tracers))
            self.look_at(tracer.pid)
            for each in self.guardians:
                each.send(signal.SIGCONT)
            if not tracer.await_end(ENDING):
                tracer.send(signal.SIGKILL)
                tracer.await_end()
        self.note("tracer %d: %s" % (tracer.pid, tracer.how()))

    def torment(self, launch):
        """One trace that does not end as it should."""
        end = "tick-150ms { exit(0); }" if self.is_["who"] in ("nobody", "guardian") \
            else "tick-60s { exit(0); }"
        tracer, out = self.start_tracer(
            launch, self.is_["probes"], end, self.is_["closed"],
            self.draw_step())
        if launch:
            self.await_launched(tracer)
        self.intervene(tracer, self.reach(tracer, out))
        if launch and self.is_["moment"] == "attaching" and \
                tracer.status == 1 << 8:
            raise NotStarted
        os.close(out.fd)
        again = float(self.is_["again"])
        if again > 0:
            time.sleep(again)
        if again >= 2 and state.lives(self.target.pid):
            self.note("text: %d bytes differ; %s" % (
                state.text_differences(self.target.pid)[0],
                ", ".join(state.nameless(self.target.pid))))
        self.check_life("after trace %d" % self.tracers)

    def trace_cleanly(self):
        bare = self.is_["next"] == "bare"
        tracer, out = self.start_tracer(
            False, "begin" if bare else self.is_["probes"],
            "tick-%dms { exit(0); }" % (1 if bare else 50))
        if not tracer.await_end():
            self.is_wrong("hung", "the clean trace does not end")
            self.look_at(tracer.pid)
            tracer.send(signal.SIGKILL)
            tracer.await_end()
        os.close(out.fd)
        self.note("clean trace: " + tracer.how())
        self.check_life("after the clean trace")
        if tracer.status != 0:
            self.is_wrong("tracer", "the clean trace: %s: %s" %
                          (tracer.how(), self.told(self.tracers)))

    # ---- what is left ----

    def look_at(self, pid):
        for line in state.portrait(pid):
            self.note(line)

    def judge(self, when):
        pid = self.target.pid
        end = time.monotonic() + PATIENCE
        while state.held(pid) and time.monotonic() < end:
            nap()
        for line in state.held(pid):
            self.is_wrong("held", "%s: %s" % (when, line))
        count, words = state.text_differences(pid)
        self.check_life(when)
        if count:
            self.is_wrong("text", "%s: %d bytes: %s" %
                          (when, count, "; ".join(words)))
        for line in state.nameless(pid):
            if line not in self.nameless:
                head = state.memory(pid, int(line.partition("-")[0], 16), 16)
                self.is_wrong(self.mapping_kind(head), "%s: %s: %s" % (
                    when, line, head.hex()))
        value = state.memory(pid, self.semaphore, 2)
        self.check_life(when)
        if value != b"\0\0":
            self.is_wrong("semaphores", "%s: %s" % (when, value.hex()))
        self.judge_signals(when)

    def mapping_kind(self, head):
        """One that was mapped for us, and of which nothing says so, as we died
        at the step behind that, is a kind of its own."""
        return "zeros" if self.is_["moment"] == "step" and \
            head == bytes(16) else "mappings"

    def judge_signals(self, when):
        end = time.monotonic() + 10
        missing = list(enumerate(self.reference))
        if self.is_["way"] == "launch":
            # Which of its threads is the fifth differs from run to run.
            any_thread = set().union(*self.reference[2:])
            missing = [(i, known if i < 2 else any_thread)
                       for i, known in missing]
        while missing and time.monotonic() < end and not self.target.ended():
            now = state.signals(self.target.pid)
            missing = [(i, known) for i, known in missing
                       if i >= len(now) or now[i] not in known]
            if missing:
                nap()
        self.check_life(when)
        for i, known in missing:
            what = ("SigIgn", "SigCgt")[i] if i < 2 else \
                "SigBlk of thread %d" % (i - 2)
            now = state.signals(self.target.pid)
            self.is_wrong("signals", "%s: %s is %s, was %s" % (
                when, what, now[i] if i < len(now) else "none",
                " or ".join(known)))

    def check_kind(self):
        """What it was told of SIGTRAP is a kind of its own: as long as a tracer
        is dead, nobody tells it other than the kernel.  So it is with the
        action, and with the mask of threads that read it then, for the first
        time, as those of a launched program do.  (That the kernel's masks are
        right by now is judged for itself.)"""
        said = set(state.read(self.dir + "/target.err").splitlines())
        action = {"victim: the action on SIGTRAP"}
        mask = {"victim: signal 5", "victim: a signal mask"}
        return "misled" if said == action or said == mask and \
            self.is_["way"] == "launch" and \
            self.is_["sigtrap"] == "blocked" else "checks"

    def ask_target(self):
        os.write(self.to, b"progress\n")
        line = self.says.line("progress", self.target)
        self.check_life("asked for progress")
        if line is None or "stuck" in line:
            self.is_wrong("hung", "no progress: %s" % line)
            self.look_at(self.target.pid)
        elif line != "progress ok wrong 0":
            self.is_wrong(self.check_kind(), line)

    def end_target(self):
        os.close(self.to)
        line = self.says.line("done", self.target)
        if not self.target.await_end():
            self.is_wrong("hung", "the target does not end")
            self.look_at(self.target.pid)
        elif line != "done wrong 0" or self.target.status != 0:
            self.is_wrong(self.check_kind() if line else "lost",
                          "the end: %s, %s" % (line, self.target.how()))

    def end_guardians(self):
        """What tracers have left of themselves comes to its end."""
        for each in self.guardians:
            each.send(signal.SIGCONT)
        end = time.monotonic() + PATIENCE
        while True:
            left = [pid for pid in state.children(os.getpid())
                    if pid != self.target.pid and state.runs(pid, DTRAP)]
            for pid in left:
                Process(pid).ended()
            if not left:
                return
            if time.monotonic() > end:
                self.is_wrong("hung", "left by a tracer: %s" % left)
                return
            nap()

    def go(self):
        launch = self.is_["way"] == "launch"
        if launch:
            self.learn_from_another()
            self.open_target("target")
        else:
            self.start_target()
        for n in range(int(self.is_["times"])):
            self.torment(launch and n == 0)
        if self.semaphore == 0:
            self.hear_ready()
        self.trace_cleanly()
        # What a thread was in when a trace ended stays until a later one.
        for _ in range(5):
            if state.has_ours(self.target.pid):
                self.trace_cleanly()
        self.judge("after the clean trace")
        self.end_guardians()
        self.judge("at the end")
        self.ask_target()
        self.end_target()

    def clean_up(self):
        """No child of ours is left, whatever has happened."""
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                left = set(state.children(os.getpid())) - set(self.others)
                if not left:
                    return
                for pid in left:
                    os.kill(pid, signal.SIGKILL)
                nap()

    def run(self):
        try:
            self.go()
        except NotStarted:
            self.note("the target was not started")
        except Lost as e:
            self.is_wrong(*e.args)
        for n in range(1, self.tracers + 1):
            if self.told(n):
                self.note("tracer %d said: %s" % (n, self.told(n)))
        said = state.read(self.dir + "/target.err").strip()
        if said:
            self.note("the target said: " + said)
        return not self.wrong


def run(seed, conditions, keep=None, loaded=False):
    """Returns the round; `loaded': somebody else has seen to that."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    load = [] if loaded else burners(int(conditions["load"]))
    with tempfile.TemporaryDirectory() as dir:
        if keep:
            dir = keep
            os.makedirs(dir, exist_ok=True)
        r = Round(seed, conditions, dir, load)
        try:
            r.run()
        finally:
            r.clean_up()
    end_burners(load)
    return r
