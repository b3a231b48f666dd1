/* A provider that shows a kernel: what there is instead. */
sched::: { exit(0); }
