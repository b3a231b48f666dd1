"""A program that makes a provider when it is told to; t/e2e/provider.sh says what
else it is told. Python's part of that test is at the end."""
import gc
import sys
import threading

import dtrap_sdt

THREADS, EACH = 4, 25_000
shop = {}


def make():
    provider = dtrap_sdt.Provider('fires')
    shop['sold'] = provider.add_probe('sold', int, str, function='sell')
    provider.load()
    say('made')


def once():
    shop['sold'].fire(7, 'seven')
    say('fired once')


def fire():
    def some(first):
        sold = shop['sold']
        for i in range(first, first + EACH):
            sold.fire(i, 'what %d' % i)

    threads = [threading.Thread(target=some, args=(t * EACH,))
               for t in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    say('fired')


def objects():
    """Mappings of providers that are to be gone."""
    with open('/proc/self/maps') as maps:
        return sum('memfd:types' in line for line in maps)


def drop():
    """1,000 providers, half of them unloaded, the others only dropped."""
    for i in range(1000):
        provider = dtrap_sdt.Provider('types')
        none = provider.add_probe('none')
        provider.load()
        none.fire()
        if i % 2 == 0:
            provider.unload()
        none.fire()
    assert objects() > 0
    del provider, none
    gc.collect()
    assert objects() == 0
    say('dropped')


def refuse(what, *args, **keywords):
    try:
        what(*args, **keywords)
        say('bad: accepted')
    except (ValueError, TypeError, OSError) as e:
        say('bad: %s: %s' % (type(e).__name__, e))


def bad():
    provider = dtrap_sdt.Provider('bad')
    refuse(dtrap_sdt.Provider, 'bad name')
    refuse(provider.add_probe, 'p', *[int] * 13)
    refuse(provider.add_probe, 'p', object)
    refuse(provider.add_probe, 'p', 11)
    refuse(provider.add_probe)
    provider.add_probe('p')
    refuse(provider.add_probe, 'p')
    provider.load()
    refuse(provider.load)
    refuse(provider.add_probe, 'q')
    refuse(dtrap_sdt.Probe)
    say('badly')


def types():
    provider = dtrap_sdt.Provider('types')
    d = dtrap_sdt
    probe = provider.add_probe('all', d.UINT8, d.INT8, d.UINT16, d.INT16, d.INT32,
                               d.INT64, int, int, str)
    text = provider.add_probe('text', str)
    none = provider.add_probe('none')
    refuse(probe.fire, 1)
    provider.load()
    refuse(probe.fire, 1)
    probe.fire(True, -1, 65535, -2, -3, -2**63, -4.9, 1e10, 'té 茶 🍵')
    none.fire()
    text.fire(None)
    text.fire('')
    text.fire('x' * 5000)
    text.fire(b'bytes')
    text.fire('half \udc80')
    probe.fire(float('nan'), float('inf'), 2**64 + 5, [], {}, 2**63, object(), -1, 3)
    say('enabled %s %s' % (text.is_enabled, text.name))
    provider.unload()
    text.fire('after the end')
    say('enabled %s' % text.is_enabled)
    del provider
    say('typed')


def say(text):
    print(text, flush=True)


say('ready')
for told in sys.argv[1:] or sys.stdin:
    {'make': make, 'once': once, 'fire': fire, 'drop': drop, 'bad': bad,
     'types': types}[told.strip()]()
