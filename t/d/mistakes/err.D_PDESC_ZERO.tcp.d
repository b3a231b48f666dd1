/* A provider that shows a kernel: what there is instead. */
tcp::: { exit(0); }
