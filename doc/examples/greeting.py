"""Greets ten times a second, and lets a probe know whom: greeting.py NAME..."""
import sys
import time

import dtrap_sdt

provider = dtrap_sdt.Provider('greeting')
start = provider.add_probe('start', int, str)
provider.load()

for n, name in enumerate(sys.argv[1:]):
    start.fire(n, name)
    print('Good morning,', name, flush=True)
    time.sleep(0.1)
