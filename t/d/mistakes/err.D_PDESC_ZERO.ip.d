/* A provider that shows a kernel: what there is instead. */
ip::: { exit(0); }
