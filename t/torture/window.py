"""window.py KILLS [LOAD]: how long it takes from the death of a tracer until the
last byte of text is the program's own again, seen from outside.  The program
has eight threads, two of which run through 3,072 probed functions.
"""
import os
import signal
import statistics
import sys
import tempfile
import time

import ordeal
import state


def own_text(pid):
    """Where text of files is, and what should be there."""
    return [(m.start, state.as_in_file(m)) for m in state.executable(pid)
            if m.path.startswith("/")]


def is_own(mem, text):
    return all(os.pread(mem, len(own), start) == own for start, own in text)


def hurry(nice):
    """We measure, and do not want to be what is measured.  Whom we start would
    be in as much of a hurry."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, nice)
    except PermissionError:  # then our own wait is in it
        pass


def measure(r):
    """Seconds from one kill to the last byte."""
    text = own_text(r.target.pid)
    tracer, out = r.start_tracer(False, "entry", "tick-60s { exit(0); }")
    if out.line("armed", tracer) is None:
        raise ordeal.Lost("tracer", r.told(r.tracers))
    mem = os.open("/proc/%d/mem" % r.target.pid, os.O_RDONLY)
    if is_own(mem, text):
        raise ordeal.Lost("tracer", "no byte is changed")
    hurry(-15)
    begin = time.monotonic()
    tracer.send(signal.SIGKILL)
    while not is_own(mem, text):
        if time.monotonic() - begin > ordeal.PATIENCE:
            raise ordeal.Lost("text", "it is never restored")
    took = time.monotonic() - begin
    hurry(0)
    os.close(mem)
    os.close(out.fd)
    tracer.await_end()
    r.end_guardians()
    r.trace_cleanly()
    return took


def main(kills, load):
    ordeal.prctl(ordeal.PR_SET_CHILD_SUBREAPER, 1)
    took, lost = [], 0
    r = None
    conditions = dict(ordeal.draw(0), who="tracer", probes="entry", closed="",
                      sigtrap="nothing", children="none", dlopen="no",
                      next="bare", load=str(load))
    burning = ordeal.burners(load, 0)
    while len(took) + lost < kills:
        with tempfile.TemporaryDirectory() as dir:
            r = ordeal.Round(0, conditions, dir, burning)
            try:
                r.start_target()
                while len(took) + lost < kills:
                    took.append(measure(r))
            except (ordeal.Lost, OSError) as e:
                print("lost: %s" % (e.args,))
                lost += 1
            finally:
                hurry(0)
                r.clean_up()
    ordeal.end_burners(burning)
    took.sort()
    if took:
        print("load %d: %d kills: median %.1f ms, worst %.1f ms, %d lost" % (
            load, kills, statistics.median(took) * 1000, took[-1] * 1000,
            lost), flush=True)
    return lost != 0


sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
