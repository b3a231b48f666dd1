#!/usr/bin/env python3
"""A shop, to be traced: orders.py [COUNT] takes COUNT orders, or goes on.

One order in twenty is for oolong, which is never on the shelf.
"""
import json
import sys
import time
import zlib

PRICES = {'assam': 3, 'sencha': 5, 'oolong': 8}
JOURNAL = open('/dev/null', 'w', buffering=1)


def ask_supplier(tea):
    """The supplier takes two seconds to answer."""
    with open('/etc/services') as catalogue:
        catalogue.read()
    time.sleep(2)
    return PRICES[tea]


def price(tea, grams):
    if tea == 'oolong':
        return ask_supplier(tea) * grams
    return PRICES[tea] * grams


def pack(tea, grams):
    press = zlib.compressobj(1, zlib.DEFLATED, 11, 1)
    return press.compress(bytes(range(100)) * grams) + press.flush()


def label(tea, grams):
    return '\n'.join(['%d g of %s' % (grams, tea)] * 600)


def receipt(number, tea, cents):
    lines = [{'order': number, 'tea': tea, 'cents': cents}] * 60
    return json.dumps(lines)


def handle(number):
    tea = 'oolong' if number % 20 == 19 else ('assam', 'sencha')[number % 2]
    grams = 50 + number % 7 * 25
    cents = price(tea, grams)
    parcel = pack(tea, grams), label(tea, grams), receipt(number, tea, cents)
    print(number, cents, *map(len, parcel), file=JOURNAL)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else -1
    number = 0
    print('the shop is open', flush=True)
    while number != count:
        handle(number)
        number += 1


if __name__ == '__main__':
    main()
