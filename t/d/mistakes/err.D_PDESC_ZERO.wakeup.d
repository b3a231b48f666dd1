/* A probe of which dtrap has only the neighbours. */
sched:::wakeup { exit(0); }
