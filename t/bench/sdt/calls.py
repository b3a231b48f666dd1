"""What a call costs: calls.py N (nothing | probe | log)."""
import logging
import sys
import time

import dtrap_sdt

provider = dtrap_sdt.Provider('bench')
here = provider.add_probe('here', int, str)
provider.load()
logger = logging.getLogger('bench')


def nothing(n):
    for i in range(n):
        pass


def probe(n):
    fire = here.fire
    for i in range(n):
        fire(i, 'text')


def log(n):
    debug = logger.debug
    for i in range(n):
        debug('%d text', i)


times = int(sys.argv[1])
start = time.perf_counter_ns()
{'nothing': nothing, 'probe': probe, 'log': log}[sys.argv[2]](times)
print('%.2f ns per call' % ((time.perf_counter_ns() - start) / times))
