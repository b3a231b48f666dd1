#!/usr/bin/env python3
"""load.py PORT: four clients ask a server on the loopback for /N, each over
connections that it keeps for some requests, until the input ends; the answer
is a line with N squared, N % 50 + 1 times.  Says how many requests there were;
the first errors and wrong answers are lines, and the status is then 1.

load.py files DIR: the answers as files, for a server that has nothing else.
"""
import http.client
import random
import sys
import threading


def answer(n):
    return (b"%d\n" % (n * n)) * (n % 50 + 1)


def ask(connection, n):
    connection.request("GET", "/%d" % n)
    response = connection.getresponse()
    body = response.read()
    if response.status != 200:
        raise ValueError("status %d of /%d" % (response.status, n))
    if body != answer(n):
        raise ValueError("wrong answer of %d bytes to /%d" % (len(body), n))


def client(port, end, seed, done, errors):
    rnd = random.Random(seed)
    while not end.is_set():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        for _ in range(rnd.randrange(1, 40)):
            try:
                ask(connection, rnd.randrange(1000))
                done.append(1)
            except Exception as e:
                errors.append(repr(e))
                break
        connection.close()


def main():
    if sys.argv[1] == "files":
        for n in range(1000):
            with open("%s/%d" % (sys.argv[2], n), "wb") as f:
                f.write(answer(n))
        return 0
    end = threading.Event()
    done, errors = [], []
    threads = [threading.Thread(target=client,
                                args=(int(sys.argv[1]), end, seed, done, errors))
               for seed in range(4)]
    for t in threads:
        t.start()
    sys.stdin.read()
    end.set()
    for t in threads:
        t.join()
    for e in errors[:20]:  # more would fill a pipe that nobody reads yet
        print(e)
    print("%d requests, %d errors" % (len(done), len(errors)))
    return 1 if errors or not done else 0


sys.exit(main())
